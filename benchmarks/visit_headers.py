"""What the headers of visits that found nothing new cost in an archive.

Pages are stored once and visited again with the same bytes. Most of a server's headers are the same
each time; a date, an age, a request's number and a cookie are not, and the ETag now and then.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from mmcrawl.archive import Capture, open_archive


def headers(dice: random.Random, visit: int) -> tuple[tuple[str, str], ...]:
    """Return what a server behind a cache answers with."""
    return (
        ("Date", f"Mon, {visit % 28 + 1:02} Jan 2024 0{dice.randrange(10)}:12:{visit % 60:02} GMT"),
        ("Content-Type", "text/html; charset=UTF-8"),
        ("Server", "nginx/1.24.0"),
        ("Cache-Control", "max-age=600, must-revalidate"),
        ("Last-Modified", "Tue, 05 Dec 2023 10:00:00 GMT"),
        ("ETag", f'"{visit // 10:08x}-5f2a"'),
        ("Vary", "Accept-Encoding, Cookie"),
        ("Age", str(dice.randrange(600))),
        ("X-Request-Id", f"{dice.getrandbits(128):032x}"),
        ("Set-Cookie", f"session={dice.getrandbits(64):016x}; path=/; HttpOnly; SameSite=Lax"),
        ("Strict-Transport-Security", "max-age=31536000; includeSubDomains"),
        ("Content-Security-Policy", "default-src 'self'; img-src * data:; frame-ancestors 'none'"),
    )


def bytes_a_visit(pages: int, visits: int, *, with_headers: bool) -> tuple[float, float]:
    """Return the bytes and the CPU seconds that a visit adds to the archive."""
    dice = random.Random(1)
    bodies = [dice.randbytes(2_000).hex().encode() for _ in range(pages)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.db"
        with open_archive(f"sqlite:///{path}") as archive:
            for visit in range(visits + 1):
                if visit == 1:
                    archive.pack()
                    size, begun = path.stat().st_size, time.process_time()
                archive.store_many(
                    Capture(
                        f"http://h{n % 8}.test/{n}",
                        body,
                        float(visit),
                        headers=headers(dice, visit) if with_headers else (),
                        content_type="text/html",
                    )
                    for n, body in enumerate(bodies)
                )
            seconds = time.process_time() - begun
            archive.pack()
        return (path.stat().st_size - size) / (pages * visits), seconds / (pages * visits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--visits", type=int, default=50, help="of each page, after the first")
    args = parser.parse_args()
    raw = sum(len(name) + len(value) + 4 for name, value in headers(random.Random(1), 1))
    print(f"headers of an answer: {raw} bytes")
    for kept in (False, True):
        size, seconds = bytes_a_visit(args.pages, args.visits, with_headers=kept)
        kind = "with headers" if kept else "without"
        print(f"{kind:>12}: {size:6.1f} bytes and {seconds * 1e6:5.0f} µs of CPU a visit")


if __name__ == "__main__":
    main()
