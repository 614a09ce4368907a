// The works of data.js as cards, filters and a page for each work; nothing is asked of the network.
"use strict";
const { works, chapters, labels, topics, name, made, ruffle } = window.stick;
const byId = new Map(works.map(work => [work.id, work]));
const $ = id => document.getElementById(id);
const root = document.documentElement;
const held = works.filter(work => work.files.length), missing = works.filter(work => !work.files.length);
const BATCH = 120; // cards that are made at once; more follow when one scrolls near them
const PLAYED = /^(audio|video)\/(mpeg|mp4|aac|ogg|webm|(x-)?wav|flac)$/;
const SHAPES = {
  audio: "M8 4v12.3A4 4 0 1 0 10 20V8h8V4z", video: "M6 3l15 9-15 9z",
  animation: "M3 12a9 9 0 1 1 9 9v-3a6 6 0 1 0-6-6h3l-4.5 5L0 12z", simulation: "M4 20h16M6 16l4-8 4 5 4-9v3l-4 9-4-5-3 6z",
};
const WHY = [
  [/page with a player|of DASH|^https?: .*player/, "A film on another site. It comes with --hosted 5GB.", "其他网站上的视频。加上 --hosted 5GB 即可下载。"],
  [/shows a (simulation|document)/, "It runs on its site only.", "只能在原网站上运行。"],
  [/HTTP 4(04|10)/, "It is no longer on the web.", "网上已经没有了。"],
  [/HTTP 4\d\d/, "The site does not hand it out.", "网站不提供下载。"],
  [/robots/, "The site does not allow programs to fetch it.", "网站不允许程序下载。"],
  [/large|limit|most|budget|room/, "It is too large for this stick.", "太大，超出了限定的容量。"],
];
let chosen = "", shown = [], drawn = 0, left = 0;

const kept = key => { try { return localStorage.getItem(key) || ""; } catch { return ""; } }; // a browser may keep nothing
const keep = (key, value) => { try { localStorage.setItem(key, value); } catch { /* the same */ } };
const word = pair => pair ? (root.lang === "zh" ? pair[1] || pair[0] : pair[0] || pair[1]) : "";
const label = key => word(labels[key]) || key;
const say = (english, chinese) => root.lang === "zh" ? chinese : english;
const number = count => count.toLocaleString(root.lang);
const web = url => /^(https?|ftp):\/\//i.test(url);
const address = path => path.split("/").map(encodeURIComponent).join("/");
const size = bytes => bytes >= 1e9 ? (bytes / 1e9).toFixed(1) + " GB" : bytes >= 1e6 ? (bytes / 1e6).toFixed(1) + " MB"
  : Math.max(1, Math.round(bytes / 1e3)) + " kB";
const clock = seconds => Math.floor(seconds / 60) + ":" + String(Math.round(seconds) % 60).padStart(2, "0");

// Makes an element: text is text, what is no attribute is set as a property.
function make(tag, given = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(given)) {
    if (key in node && key !== "list") node[key] = value; else node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child !== null && child !== ""));
  return node;
}

function link(url, text = url) { // an address that a browser would run is only written
  return web(url) ? make("a", { href: url, rel: "noreferrer" }, text) : document.createTextNode(text);
}

function poster(work) {
  const box = make("span", { className: "poster", ariaHidden: "true" });
  box.style.setProperty("--hue", (work.chapter + 1) * 47 % 360);
  if (work.poster) box.append(make("img", { src: address(work.poster), alt: "", loading: "lazy" }));
  else box.innerHTML = `<svg viewBox="0 0 24 24"><path d="${SHAPES[work.kind] || SHAPES.video}"/></svg>`;
  return box;
}

function card(work) {
  const facts = [label(work.kind), work.seconds ? clock(work.seconds) : "", work.size ? size(work.size) : "", work.creator];
  return make("li", { className: "card" }, make("a", { href: "#" + work.id }, poster(work), make("div", {},
    make("strong", {}, work.title), make("small", {}, facts.filter(Boolean).join(" · ")), make("small", {}, licence(work)))));
}

