"""How long `scrapy browse` takes to answer beside 500 connections that do not say what they want.

    python benchmarks/browse_crowd.py [--connections 500]

Each line: who holds the connections and how, the median and the worst of 20 answers in
milliseconds. The server runs with its ordinary bounds, in a process of its own.
"""

from __future__ import annotations

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from mmcrawl.archive import Capture, open_archive

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CROWDS = {
    "nobody": ("127.0.0.2", None),
    "silent, of another address": ("127.0.0.2", b""),
    "half a head, of another address": ("127.0.0.2", HEAD + b"X: "),
    "half a head, of the same address": ("127.0.0.1", HEAD + b"X: "),
    "half a body, of the same address": (
        "127.0.0.1",
        HEAD.replace(b"GET", b"POST") + b"Content-Length: 1000000\r\n\r\nx",
    ),
}
ASKED = b"GET /static/style.css HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def connected(port: int, host: str, said: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), 120, (host, 0))
    connection.sendall(said)
    return connection


def answered(port: int) -> float:
    began = time.perf_counter()
    with closing(connected(port, "127.0.0.1", ASKED)) as connection:
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200"), answer[:100]
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--connections", type=int, default=500)
    count = parser.parse_args().connections
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/crawl-archive.db"
        with open_archive(uri) as archive:
            archive.store(Capture("http://optics.test/", b"<p>lens</p>", 1.0))
        server = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "browse", "-a", f"archive={uri}", "--port", "0"],
            cwd=Path(__file__).parents[1],
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            [port] = re.findall(r":(\d+)/", server.stdout.readline())
            answered(int(port))
            for name, (host, said) in CROWDS.items():
                with ExitStack() as crowd:
                    for _ in range(count if said is not None else 0):
                        crowd.enter_context(closing(connected(int(port), host, said or b"")))
                    times = [1000 * answered(int(port)) for _ in range(20)]
                print(f"{name:34} {median(times):7.1f} {max(times):9.1f}", flush=True)
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
