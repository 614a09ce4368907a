"""A page in the renderer tries all ways out, in a network of its own in which all is heard."""

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests import programs
from tests.deployment.test_rendering import SHELL, SHOWS, Site, crawl, seen

TARGET = "10.77.0.1"  # a private address of the machine
NEIGHBOUR = "10.77.0.2"  # another one on its link, who would be asked for by ARP

PEERS = f"""
const servers = ["{TARGET}", "{NEIGHBOUR}", "169.254.169.254"].flatMap((host) =>
  ["stun:" + host + ":3478", "turn:" + host + ":3478?transport=udp",
   "turn:" + host + ":3479?transport=tcp"])
  .map((urls) => ({{urls, username: "a", credential: "b"}}));
async function call(scope) {{
  const Peer = scope.RTCPeerConnection || scope.webkitRTCPeerConnection;
  if (!Peer) return;
  window.peers = (window.peers || 0) + 1;
  const peer = new Peer({{iceServers: servers}}), other = new Peer();
  peer.createDataChannel("x");
  peer.onicecandidate = (event) => event.candidate && other.addIceCandidate(event.candidate);
  const offer = await peer.createOffer();
  await peer.setLocalDescription(offer);
  await other.setRemoteDescription(offer);
  const answer = await other.createAnswer();
  await other.setLocalDescription(answer);
  await peer.setRemoteDescription(answer);
  for (const [n, host] of ["{TARGET}", "{NEIGHBOUR}", "abc.local"].entries())
    await peer.addIceCandidate({{sdpMid: "0", sdpMLineIndex: 0,
      candidate: `candidate:${{n}} 1 udp 2113937151 ${{host}} 4000 typ host`}});
}}
"""
ADD = f"""
const to = "http://{TARGET}:4001/";
const add = (tag, fields) => {{
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(fields)) made.setAttribute(name, value);
  document.body.append(made);
  return made;
}};
"""
LEAVES = """
const ways = {
  form: () => { const f = add("form", {action: to + "form", method: "post", target: "_blank"});
    f.submit(); },
  saved: () => add("a", {href: to + "saved", download: "x"}).click(),
  moved: () => { location.href = to + "moved"; },
};
for (const way of Object.values(ways)) way();
"""
ELEMENTS = f"""
const ways = {{
  img: () => add("img", {{src: to + "img", srcset: to + "srcset 2x"}}),
  css: () => add("link", {{rel: "stylesheet", href: to + "css"}}),
  imported: () => add("style", {{}}).append(`@import "${{to}}import";
    @font-face {{font-family: f; src: url("${{to}}font")}}
    body {{font-family: f; background: url("${{to}}background")}}`),
  icon: () => add("link", {{rel: "icon", href: to + "icon"}}),
  manifest: () => add("link", {{rel: "manifest", href: to + "manifest"}}),
  prefetch: () => add("link", {{rel: "prefetch", href: to + "prefetch"}}),
  preload: () => add("link", {{rel: "preload", as: "script", href: to + "preload"}}),
  modulepreload: () => add("link", {{rel: "modulepreload", href: to + "module"}}),
  dns: () => add("link", {{rel: "dns-prefetch", href: "//{NEIGHBOUR}.nip.test"}}),
  preconnect: () => add("link", {{rel: "preconnect", href: to}}),
  prerender: () => add("script", {{type: "speculationrules"}}).textContent =
    JSON.stringify({{prerender: [{{source: "list", urls: [to + "speculation"]}}]}}),
  iframe: () => add("iframe", {{src: to + "iframe"}}),
  object: () => add("object", {{data: to + "object"}}),
  embed: () => add("embed", {{src: to + "embed"}}),
  video: () => add("video", {{src: to + "video", poster: to + "poster", autoplay: ""}}),
  audio: () => add("audio", {{src: to + "audio", preload: "auto"}}),
  track: () => add("video", {{}}).append(Object.assign(document.createElement("track"),
    {{src: to + "track", default: true}})),
  svg: () => add("div", {{}}).innerHTML = `<svg><image href="${{to}}svg"/></svg>`,
  script: () => add("script", {{src: to + "script"}}),
  fetch: () => fetch(to + "fetch", {{mode: "no-cors", keepalive: true}}),
  xhr: () => {{ const x = new XMLHttpRequest(); x.open("POST", to + "xhr"); x.send("a"); }},
  beacon: () => navigator.sendBeacon(to + "beacon", "x"),
  events: () => new EventSource(to + "events"),
  socket: () => new WebSocket("ws://{TARGET}:4001/socket"),
  transport: () => new WebTransport("https://{TARGET}:4002/").ready,
  importing: () => import(to + "import.js"),
  worker: () => new Worker(URL.createObjectURL(new Blob(
    [`fetch("${{to}}worker"); importScripts("${{to}}worker.js")`]))),
  shared: () => new SharedWorker(to + "shared"),
  service: () => navigator.serviceWorker.register("/service.js"),
  ping: () => add("a", {{href: "#", ping: to + "ping"}}).click(),
  opened: () => window.open(to + "window"),
  file: () => fetch("file:///etc/passwd"),
  data: () => add("iframe", {{src: `data:text/html,<img src=${{to}}data>`}}),
  payment: () => new PaymentRequest([{{supportedMethods: to + "pay"}}],
    {{total: {{label: "a", amount: {{currency: "EUR", value: "1"}}}}}}).canMakePayment(),
  peers: () => call(window),
  framed: () => call(add("iframe", {{}}).contentWindow),
  written: () => {{ const inner = add("iframe", {{srcdoc: "<p>"}});
    inner.onload = () => call(inner.contentWindow); }},
  popped: () => call(window.open("about:blank") || {{}}),
}};
let tried = 0;
for (const way of Object.values(ways)) try {{
  tried += 1;
  Promise.resolve(way()).catch(() => 0);
}} catch {{}}
const waiting = setInterval(() => fetch("/wait.json"), 100);
setTimeout(() => {{
  clearInterval(waiting);
  show(`<h1>optics</h1><video src=${{tried}}-${{window.peers || 0}}.mp4>`);
}}, 1000);
"""