const licence = work => work.licence ? label(work.licence) : say("no licence stated", "未注明许可");
const spoken = work => work.languages.length ? work.languages.map(tag => tag.split("-")[0]) : ["-"];
const tongue = tag => tag === "-" ? say("not stated", "未注明") : new Intl.DisplayNames(root.lang, { type: "language" }).of(tag);
const chapter = at => at < 0 ? chapters.length ? say("Other", "其他") : say("Works", "作品") : word(chapters[at]);

function draw(most) {
  for (const end = Math.min(shown.length, drawn + most); drawn < end; drawn++) {
    const work = shown[drawn], id = "chapter" + work.chapter;
    if (!$(id)) {
      const count = shown.filter(other => other.chapter === work.chapter).length;
      $("works").append(make("section", {}, make("h2", {}, chapter(work.chapter) + " ", make("small", {}, number(count))),
        make("ul", { className: "cards", id })));
    }
    $(id).append(card(work));
  }
}

// Finds a word that has one letter wrong, missing, too many, or exchanged with the next one, or whose Chinese characters
// have others between them (牛顿定律 in 牛顿第二定律); a short word as it is.
function nearly(term) {
  const letters = [...term].map(letter => letter.replace(/[\\^$.*+?()[\]{}|]/, "\\$&"));
  const changed = (at, taken, put) => [...letters.slice(0, at), put, ...letters.slice(at + taken)].join("");
  const ways = letters.flatMap((letter, at) =>
    [changed(at, 1, ".?"), ...(at ? [changed(at, 0, "."), changed(at - 1, 2, letter + letters[at - 1])] : [])]);
  const isChinese = /\p{Script=Han}/u.test(term);
  if (isChinese) ways.push(letters.join(".{0,3}"));
  return new RegExp(letters.length < (isChinese ? 3 : 5) ? letters.join("") : ways.join("|"));
}

function filter() {
  const terms = $("query").value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
  const of = $("licence").value, lesson = $("chapter").value, language = $("spoken").value;
  const some = held.filter(work => (!chosen || work.kind === chosen) && (!of || (work.licence || "-") === of)
    && (!lesson || String(work.chapter) === lesson) && (!language || spoken(work).includes(language)));
  shown = some.filter(work => terms.every(term => work.text.includes(term)));
  const guessed = !shown.length;
  if (guessed) {
    const patterns = terms.map(nearly);
    shown = some.filter(work => patterns.every(pattern => pattern.test(work.text)));
  }
  $("works").replaceChildren();
  drawn = 0;
  draw(BATCH);
  $("found").textContent = !shown.length ? say("Nothing on this stick is like that.", "没有找到符合条件的内容。")
    : guessed ? say(`No exact match. Similar: ${number(shown.length)}`, `没有完全匹配的内容，以下 ${number(shown.length)} 件与之相近`)
    : shown.length === held.length ? "" : say(`${number(shown.length)} of ${number(held.length)}`, `${number(held.length)} 件中的 ${number(shown.length)} 件`);
}

function why(work) {
  const known = WHY.find(([pattern]) => pattern.test(work.why));
  return known ? say(known[1], known[2]) : work.why || say("It has not been downloaded yet.", "尚未下载。");
}

function drawMissing() {
  $("missing").hidden = !missing.length;
  $("missing").firstElementChild.textContent = say("Not on this stick: ", "不在本盘上：") + number(missing.length);
  const reasons = Map.groupBy ? Map.groupBy(missing, why) : new Map([["", missing]]);
  $("missing").lastElementChild.replaceChildren(...[...reasons].map(([reason, some]) => make("section", {},
    make("h2", {}, reason + " ", make("small", {}, number(some.length))),
    make("ul", {}, ...some.map(work => make("li", {}, link(work.urls[0] || "", work.title), " · " + label(work.kind)))))));
}

function choices(select, values) {
  const before = select.value;
  select.replaceChildren(...[["", say("all", "全部")], ...values].map(([value, text]) => make("option", { value }, text)));
  select.value = before;
}

