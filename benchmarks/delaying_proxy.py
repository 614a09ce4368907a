"""Passes the MongoDB protocol on, with answers that come later, and counts what is asked.

    python benchmarks/delaying_proxy.py HOST PORT MILLISECONDS

Listens on a port of the loopback network, the first line of its output, and on one that tells, and
forgets, how many messages came from clients. What the server sends is passed on so many
milliseconds after it came, all of it: answers on their way do not wait for each other.

`delaying` is the same from Python, in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_HEAD = struct.Struct("<iii")  # length, number, and number of the message this one answers
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Proxy:
    """A proxy under way: its port, and the one that tells the number of messages."""

    port: int
    counts: int

    def messages(self) -> int:
        """Return how many messages clients sent since this was last asked."""
        with socket.create_connection(("127.0.0.1", self.counts)) as connection:
            return int(connection.makefile().readline())


@contextmanager
def delaying(host: str, port: int, milliseconds: float) -> Iterator[Proxy]:
    """Run a proxy to a server while the block runs."""
    command = [sys.executable, __file__, host, str(port), str(milliseconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line:
            raise SystemExit("the proxy did not start")
        yield Proxy(*json.loads(line))
    finally:
        process.terminate()
        process.wait()


class _Passing:
    """Connections through the proxy.

    Attributes:
        messages: how many clients sent.
    """

    def __init__(self, host: str, port: int, seconds: float) -> None:
        self._server = host, port
        self._seconds = seconds
        self.messages = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what comes from one client, and the answers."""
        answers, asked = await asyncio.open_connection(*self._server)
        back = asyncio.create_task(self._pass_back(answers, writer))
        try:
            while True:
                head = await reader.readexactly(_HEAD.size)
                asked.write(head + await reader.readexactly(_HEAD.unpack(head)[0] - _HEAD.size))
                self.messages += 1
                await asked.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            back.cancel()
            asked.close()
            writer.close()

    async def _pass_back(self, answers: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        while data := await answers.read(_CHUNK):
            loop.call_later(self._seconds, _write, writer, data)
        loop.call_later(self._seconds, writer.close)

    async def tell(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tell the number of messages, and count anew."""
        writer.write(f"{self.messages}\n".encode())
        self.messages = 0
        writer.close()


def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    if not writer.is_closing():
        writer.write(data)


async def run(host: str, port: int, seconds: float) -> None:
    """Pass on until the process is ended."""
    passing = _Passing(host, port, seconds)
    proxy = await asyncio.start_server(passing.serve, "127.0.0.1", 0)
    counts = await asyncio.start_server(passing.tell, "127.0.0.1", 0)
    ports = [server.sockets[0].getsockname()[1] for server in (proxy, counts)]
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().create_future()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("milliseconds", type=float)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.host, arguments.port, arguments.milliseconds / 1000))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
