"""A site of the demo web that its script makes: without a browser every page is an empty shell.

No other site leads to it; it is crawled by ``-a seeds=http://app.demo.test/ -a web=demo``.
"""

import json

from mmcrawl.replay.demo.files import file_at
from mmcrawl.replay.demo.texts import lessons
from mmcrawl.replay.web import StoredResponse, answer, not_found

HOST = "app.demo.test"

_SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Physics app</title></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script src="/app.js"></script></body></html>
"""
_SCRIPT = """const root = document.getElementById("root");
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
"""


def respond(path: str) -> StoredResponse:
    """Return what the site answers at a path."""
    known = {lesson.slug: lesson for lesson in lessons("en")}
    name = path.rpartition("/")[2]
    slug, _, ending = name.partition(".")
    if path == "/" or (path == f"/lesson/{slug}" and slug in known and not ending):
        return answer(200, "text/html; charset=utf-8", _SHELL.encode())
    if path == "/app.js":
        return answer(200, "text/javascript", _SCRIPT.encode())
    if path == "/api/lessons.json":
        listed = [{"slug": one.slug, "title": one.name} for one in known.values()]
        return _json({"title": "Senior physics: lessons", "lessons": listed})
    if slug in known and path == f"/api/lesson/{slug}.json":
        lesson = known[slug]
        film = f"/media/{slug}.mp4"
        title = f"{lesson.name}: physics lesson"
        return _json({"title": title, "texts": lesson.sentences, "video": film})
    if slug in known and path == f"/media/{slug}.mp4":
        return answer(200, "video/mp4", file_at(path, known[slug].name))
    return not_found()


def _json(value: object) -> StoredResponse:
    return answer(200, "application/json", json.dumps(value).encode())
