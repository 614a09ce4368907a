const root = document.getElementById("root");
const add = (parent, tag, text, attributes) => {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const name in attributes || {}) element.setAttribute(name, attributes[name]);
  parent.append(element);
  return element;
};
const show = (lesson) => {
  document.title = lesson.title;
  add(root, "h1", lesson.title);
  for (const text of lesson.texts || []) add(root, "p", text);
  if (lesson.video) add(root, "video", "", { src: lesson.video, title: lesson.title });
  const list = add(root, "ul", "");
  for (const one of lesson.lessons || []) {
    add(add(list, "li", ""), "a", one.title, { href: "/lesson/" + one.slug });
  }
};
const path = location.pathname;
fetch("/api" + (path === "/" ? "/lessons" : path) + ".json")
  .then((response) => response.json())
  .then(show);
