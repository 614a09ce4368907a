// Everything works without this file: it shows new numbers of running crawls without reloading the
// page, times as the reader's clock has them, sends no form twice, and takes the comparison to what
// changed with the keys n and p.
"use strict";

const clock = new Intl.DateTimeFormat(document.documentElement.lang, {
  dateStyle: "medium",
  timeStyle: "short",
});
const showLocalTimes = (part) => {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    time.textContent = clock.format(date);
  }
};
showLocalTimes(document);

const live = document.getElementById("live");
if (live && live.dataset.again) {
  const again = async () => {
    if (document.visibilityState === "visible") {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const news = page.getElementById("live");
        if (answer.ok && news && !live.contains(document.activeElement)) {
          showLocalTimes(news);
          live.replaceChildren(...news.childNodes);
          if (!news.dataset.again) return;
        }
      } catch {
        // the server is away; the next time may find it
      }
    }
    setTimeout(again, 1000 * Number(live.dataset.again));
  };
  setTimeout(again, 1000 * Number(live.dataset.again));
}

// A form that is sent is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// The works of a collection are ordered with the mouse, or with Alt and the arrow keys.
const members = document.querySelector("ol.members");
if (members) {
  let dragged = null;
  for (const [index, item] of [...members.children].entries()) {
    const handle = document.createElement("span");
    handle.className = "handle";
    handle.draggable = true;
    item.querySelector("h2").prepend(handle);
    handle.addEventListener("dragstart", (event) => {
      dragged = item;
      event.dataTransfer.setDragImage(item, 0, 0);
    });
    item.addEventListener("dragover", (event) => {
      if (dragged) event.preventDefault();
    });
    item.addEventListener("drop", (event) => {
      if (!dragged) return;
      event.preventDefault();
      dragged.querySelector("input[name=to]").value = members.start + index;
      dragged.querySelector("button[value=place]").click();
    });
  }
  members.addEventListener("keydown", (event) => {
    const way = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    const button = way && event.altKey && event.target.closest("li").querySelector(`button[value=${way}]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  });
  // Only then: to go to the work that the address names takes the focus away.
  const moved = document.getElementById(location.hash.slice(1))?.querySelector("button");
  if (moved) addEventListener("load", () => setTimeout(() => moved.focus()));
}

const rows = [...document.querySelectorAll(".pairrow")];
if (rows.length) {
  let at = -1;
  rows.forEach((row) => row.setAttribute("tabindex", "-1"));
  document.addEventListener("keydown", (event) => {
    const step = { n: 1, p: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    at = Math.min(Math.max(at + step, 0), rows.length - 1);
    rows[at].focus();
    rows[at].scrollIntoView({ block: "center" });
  });
}
