// What a browser offers to the scripts of a page, as far as it decides where they go.
//
// `open` is called once in a new context of the engine, before the scripts of the page, `finish`
// after them: it runs what waits (handlers of loading, timers). `found` says what they did.
// A visit says what differs from one reader to the next, and what a name stands for that neither
// the page nor this file defines, because another file or a newer browser would: it is missing,
// nothing (undefined) or anything. `depends` says whether the scripts asked for any of that.

const mmcrawl_browser = (() => {
  "use strict";
  const window = globalThis;
  const moves = []; // [address, whether it is within a minute]
  const written = []; // HTML that scripts put into the page
  const timers = []; // [function or code, milliseconds, arguments]
  const cleared = new Set(); // numbers of timers, from 1
  const loads = []; // [owner, handler]
  const AT_ONCE = 60000; // milliseconds
  const TICKS = 60; // of what is repeated: a countdown
  const MOST_TIMERS = 300;
  const MOST_MOVES = 20;
  const LONGEST_MOVE = 10000; // characters; who reads what was found has no limit on memory
  const MOST_WRITTEN = 50000; // characters
  const SAME_WINDOW = ["_self", "_top", "_parent"];
  const LOADS = /^(?:on)?(?:load|DOMContentLoaded|pageshow|readystatechange|ready)$/;
  const SENT = /^(?:input|select|textarea)$/;
  const NOT_SENT = /^(?:submit|button|image|reset|file)$/;
  let shown = ""; // what a script says that the address is
  let page, visit, anything;
  let rows; // of elements: tag, attributes, place of the parent, text
  let has_asked = false; // for what differs between visits
  let room = MOST_WRITTEN;

  const { parse: parsed, stringify: text_of } = JSON; // before scripts can change them
  const nothing = () => undefined;
  const call = (code, owner, given = []) => {
    try {
      return typeof code === "function" ? code.apply(owner, given) : (0, eval)(String(code));
    } catch {
      return undefined; // as in a browser, what others do goes on
    }
  };

  // -- where it goes

  const move = (href, at_once = true) => {
    const text = String(href).trim();
    if (/^javascript:/i.test(text)) call(text.slice(11));
    else if (text && text.length <= LONGEST_MOVE && moves.length < MOST_MOVES) {
      moves.push([text, at_once]);
    }
  };

  // A browser opens another window only after a click, so what it would show is a link.
  const open = (href, target = "_blank") => {
    move(href, SAME_WINDOW.includes(target));
    return null;
  };

  const resolve = (href, base) => {
    const [, scheme, host, path] = /^(\w+:)\/\/([^/?#]*)([^?#]*)/.exec(base) || [];
    if (/^[a-z][\w+.-]*:/i.test(href)) return href;
    if (href.startsWith("//")) return scheme + href;
    if (href.startsWith("/")) return `${scheme}//${host}${href}`;
    const before = /^[?#]/.test(href) ? path : path.replace(/[^/]*$/, "");
    return `${scheme}//${host}${before}${href}`;
  };

  const location_of = ({ href, parts }) => {
    const made = { replace: move, assign: move, reload: () => move(shown), toString: () => href };
    const { protocol, host, pathname, search } = parts;
    const here = `//${host}${pathname}${search}`;
    const changes = {
      href: move,
      pathname: (value) => move(`/${value.replace(/^\//, "")}`),
      search: (value) => move(`${pathname}?${value.replace(/^\?/, "")}`),
      protocol: (value) => move(value.replace(/[:/]*$/, ":") + here),
      host: (value) => move(`${protocol}//${value}${pathname}${search}`),
    };
    changes.hostname = changes.host;
    for (const [name, value] of Object.entries({ href, ...parts })) {
      const set = changes[name] || nothing;
      Object.defineProperty(made, name, { get: () => value, set: (given) => set(String(given)) });
    }
    return made;
  };

  // -- when

  function listen(event, handler) {
    if (LOADS.test(event) && handler) loads.push([this, handler.handleEvent || handler]);
  }

  const wait = (code, milliseconds = 0, ...given) => timers.push([code, milliseconds, given]);

  const repeat = (code, milliseconds, ...given) => {
    const tick = (left) => () => {
      const before = moves.length;
      call(code, window, given);
      const goes_on = left && moves.length === before && !cleared.has(number);
      if (goes_on) wait(tick(left - 1), milliseconds);
    };
    const number = wait(tick(TICKS), milliseconds);
    return number;
  };

  const clear = (number) => void cleared.add(number);

  // -- the page

  const put = (html) => {
    const text = String(html).slice(0, room);
    room -= text.length;
    written.push(text);
  };

  const write = (html) => {
    put(html);
    const scripts = String(html).matchAll(/<script[^>]*>([^]*?)(?:<\/script|$)/gi);
    for (const [, code] of scripts) call(code);
  };

  class Element {
    #parent;
    constructor(tag, attributes = {}, parent = -1, text = "") {
      Object.assign(this, attributes, { style: {}, children: [], dataset: {} });
      Object.defineProperty(this, "attributes", { value: { ...attributes } });
      this.localName = tag;
      this.tagName = this.nodeName = tag.toUpperCase();
      this.#parent = parent;
      this.text = this.textContent = this.innerText = text;
      for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("data-")) {
          this.dataset[name.slice(5).replace(/-(.)/g, (_, one) => one.toUpperCase())] = value;
        }
      }
    }
    get parentNode() { return element_at(this.#parent); }
    get parentElement() { return this.parentNode; }
    get innerHTML() { return this.textContent; }
    set innerHTML(html) { put(html); }
    getAttribute(name) { return this.attributes[name] ?? null; }
    setAttribute(name, value) { this.attributes[name] = this[name] = String(value); }
    hasAttribute(name) { return name in this.attributes; }
    closest(tag) {
      return this.localName === tag ? this : this.parentNode && this.parentNode.closest(tag);
    }
    appendChild(child) {
      if (child.localName === "meta") {
        const kind = child.httpEquiv || child.getAttribute("http-equiv");
        put(`<meta http-equiv="${kind}" content="${child.content}">`);
      }
      if (child.localName === "script" && !child.src) call(child.text || child.textContent);
      return child;
    }
    insertBefore(child) { return this.appendChild(child); }
    dispatchEvent(event) { if (event.type === "click") this.click(); }
    click() {
      if (this.onclick) call(this.onclick, this, [{ preventDefault: nothing }]);
      const form = this.closest("form");
      if (/^(?:a|area)$/.test(this.localName)) open(this.href, this.target || "_self");
      else if (form && /^(?:submit|image)$/.test(this.type || "submit")) form.submit();
    }
    // The answer to a form that is posted is at no address.
    submit() {
      if (this.localName !== "form" || !/^get$/i.test(this.method || "get")) return;
      const encoded = (text) => encodeURIComponent(text).replace(/%20/g, "+");
      const query = fields_of(this).filter(is_sent)
        .map((one) => `${encoded(one.name)}=${encoded(value_of(one))}`);
      const action = (typeof this.action === "string" && this.action) || page.href;
      move(query.length ? `${action.split(/[?#]/)[0]}?${query.join("&")}` : action);
    }
    requestSubmit() { this.submit(); }
  }
  Object.assign(Element.prototype, {
    addEventListener: listen, attachEvent: listen, removeEventListener: nothing,
    remove: nothing, removeChild: nothing, focus: nothing, blur: nothing,
  });

  // Most pages have thousands of elements, and few scripts ask for more than one.
  const elements = [];
  const all_rows = () => rows || (rows = parsed(page.elements));
  const element_at = (place) => {
    if (place < 0) return null;
    if (!elements[place]) elements[place] = new Element(...all_rows()[place]);
    return elements[place];
  };
  const all_elements = () => all_rows().map((_, place) => element_at(place));
  const by_id = (id) =>
    element_at(all_rows().findIndex((row, place) => (elements[place] || row[1]).id === id));

  const is_sent = (field) => !NOT_SENT.test(field.type) && !field.hasAttribute("disabled")
    && (!/^(?:checkbox|radio)$/.test(field.type) || (field.checked ?? false) !== false);
  const value_of = (field) => {
    if (field.value !== undefined || field.localName !== "select") {
      return field.value ?? (field.type === "checkbox" ? "on" : field.textContent);
    }
    const options = all("option").filter((one) => one.closest("select") === field);
    const chosen = options.find((one) => one.hasAttribute("selected")) || options[0];
    return chosen ? chosen.value ?? chosen.textContent : "";
  };
  const fields_of = (form) => all_elements().filter((one) =>
    SENT.test(one.localName) && one.name && one.closest("form") === form);

  // The commonest selectors: tag, #id, .class, [attribute=value], and one inside another.
  const SIMPLE = /[#.][\w-]+|\[[^\]]+\]/g;
  const ATTRIBUTE = /^\[([\w-]+)(?:([*^]?)=["']?(.*?)["']?)?\]$/;
  const holds = (element, condition) => {
    const own = element.attributes;
    if (condition[0] === "#") return own.id === condition.slice(1);
    if (condition[0] === ".") return ` ${own.class} `.includes(` ${condition.slice(1)} `);
    const [, name, how, value] = ATTRIBUTE.exec(condition) || [];
    if (!(name in own) || value === undefined) return name in own;
    if (how) return how === "^" ? own[name].startsWith(value) : own[name].includes(value);
    return own[name] === value;
  };
  const matches = (element, [selector, ...outer]) => {
    const tag = /^[\w-]*/.exec(selector)[0].toLowerCase();
    if (tag && tag !== element.localName) return false;
    if (!(selector.match(SIMPLE) || []).every((one) => holds(element, one))) return false;
    if (!outer.length) return true;
    for (let one = element.parentNode; one; one = one.parentNode) {
      if (matches(one, outer)) return true;
    }
    return false;
  };
  const all = (css) => String(css).split(",").flatMap((selector) => {
    const parts = selector.trim().split(/[\s>]+/).reverse();
    return all_elements().filter((one) => matches(one, parts));
  });
  const first = (css) => all(css)[0] || null;
  Object.assign(Element.prototype, {
    querySelector: first, querySelectorAll: all, getElementsByTagName: all,
  });

  const root = (tag) => first(tag) || new Element(tag); // a page need not write it

  const named = (found) => {
    for (const one of found) if (one.name || one.id) found[one.name || one.id] ??= one;
    return found;
  };

  const form_named = (name) => {
    const form = all("form").find((one) => one.name === name);
    for (const field of form ? fields_of(form) : []) form[field.name] ??= field;
    return form;
  };

  const document_of = ({ href, parts }) => ({
    URL: href, documentURI: href, baseURI: href, domain: parts.hostname, cookie: "",
    referrer: "", title: "", readyState: "complete", visibilityState: "visible", hidden: false,
    write, writeln: write, open: nothing, close: nothing,
    querySelector: first, querySelectorAll: all, getElementById: by_id,
    getElementsByName: (name) => all_elements().filter((one) => one.name === name),
    getElementsByTagName: (tag) => (/^(?:body|head)$/i.test(tag) ? [root(tag)] : all(tag)),
    getElementsByClassName: (name) => all(`.${name}`),
    createElement: (tag) => new Element(tag.toLowerCase()),
    createEvent: () => ({ initEvent(type) { this.type = type; } }),
    get body() { return root("body"); },
    get head() { return root("head"); },
    get documentElement() { return root("html"); },
    get forms() { return named(all("form")); },
    get links() { return named(all("a[href],area[href]")); },
    get images() { return named(all("img")); },
  });

  // -- jQuery, which most pages load as a file

  class Query extends Array {
    ready(handler) { loads.push([window, () => handler(jquery)]); return this; }
    on(event, handler) { listen.call(this, event, handler); return this; }
    one(event, handler) { return this.on(event, handler); }
    load(handler) { return this.on("load", handler); }
    get(place) { return this[place]; }
    attr(name, value) {
      const [one] = this;
      if (one && value === undefined) return one.getAttribute?.(name) ?? one[name];
      if (one) one[name] = value;
      return this;
    }
    prop(name, value) { return this.attr(name, value); }
    each(handler) { this.forEach((one, place) => call(handler, one, [place, one])); return this; }
    click(handler) { if (!handler) this.forEach((one) => one.click()); return this; }
    submit(handler) { if (!handler) this.forEach((one) => one.submit()); return this; }
    trigger(event) { return this[event] ? this[event]() : this; }
    val() { return this[0] && this[0].value; }
    text() { return this[0] && this[0].textContent; }
    data(name) { return this[0] && this[0].dataset[name]; }
  }
  const jquery = (what) => {
    if (typeof what === "function") return new Query().ready(what);
    const found = typeof what === "string" ? all(what) : [what];
    const made = new Query();
    made.push(...found);
    return made;
  };
  jquery.fn = Query.prototype;

  // -- the window

  // Stands for whatever another file of the page defines, and for answers of its server.
  const make_anything = () => {
    const made = new Proxy(function () {}, {
      get: (_, name) => {
        if (name === Symbol.toPrimitive) return () => "";
        return name === "then" || name === Symbol.iterator ? undefined : made;
      },
      set: () => true, apply: () => made, construct: () => made,
    });
    return made;
  };
  const answer = () => {
    const then = (handler) => call(handler, undefined, [anything]) && answered;
    const answered = { then: (handler) => then(handler) || answered, catch: () => answered };
    return Object.assign(answered, { done: answered.then, always: answered.then, finally: then });
  };

  const storage = () => {
    const kept = new Map();
    return {
      getItem: (name) => kept.get(String(name)) ?? null,
      setItem: (name, value) => void kept.set(String(name), String(value)),
      removeItem: (name) => void kept.delete(String(name)),
    };
  };

  const differing = (value) => () => {
    has_asked = true;
    return value;
  };

  // Let an object have a property that is looked up when it is asked for, until a script sets it.
  const offer = (object, name, get) => {
    const set = (value) => Object.defineProperty(object, name, { value, writable: true });
    Object.defineProperty(object, name, { get, set, enumerable: true, configurable: true });
  };

  // Let an object have what it is asked for beyond its own.
  const extend = (object, find = nothing) => {
    const beyond = Object.getPrototypeOf(object);
    const unknown = differing(visit.unknown);
    const is_known = (name) => name in beyond || typeof name !== "string";
    Object.setPrototypeOf(object, new Proxy(beyond, {
      has: (_, name) => (is_known(name) ? name in beyond : unknown() !== "missing"),
      get: (_, name) => {
        if (is_known(name)) return beyond[name];
        return find(name) ?? (unknown() === "anything" ? anything : undefined);
      },
    }));
  };

  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const atob = (text) => {
    const bits = Array.from(String(text).replace(/[\s=]/g, ""), (one) =>
      ALPHABET.indexOf(one).toString(2).padStart(6, "0"));
    const bytes = bits.join("").match(/.{8}/g) || [];
    return bytes.map((one) => String.fromCharCode(parseInt(one, 2))).join("");
  };

  class Parameters {
    constructor(query = "") {
      this.pairs = String(query).replace(/^\?/, "").split("&").map((one) => {
        const [name, value = ""] = one.split("=");
        return [name, value].map((text) => decodeURIComponent(text.replace(/\+/g, " ")));
      });
    }
    get(name) { return (this.pairs.find((one) => one[0] === name) || [])[1] ?? null; }
    has(name) { return this.get(name) !== null; }
  }
  class Address {
    constructor(href, base = "") { this.href = resolve(String(href), String(base)); }
    get searchParams() { return new Parameters((this.href.split("?")[1] || "").split("#")[0]); }
    toString() { return this.href; }
  }
  class Happening {
    constructor(type) { this.type = type; }
  }

  // The same on every run.
  const NOW = 1.7e12;
  const Date_ = Date;
  class FixedDate extends Date_ {
    constructor(...given) { super(...(given.length ? given : [NOW])); }
    static now() { return NOW; }
  }
  Math.random = () => 0.5;

  const open_page = (given_page, given_visit) => {
    page = given_page;
    visit = given_visit;
    anything = make_anything();
    const { agent, language, width, agrees } = visit;
    const outer = visit.framed ? Object.create(window) : window;
    const document = document_of(page);
    const location = location_of(page);
    for (const owner of [window, document]) {
      Object.defineProperty(owner, "location", { get: () => location, set: move });
      for (const name of ["onload", "onpageshow", "onreadystatechange"]) {
        Object.defineProperty(owner, name, { set: (handler) => loads.push([owner, handler]) });
      }
      Object.assign(owner, { addEventListener: listen, attachEvent: listen });
      owner.removeEventListener = owner.dispatchEvent = nothing;
    }
    Object.assign(window, {
      window, self: window, frames: window, opener: null, document, innerHeight: 900,
      navigator: {
        userAgent: agent, appVersion: agent.slice(8), appName: "Netscape", platform: "Win32",
        cookieEnabled: true, onLine: true, plugins: [],
      },
      history: {
        pushState: (_, title, href) => { shown = href; }, length: 1, back: nothing,
        replaceState: (_, title, href) => { shown = href; }, go: () => move(shown),
      },
      setTimeout: wait, setInterval: repeat, clearTimeout: clear, clearInterval: clear,
      requestAnimationFrame: (code) => wait(code), requestIdleCallback: (code) => wait(code),
      open, navigate: move, alert: nothing, confirm: differing(agrees), prompt: () => null, atob,
      localStorage: storage(), sessionStorage: storage(), fetch: answer,
      $: jquery, jQuery: jquery, URL: Address, URLSearchParams: Parameters, Date: FixedDate,
      Event: Happening, MouseEvent: Happening, CustomEvent: Happening, Image: Element,
      console: { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing },
    });
    Object.assign(jquery, { ajax: answer, get: answer, post: answer });
    offer(window, "top", differing(outer));
    offer(window, "parent", differing(outer));
    offer(window, "innerWidth", differing(width));
    offer(window, "screen", differing({ width, availWidth: width, height: 1080 }));
    offer(window.navigator, "language", differing(language));
    offer(window.navigator, "languages", differing([language]));
    for (const id of page.ids) if (!(id in window)) offer(window, id, () => by_id(id));
    extend(document, form_named);
    // A name that is missing is an error, which no object behind the global one could raise.
    if (visit.unknown !== "missing") extend(window);
  };

  const finish = () => {
    for (const [owner, handler] of loads) call(handler, owner, [anything]);
    for (const [place, [code, milliseconds, given]] of timers.entries()) {
      if (cleared.has(place + 1)) continue;
      const before = moves.length;
      call(code, window, given);
      if (milliseconds > AT_ONCE) for (const one of moves.slice(before)) one[1] = false;
      if (timers.length > MOST_TIMERS) break;
    }
  };

  const found = () => text_of([moves, written]);
  const depends = () => has_asked;
  return Object.freeze({ open: open_page, finish, found, depends });
})();