function drawAll() {
  const title = topics.length ? topics.map(word).join(say(", ", "、")) : name;
  document.title = $("name").textContent = title;
  const bytes = held.reduce((sum, work) => sum + work.size, 0);
  $("count").textContent = say(`${number(held.length)} works, ${size(bytes)}`, `${number(held.length)} 件作品，${size(bytes)}`);
  $("made").textContent = made;
  const count = new Map();
  for (const work of held) count.set(work.kind, (count.get(work.kind) || 0) + 1);
  $("kinds").replaceChildren(...[["", held.length], ...count].map(([kind, some]) => make("button",
    { type: "button", ariaPressed: String(kind === chosen), value: kind }, `${kind ? label(kind) : say("all kinds", "全部类型")} ${number(some)}`)));
  choices($("licence"), [...new Set(held.map(work => work.licence || "-"))].sort().map(code =>
    [code, code === "-" ? say("no licence stated", "未注明许可") : label(code)]));
  const tags = [...new Set(held.flatMap(spoken))].sort();
  choices($("spoken"), tags.map(tag => [tag, tongue(tag)]));
  $("spoken").parentElement.hidden = tags.length < 2;
  choices($("chapter"), [...new Set(held.map(work => work.chapter))].map(at => [String(at), chapter(at)]));
  $("chapter").parentElement.hidden = !chapters.length;
  drawMissing();
  filter();
  route();
}

// -- the page of a work ---------------------------------------------------------------------------

function player(work) {
  const [file] = work.files;
  if (!file) return make("p", { className: "note" }, why(work));
  const source = address(file.path);
  if (PLAYED.test(file.mime)) {
    const shownBy = make(file.mime.split("/")[0], { controls: true, preload: "metadata", src: source, ...(work.poster ? { poster: address(work.poster) } : {}) });
    goOn(shownBy, "at " + work.id);
    return shownBy;
  }
  if (file.mime === "text/html") return make("iframe", { src: source, title: work.title, allow: "fullscreen" });
  if (file.mime === "application/x-shockwave-flash" && ruffle) {
    const box = make("div", { className: "flash" });
    playFlash(box, file.path);
    return box;
  }
  const flash = file.mime === "application/x-shockwave-flash";
  return make("p", { className: "note" }, make("a", { href: source, download: "" }, say("Open the file", "打开文件")), " ", flash
    ? say("A Flash animation. Ruffle is not on this stick; a Flash player plays the file.", "Flash 动画。本盘上没有 Ruffle，请用 Flash 播放器播放。")
    : say("Browsers do not play this format; a program such as VLC does.", "浏览器不能播放这种格式，请用 VLC 等软件播放。"));
}

// A long film goes on where it was left.
function goOn(shownBy, key) {
  const before = Number(kept(key));
  shownBy.addEventListener("loadedmetadata", () => { if (before < shownBy.duration - 10) shownBy.currentTime = before; });
  shownBy.addEventListener("timeupdate", () => keep(key, shownBy.ended ? 0 : shownBy.currentTime));
}

function fact(english, chinese, ...value) {
  return value.every(one => !one) ? [] : [make("dt", {}, say(english, chinese)), make("dd", {}, ...value)];
}

function drawWork(work) {
  const same = held.filter(other => other !== work && other.chapter === work.chapter);
  const near = same.filter(other => work.page && other.page && other.page[0] === work.page[0]);
  const related = [...new Set([...near, ...same])].slice(0, 8);
  const place = shown.indexOf(work), before = shown[place - 1], after = place < 0 ? null : shown[place + 1];
  $("work").replaceChildren(
    make("p", { className: "paths" }, make("a", { href: "#" }, say("← All works", "← 全部作品")), make("span", {},
      before ? make("a", { href: "#" + before.id }, say("previous", "上一件")) : "", " ",
      after ? make("a", { href: "#" + after.id }, say("next", "下一件")) : "")),
    make("h2", {}, work.title), player(work),
    make("dl", {},
      ...fact("Kind", "类型", label(work.kind)), ...fact("Lesson", "章节", work.chapter < 0 ? "" : chapter(work.chapter)),
      ...fact("Level", "学段", work.level && label(work.level)), ...fact("Language", "语言", work.languages.map(tongue).join(say(", ", "、"))),
      ...fact("By", "作者", work.creator), ...fact("Date", "日期", work.date),
      ...fact("Length", "时长", work.seconds ? clock(work.seconds) : ""),
      ...fact("Licence", "许可", work.licence ? link(work.licenceUrl, label(work.licence)) : licence(work)), ...fact("It says", "原文", work.said),
      ...fact("About it", "简介", work.caption),
      ...fact("Files", "文件", ...work.files.flatMap((file, at) => [at ? make("br") : "",
        make("a", { href: address(file.path), download: "" }, file.path.split("/").pop()), ` (${size(file.size)})`])),
      ...fact("On the web", "网上来源", work.page ? link(work.page[0], work.page[1] || work.page[0]) : "")),
    related.length ? make("h2", {}, work.chapter < 0 ? say("More", "更多") : say("Of the same lesson", "同一章节")) : "",
    make("ul", { className: "cards" }, ...related.map(card)));
}

