"""Commands that the browser starts end with it, however it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mmcrawl.browse import Problem, programs
from tests.waiting import HANG, until

pytestmark = pytest.mark.processes

# A browser that begins a command, says its number, and waits.
_BROWSER = """
import sys, time
from pathlib import Path
from mmcrawl.browse import programs
words = ["shell", "-c", "__import__('time').sleep(300)"]
command = programs.Command().begin(words, Path(sys.argv[1]))
print(command.pid, flush=True)
time.sleep(300)
"""


@pytest.fixture(scope="module")
def warm_programs() -> None:
    """What is started is to be what stands in `programs`."""


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"  # one that nobody waits for


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_command_ends_when_the_browser_is_killed(tmp_path: Path) -> None:
    browser = subprocess.Popen(
        [sys.executable, "-c", _BROWSER, str(tmp_path / "said")], stdout=subprocess.PIPE
    )
    assert browser.stdout is not None
    command = int(browser.stdout.readline())
    assert is_alive(command)
    browser.send_signal(signal.SIGKILL)
    browser.communicate()
    until(lambda: not is_alive(command))


def test_a_command_is_interrupted_once_and_says_nothing_of_it(tmp_path: Path) -> None:
    words = ["shell", "-c", "__import__('time').sleep(300)"]
    command = programs.Command().begin(words, tmp_path / "said")
    assert command.runs
    assert not command.is_ending
    command.end()
    command.end()
    assert command.is_ending
    programs.Programs({"": command}).close()
    assert command.returncode == 130
    assert "Traceback" not in (tmp_path / "said").read_text()


def test_one_more_than_may_run_is_refused_until_one_has_ended_by_itself(tmp_path: Path) -> None:
    command = programs.Command().begin(["version"], tmp_path / "said")
    begun = programs.Programs(dict.fromkeys(range(4), command))
    with pytest.raises(Problem) as caught:
        begun.require_room()
    assert caught.value.values == {"most": 4}
    assert command.wait(HANG) == 0
    assert not command.runs
    begun.require_room()


def test_a_command_that_is_ready_says_what_it_is_told_to_and_ends_if_it_is_told_nothing(
    tmp_path, monkeypatch
):
    ready = programs.Command("scrapy.commands.crawl")
    assert ready.begin(["version"], tmp_path / "said", whole=True).wait(HANG) == 0
    assert (tmp_path / "said").read_text().startswith("Scrapy ")
    idle = programs.Command()
    assert idle.is_ready
    monkeypatch.setattr(programs, "_MARGIN", programs._IDLE)
    late = programs.Command()  # about to end by itself
    assert late.runs
    assert not late.is_ready
    late.end()
    idle.end()
    assert idle.wait(HANG) == 0
