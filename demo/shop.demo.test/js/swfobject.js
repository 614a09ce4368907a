var swfobject = {};
// /js/swfobject.js