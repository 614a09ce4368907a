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
