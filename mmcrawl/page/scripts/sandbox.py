"""The process that runs scripts of strangers; the engine is loaded in no other one.

It can open neither files nor connections nor start processes, and has limits on memory and time.
Those of the engine do not hold for all of its functions (`"x".repeat(n).replaceAll("x", …)`), those
of the process do. Dates and random numbers are fixed: the same page gives the same moves.
"""

import json
import sys
from contextlib import suppress
from importlib.resources import files
from signal import ITIMER_VIRTUAL, setitimer
from typing import Any

from quickjs import Context, JSException

from mmcrawl.store.child_process import Questions

_MEMORY = 64 << 20  # bytes that the scripts of a page may take
_STACK = 256 << 10
_PROCESS_MEMORY = 512 << 20
_SECONDS = 0.3  # of the processor, for the scripts of a page in one visit
_PROCESS_SECONDS = 2.0  # for a page; then the process dies
_MOST_JOBS = 100  # of promises
_ALONE = {
    "agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36",
    "unknown": "missing", "framed": False, "width": 1920, "language": "en-US", "agrees": True,
}  # fmt: skip
_FRAMED = _ALONE | {
    "unknown": "anything", "framed": True, "width": 390, "language": "zh-CN", "agrees": False
}  # fmt: skip
_VISITS = (_ALONE, _FRAMED, _ALONE | {"unknown": "nothing"})


def serve() -> None:
    """In the other process: answer with what scripts did, visit by visit."""
    browser = files(__package__).joinpath("browser.js").read_text("utf-8")
    questions = Questions()
    _lock_up()
    while True:
        (page, scripts), _ = questions.next()
        if sys.platform != "win32":
            setitimer(ITIMER_VIRTUAL, _PROCESS_SECONDS)  # when it is over, the process ends
        start = f"{browser};mmcrawl_browser.open({json.dumps(page)}, "
        visits = [_visit([f"{start}{one})", *scripts]) for one in map(json.dumps, _VISITS[:2])]
        if visits[0] != visits[1]:  # what is unknown decides
            visits.append(_visit([f"{start}{json.dumps(_VISITS[2])})", *scripts]))
        questions.answer(visits)
        if sys.platform != "win32":
            setitimer(ITIMER_VIRTUAL, 0)


def _visit(scripts: list[str]) -> Any:
    """Run scripts in a new context; return moves and what was written."""
    context = Context()
    context.set_memory_limit(_MEMORY)
    context.set_max_stack_size(_STACK)
    context.set_time_limit(_SECONDS)
    for code in (*scripts, "mmcrawl_browser.finish()"):
        # What it did before counts. The last value of a script need not be one for Python.
        with suppress(JSException, TypeError):
            context.eval(code)
            jobs = 0
            while jobs < _MOST_JOBS and context.execute_pending_job():
                jobs += 1
    context.set_memory_limit(2 * _MEMORY)  # to say what was found
    return json.loads(context.eval("mmcrawl_browser.found()"))


def _lock_up() -> None:
    """Take from this process whatever it could do harm with."""
    if sys.platform != "win32":
        from resource import RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, setrlimit

        setrlimit(RLIMIT_AS, (_PROCESS_MEMORY, _PROCESS_MEMORY))
        for nothing in (RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC):
            setrlimit(nothing, (0, 0))
