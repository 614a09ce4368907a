"""The process that runs scripts of strangers; the engine is loaded in no other one.

It can open neither files nor connections nor start processes, and has limits on memory and time.
Those of the engine do not hold for all of its functions (`"x".repeat(n).replaceAll("x", …)`), those
of the process do. Dates and random numbers are fixed: the same page gives the same moves.
"""

import faulthandler
import json
import sys
from contextlib import suppress
from importlib.resources import files
from typing import Any

from quickjs import Context, JSException

from mmcrawl.store.child_process import Questions

_MEMORY = 64 << 20  # bytes that the scripts of a page may take
_STACK = 256 << 10
_PROCESS_MEMORY = 512 << 20
_SECONDS = 0.3  # of the processor, for the scripts of a page in one visit
_PROCESS_SECONDS = 2.0  # for a page; then the process dies
_MOST_JOBS = 100  # of promises
_LONGEST_ANSWER = 1 << 21  # characters, more than `browser.js` finds: scripts may have changed it
_ALONE = {
    "agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)"
    " Chrome/140.0.0.0 Safari/537.36",
    "unknown": "missing", "framed": False, "width": 1920, "language": "en-US", "agrees": True,
}  # fmt: skip
_FRAMED = _ALONE | {
    "unknown": "anything", "framed": True, "width": 390, "language": "zh-CN", "agrees": False
}  # fmt: skip
_UNDEFINED = _ALONE | {"unknown": "nothing"}
_ERRORS = JSException, MemoryError, TypeError, ValueError
"""Of scripts; the last three if the last value of one is none for Python."""


def serve() -> None:
    """In the other process: answer with what scripts did, visit by visit."""
    browser = files(__package__).joinpath("browser.js").read_text("utf-8")
    questions = Questions()
    _lock_up()
    while True:
        (page, scripts), _ = questions.next()
        _end_after(_PROCESS_SECONDS)
        start = f"{browser};mmcrawl_browser.open({json.dumps(page)}, "
        framed, depends = _visit(start, _FRAMED, scripts)
        # Most pages ask for nothing that differs: the other visits would find the same.
        alone = _visit(start, _ALONE, scripts)[0] if depends else framed
        visits = [alone, framed]
        if alone != framed:  # what is unknown decides
            visits.append(_visit(start, _UNDEFINED, scripts)[0])
        questions.answer(visits)
        _end_after(0)


def _visit(start: str, visit: dict[str, Any], scripts: list[str]) -> tuple[str, bool]:
    """Run scripts in a new context; return JSON they may have tampered with, and if it varies."""
    context = Context()
    context.set_memory_limit(_MEMORY)
    context.set_max_stack_size(_STACK)
    context.set_time_limit(_SECONDS)
    for code in (f"{start}{json.dumps(visit)})", *scripts, "mmcrawl_browser.finish()"):
        with suppress(*_ERRORS):  # what it did before counts
            context.eval(code)
            jobs = 0
            while jobs < _MOST_JOBS and context.execute_pending_job():
                jobs += 1
    context.set_memory_limit(2 * _MEMORY)  # to say what was found
    with suppress(*_ERRORS):
        found, depends = map(context.eval, ("mmcrawl_browser.found()", "mmcrawl_browser.depends()"))
        if isinstance(found, str) and len(found) <= _LONGEST_ANSWER:
            return found, bool(depends)
    return "[[], []]", True


def _end_after(seconds: float) -> None:
    """End this process after so many seconds, of the processor where they are told; 0: never."""
    if sys.platform != "win32":
        from signal import ITIMER_PROF, setitimer

        setitimer(ITIMER_PROF, seconds)
    elif seconds:
        faulthandler.dump_traceback_later(seconds, exit=True)
    else:
        faulthandler.cancel_dump_traceback_later()


def _lock_up() -> None:
    """Take from this process whatever it could do harm with."""
    if sys.platform != "win32":
        from resource import RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC, setrlimit

        with suppress(OSError, ValueError):  # macOS refuses it; the engine has a limit of its own
            setrlimit(RLIMIT_AS, (_PROCESS_MEMORY, _PROCESS_MEMORY))
        for nothing in (RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_NPROC):
            setrlimit(nothing, (0, 0))
