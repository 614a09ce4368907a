"""Collecting beside wget and curl, from one server on this machine.

python benchmarks/collecting.py [--gigabytes 4] [--files 200]

One large file, and many of 2 MB: MB a second of wall clock, seconds of CPU, and the most memory
that was resident. The large file is sparse: nothing is read from a disk to serve it. wget and curl
keep what they get without a digest; `scrapy collect` takes SHA-256 of it, and is started anew. It
alone has a stream of 1 GB (HLS) to join, where ffmpeg is installed, whose CPU is counted.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

from mmcrawl.frontier.findings import Findings, MediaPageRecord
from mmcrawl.frontier.store import open_store
from mmcrawl.page.model import MediaResource

HEAD = b"\x00\x00\x00\x18ftypisom"
SMALL = 2_000_000
SETTINGS = ("AUTOTHROTTLE_ENABLED=0", "LOG_LEVEL=WARNING", "MMCRAWL_DISPLAY=0")


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def copyfile(self, source, outputfile):
        self.connection.sendfile(source)

    def log_message(self, *_):
        pass


def serve(folder: str, ports) -> None:
    """Serve a folder, in a process of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=folder)) as server:
        ports.put(server.server_address[1])
        server.serve_forever()


def make_media(folder: Path, gigabytes: float, files: int) -> dict[str, list[str]]:
    """Make the files; return their names by task."""
    large = folder / "large.mp4"
    with large.open("wb") as file:
        file.write(HEAD)
        file.truncate(int(gigabytes * 1e9))
    names = [f"{number}.mp4" for number in range(files)]
    for number, name in enumerate(names):
        (folder / name).write_bytes(HEAD + number.to_bytes(4, "big") * (SMALL // 4))
    return {f"one file of {gigabytes:g} GB": [large.name], f"{files} files of 2 MB": names}


def make_stream(folder: Path) -> dict[str, list[str]]:
    """Make a playlist of 1 GB of pieces, which are the same one; return its name by its task."""
    made = ["-f", "lavfi", "-i", "testsrc=size=640x480:rate=10:duration=8", "-c:v", "libx264"]
    rate = ["-b:v", "6M", "-minrate", "6M", "-maxrate", "6M", "-bufsize", "1M", "-g", "10"]
    filled = ["-x264-params", "nal-hrd=cbr", "piece.ts"]
    command = ["ffmpeg", "-loglevel", "error", *made, *rate, *filled]
    subprocess.run(command, cwd=folder, check=True)
    count = round(1e9 / (folder / "piece.ts").stat().st_size)
    pieces = [f"#EXT-X-DISCONTINUITY\n#EXTINF:8,\npiece.ts?{number}" for number in range(count)]
    lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:8", *pieces, "#EXT-X-ENDLIST", ""]
    (folder / "stream.m3u8").write_text("\n".join(lines))
    return {"a stream of 1 GB in pieces of 6 MB (HLS)": ["stream.m3u8"]}


def size_of(source: Path, name: str) -> int:
    """Return the bytes of a file, those of a playlist's pieces."""
    path = source / name
    if path.suffix == ".m3u8":
        return path.read_text().count("piece.ts") * (source / "piece.ts").stat().st_size
    return path.stat().st_size


def found(store: Path, urls: Sequence[str]) -> None:
    """Make the store of a crawl that found these."""
    with open_store(f"sqlite:///{store}") as opened:
        job = opened.job("job", {"seeds": [[urls[0], ""]], "web": ""})
        media = tuple(MediaResource(url, "video", "a") for url in urls)
        page = MediaPageRecord(urls[0], "Films", 1.0, (), 200, time.time(), media)
        Findings(opened, job).add_media_page(page)
        opened.commit()


def programs(urls: Sequence[str], folder: Path) -> dict[str, list[str]]:
    """Return the commands that fetch some URLs into a folder."""
    listed = folder / "urls"
    listed.write_text("\n".join(urls))
    config = folder / "curl"
    config.write_text("".join(f'url = "{url}"\nremote-name\n' for url in urls))
    settings = [part for setting in SETTINGS for part in ("-s", setting)]
    collect = [sys.executable, "-m", "scrapy", "collect", "crawl.db", *settings]
    known = {
        "wget": ["wget", "-q", "-i", str(listed)],
        "curl": [
            "curl",
            "-s",
            "--no-progress-meter",
            "-Z",
            "--parallel-max",
            "8",
            "-K",
            str(config),
        ],
        "aria2c": ["aria2c", "-q", "-j", "8", "-i", str(listed)],
    }
    found(folder / "crawl.db", urls)
    return {"mmcrawl": collect} | {n: c for n, c in known.items() if shutil.which(n)}


def measured(command: Sequence[str], folder: Path) -> tuple[float, float, float]:
    """Run a command; return seconds of wall clock and of CPU, and MB of memory."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings",
        "no_proxy": "*",
    }
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment)
    memory = 0.0
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        memory = max(memory, resident(process.pid))
        time.sleep(0.02)
    seconds = time.perf_counter() - begun
    _, status, usage = ended
    if status:
        raise SystemExit(f"{command[0]} failed")
    return seconds, usage.ru_utime + usage.ru_stime, memory


def resident(process: int) -> float:
    """Return the most memory that a process had so far, in MB; that before its exec is none."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    lines = [line.split() for line in status.splitlines() if line.startswith("VmHWM:")]
    return int(lines[0][1]) / 1024 if lines else 0.0


def compare(
    task: str, names: Sequence[str], source: Path, base: str, others: Sequence[str]
) -> None:
    """Measure each program at one task, and print a line for each."""
    size = sum(size_of(source, name) for name in names) / 1e6
    print(f"\n{task}")
    for name in ("mmcrawl", *others):
        with tempfile.TemporaryDirectory() as place:
            commands = programs([f"{base}/{each}" for each in names], Path(place))
            if name not in commands:
                print(f"  {name:8} is not installed")
                continue
            wall, cpu, memory = measured(commands[name], Path(place))
            kept = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
            least = size if others else 0.95 * size  # MP4 has less around its pictures than TS
            assert kept / 1e6 >= least, f"{name} kept {kept:,} bytes"
        print(
            f"  {name:8}{size / wall:8.0f} MB/s{cpu:8.2f} s CPU"
            f"{cpu / size * 1000:8.2f} s CPU/GB{memory:8.0f} MB resident"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=4.0)
    parser.add_argument("--files", type=int, default=200)
    options = parser.parse_args()
    context = get_context("spawn")
    ports = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        tasks = make_media(Path(folder), options.gigabytes, options.files)
        server = context.Process(target=serve, args=(folder, ports), daemon=True)
        server.start()
        base = f"http://127.0.0.1:{ports.get()}"
        try:
            for task, names in tasks.items():
                compare(task, names, Path(folder), base, ("wget", "curl", "aria2c"))
            if shutil.which("ffmpeg"):
                for task, names in make_stream(Path(folder)).items():
                    compare(task, names, Path(folder), base, ())
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
