"""`scrapy stick`: from a topic to a folder, and the same folder up to date."""

import json
import signal
from pathlib import Path
from queue import Queue
from subprocess import PIPE, STDOUT, Popen
from threading import Semaphore

import pytest

from tests.programs import run, started, typed
from tests.serving import Answer, Request, Server
from tests.waiting import HANG

PAGE = (
    '<html lang="zh"><meta charset="utf-8"><title>{0}</title><h1>{0}</h1><p>{0}演示，加速度与力'
    '</p><audio src="{1}.wav"></audio><a href="{2}.html">下一课</a>'
)
WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"


def test_one_command_makes_a_stick_and_brings_it_up_to_date(tmp_path: Path) -> None:
    site = tmp_path / "web" / "school.test"
    site.mkdir(parents=True)

    def add(number: int, title: str) -> None:
        (site / f"{number}.html").write_text(PAGE.format(title, number, number + 1), "utf-8")
        (site / f"{number}.wav").write_bytes(WAV + bytes([number]))

    def made() -> str:
        words = ("--topic", "高中物理", "--seeds", "my-seeds.txt", "--web", "web", "--out", "usb")
        done = typed("stick", *words, "-s", "DOWNLOAD_DELAY=0", folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        run("sha256sum", "-c", "--quiet", "SHA256SUMS", folder=tmp_path / "usb")
        return " ".join(done.stdout.split())

    def titles() -> set[str]:
        lines = (tmp_path / "usb" / "works.jsonl").read_text("utf-8").splitlines()
        return {json.loads(line)["title"] for line in lines}

    (tmp_path / "my-seeds.txt").write_text("http://school.test/1.html\n")
    add(1, "牛顿第二定律")
    add(2, "牛顿定律")
    (site / "2.html").write_text("<title>牛顿定律</title><embed src=2.wav><a href=3.html>3</a>")
    said = made()
    assert "On it: 1 work (1 audio" in said
    assert "Just below the threshold: 1 page with media" in said
    assert "Without a licence: 1 work" in said
    assert titles() == {"牛顿第二定律"}
    add(3, "自由落体运动")
    assert "On it: 2 works" in made()
    assert titles() == {"牛顿第二定律", "自由落体运动"}
    other = typed(
        "stick", "--topic", "高中物理", "--seeds", "my-seeds.txt", "--out", "web", folder=tmp_path
    )
    assert (other.returncode, "contains other files" in other.stderr) == (2, True)


@pytest.mark.processes
def test_stopped_in_the_crawl_and_in_the_downloads_the_same_command_goes_on(tmp_path: Path) -> None:
    asked, may_answer = Queue[str](), Semaphore(0)

    def answer(request: Request) -> Answer:
        number, _, ending = request.path.strip("/").partition(".")
        if not number.isdigit():
            return Answer(status=404)
        asked.put(f"{number}.{ending}")
        assert may_answer.acquire(timeout=HANG)
        if ending == "wav":
            return Answer(WAV + number.encode(), headers={"Content-Type": "audio/wav"})
        return Answer(PAGE.format(f"牛顿第二定律 {number}", number, int(number) % 3 + 1))

    def begun() -> Popen[str]:
        words = ("--topic", "高中物理", "--seeds", site.url("/1.html"), "--out", "usb")
        return started("stick", *words, folder=tmp_path, stdout=PIPE, stderr=STDOUT)

    def stopped_at(*names: str) -> None:
        """Stop it while it waits for the last of the files that it asks for."""
        with begun() as stick:
            for name in names[:-1]:
                assert asked.get(timeout=HANG) == name
                may_answer.release()
            assert asked.get(timeout=HANG).endswith(names[-1])
            stick.send_signal(signal.SIGINT)
            assert stick.stdout is not None
            said = []
            for line in stick.stdout:
                said.append(line)
                if "Closing spider (shutdown)" in line:
                    may_answer.release()
        assert stick.returncode == 130
        assert "the same command continues" in said[-1]

    with Server(answer) as site:
        stopped_at("1.html", "2.html")
        stopped_at("3.html", ".wav")
        may_answer.release(1_000)
        with begun() as stick:
            said = " ".join(stick.communicate(timeout=HANG)[0].split())
        assert (stick.returncode, "On it: 3 works (3 audio" in said) == (0, True), said
        pages = [path for path in site.asked if path in ("/1.html", "/2.html", "/3.html")]
        assert pages == ["/1.html", "/2.html", "/3.html"]
    run("sha256sum", "-c", "--quiet", "SHA256SUMS", folder=tmp_path / "usb")