function route() {
  const [, framed] = decodeURIComponent(location.hash).match(/^#frame:(.*)/) || [];
  if (framed) { // the exporter takes a picture of it
    const box = make("div", { className: "flash frame" });
    document.body.replaceChildren(box);
    return playFlash(box, framed);
  }
  const work = byId.get(location.hash.slice(1));
  if (!$("list").hidden) left = scrollY;
  $("list").hidden = !!work;
  $("work").hidden = !work;
  $("work").replaceChildren();
  if (!work) return scrollTo(0, left);
  drawWork(work);
  $("work").focus({ preventScroll: true });
  scrollTo(0, 0);
}

// -- Flash, without a server ----------------------------------------------------------------------
// From file:// no script may read a file. So beside each file that Ruffle asks for stands a script
// of the same name and ".js", which hands over its bytes.

const bytesOf = new Map(), waiting = new Map(), base = new URL(".", location.href).href;

function run(source) {
  return new Promise((resolve, reject) => document.head.append(make("script", { src: source, onload: resolve, onerror: reject })));
}

window.file = (path, packed) => {
  const raw = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
  bytesOf.set(path, new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
};

async function read(url) {
  const path = decodeURIComponent(url.slice(base.length)).split(/[?#]/)[0];
  if (!bytesOf.has(path)) {
    if (!waiting.has(path)) waiting.set(path, run(address(path + ".js")));
    await waiting.get(path);
  }
  return new Response(await bytesOf.get(path), { headers: { "Content-Type": path.endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } });
}

if (location.protocol === "file:") {
  const fetched = window.fetch;
  window.fetch = (asked, how) => {
    const url = new URL(asked instanceof Request ? asked.url : asked, location.href).href;
    return url.startsWith(base) ? read(url) : fetched(asked, how);
  };
}

async function playFlash(box, path) {
  if (!window.RufflePlayer?.newest) {
    window.RufflePlayer = { config: { publicPath: base + "ruffle/", autoplay: "on", unmuteOverlay: "hidden" } };
    await run("ruffle/ruffle.js");
  }
  const shownBy = window.RufflePlayer.newest().createPlayer();
  shownBy.style.cssText = "width:100%;height:100%";
  box.append(shownBy);
  const url = base + address(path);
  shownBy.ruffle().load({ url, base: url.slice(0, url.lastIndexOf("/") + 1) });
}

// -- what a reader does ---------------------------------------------------------------------------

let typed;
$("query").addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(filter, 80); });
for (const id of ["licence", "spoken", "chapter"]) $(id).addEventListener("change", filter);
document.forms[0].addEventListener("submit", event => event.preventDefault());
$("kinds").addEventListener("click", ({ target }) => {
  if (target.tagName !== "BUTTON") return;
  chosen = target.value;
  for (const one of $("kinds").children) one.ariaPressed = String(one === target);
  filter();
});
$("language").addEventListener("click", () => {
  root.lang = root.lang === "zh" ? "en" : "zh";
  keep("language", root.lang);
  drawAll();
});
$("print").addEventListener("click", () => print());
addEventListener("beforeprint", () => draw(shown.length));
addEventListener("hashchange", route);
addEventListener("keydown", event => {
  if (event.key === "Escape" && !$("work").hidden) location.hash = "";
  if (event.key === "/" && event.target.tagName !== "INPUT" && !$("list").hidden) { event.preventDefault(); $("query").focus(); }
});
const foot = document.querySelector("footer");
const near = new IntersectionObserver(seen => {
  if (drawn >= shown.length || !seen.some(one => one.isIntersecting)) return;
  draw(BATCH);
  near.unobserve(foot); // it is told again, should the foot still be near
  near.observe(foot);
}, { rootMargin: "1500px" });
near.observe(foot);
root.lang = kept("language") || (/^zh/.test(navigator.language) ? "zh" : "en");
drawAll();