def test_no_way_leads_out_of_the_renderer(python: str, tmp_path: Path) -> None:
    alone = [*filter(None, [shutil.which("unshare")]), "--net", "--map-root-user"]
    can = shutil.which("ip") and len(alone) == 3
    if not can or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network of its own can be made for the browser (unshare --net, ip)")
    done = programs.run(*alone, sys.executable, "-m", __name__, python, tmp_path)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["heard"] == [f"UDP {TARGET}:9"]  # what the test itself sent: it would be heard
    assert found["films"] == {"": ["38-0.mp4", "video"]}  # ways, and peers made
    assert set(found["asked"]) <= {"/", "/robots.txt", "/leaves", "/wait.json"}


def main(python: str, folder: Path) -> None:
    """Crawl in a network of its own, and say what of it was heard."""
    for line in (
        "link set lo up",
        "link add out type veth peer name far",
        "link set out up",
        "link set far up",
        f"addr add {TARGET}/24 dev out",
        f"route add default via {NEIGHBOUR}",
    ):
        subprocess.run(["ip", *line.split()], check=True)
    heard: set[str] = set()
    ears = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    threading.Thread(target=listen, args=(ears, heard), daemon=True).start()
    site = Site({})
    script = SHOWS + PEERS + ADD + ELEMENTS
    site.pages |= {"/": SHELL.format(script).encode(), "/wait.json": b"{}", "/service.js": b""}
    # Where a page sets out for another one, Chromium may not be done with it: a page of its own.
    site.pages["/leaves"] = SHELL.format(ADD + LEAVES).encode()
    heard.clear()  # what the kernel said of the new link
    try:
        films = seen(python, folder, site, "-a", "max_pages=1")
        leaving = ("-a", f"seeds={site.origin}/leaves", "-a", "store=leaves.db")
        crawl(python, folder, *leaving, "-a", "render=playwright", "-a", "max_pages=1")
    finally:
        site.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"x", (TARGET, 9))
    while f"UDP {TARGET}:9" not in heard:
        time.sleep(0.01)
    print(json.dumps({"heard": sorted(heard), "films": films, "asked": site.asked}))


def listen(ears: socket.socket, heard: set[str]) -> None:
    """Note the packets to other addresses than those of the loopback, and who is asked for."""
    while True:
        frame = ears.recv(65_536)
        kind, packet = frame[12:14], frame[14:]
        if kind == b"\x08\x06":
            heard.add(f"ARP {socket.inet_ntoa(packet[24:28])}")
        elif kind == b"\x08\x00" and packet[16] != 127 and packet[9] in (6, 17):
            head = 4 * (packet[0] & 15)
            port = int.from_bytes(packet[head + 2 : head + 4], "big")
            name = "UDP" if packet[9] == 17 else "TCP"
            heard.add(f"{name} {socket.inet_ntoa(packet[16:20])}:{port}")
        elif kind == b"\x86\xdd" and packet[6] in (6, 17):
            port = int.from_bytes(packet[42:44], "big")
            heard.add(f"IPv6 {socket.inet_ntop(socket.AF_INET6, packet[24:40])}:{port}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
