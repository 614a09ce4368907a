"""Forks Python processes in which Scrapy and mmcrawl are imported already; see `tests.warm`.

Run as ``python warm_server.py SOCKET PID``; it ends, and removes the folder of the socket, when the
process with that id does.
"""

import atexit
import gc
import importlib
import marshal
import os
import pkgutil
import resource
import runpy
import select
import shutil
import signal
import socket
import sys
import threading
from pathlib import Path
from types import ModuleType

NOT_WARMED = ("mmcrawl.browse",)  # what these import not everyone has

Wanted = tuple[list[str], dict[str, str]]  # arguments and environment


def warm() -> None:
    """Import what crawls and commands are made of, and load what cuts Chinese and addresses."""
    from scrapy.settings import default_settings

    for value in vars(default_settings).values():
        for name in (*value, *value.values()) if isinstance(value, dict) else (value,):
            if isinstance(name, str) and name.startswith("scrapy."):
                importlib.import_module(name.rpartition(".")[0])
    for package in ("scrapy.commands", "mmcrawl"):
        folder = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folder, f"{package}."):
            if not module.name.startswith(NOT_WARMED):
                hasattr(importlib.import_module(module.name), "_")  # loads what is loaded when used
    from scrapy.cmdline import _get_commands_dict
    from scrapy.settings import Settings

    from mmcrawl.blocks import page_content, partition
    from mmcrawl.commands import crawl_workers
    from mmcrawl.commands.terminal import telling
    from mmcrawl.experiment import crawl
    from mmcrawl.store import child_process
    from mmcrawl.text import segment, translate_url
    from mmcrawl.topic import load_topic
    from tests.warm import starts_warm

    for module in (child_process, crawl, crawl_workers):  # they start processes themselves
        starts_warm(module, str(Path(sys.argv[1]).with_name("python")))
    telling._SHOWN_AFTER = 600.0  # on a busy machine any command takes long, and would say so
    segment("光学")
    translate_url("http://h.test/guangxue/")
    _get_commands_dict(Settings(), inproject=True)  # all subclasses are known from here on
    load_topic("physics-senior")  # the forms of its words are known too
    page = b"<title>Lens</title><p>A lens bends light.<ul><li><a href=1>Lenses</a></ul>"
    [block.kind for block in partition(page, url="http://h.test/").blocks]
    page_content(page, "http://h.test/").write("json")
    gc.freeze()  # so that no collection in a fork writes to, and so copies, what is shared


def serve(address: str) -> Wanted:
    """Fork for each client; return, in a new process, what it is to be."""
    minders: list[int] = []
    runner = os.pidfd_open(int(sys.argv[2]))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        while True:
            ready, _, _ = select.select([listening, runner], [], [])
            if runner in ready:
                shutil.rmtree(Path(address).parent)
                sys.exit()
            client, _ = listening.accept()
            minders.append(os.fork())
            if not minders[-1]:
                break
            client.close()
            minders = [one for one in minders if os.waitpid(one, os.WNOHANG) == (0, 0)]
    os.close(runner)
    return begin(client)


def begin(client: socket.socket) -> Wanted:
    """Return what the client wants in a process that has its files; another minds that one."""
    message, files, _, _ = socket.recv_fds(client, 1 << 16, 4)
    while len(message) < 8 or len(message) < 8 + int.from_bytes(message[:8]):
        message += client.recv(1 << 16)
    if child := os.fork():
        mind(client, child, files)
    client.close()
    os.fchdir(files[3])
    for number in range(3):
        os.dup2(files[number], number)
    for file in files:
        os.close(file)
    arguments, environment, limits = marshal.loads(message[8:])
    for kind, limit in limits:
        resource.setrlimit(kind, limit)
    return arguments, environment


def mind(client: socket.socket, child: int, files: list[int]) -> None:
    """Tell the client the process id and the end of a child, which a killed client takes along."""
    for file in (0, 1, 2, *files):
        os.close(file)
    ended = os.pidfd_open(child)
    client.sendall(child.to_bytes(8))
    killed = ended not in select.select([client, ended], [], [])[0]
    if killed:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not killed:
        client.sendall(status.to_bytes(8))
    os._exit(0)


def become(arguments: list[str], environment: dict[str, str]) -> None:
    """Do what ``python ARGUMENTS`` does in this environment."""
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    encoding, _, errors = environment.get("PYTHONIOENCODING", "").partition(":")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = open(  # noqa: SIM115 - lasts as long as the process
            number, "w" if number else "r", encoding=encoding or None, closefd=False
        )
        stream.reconfigure(
            errors=errors or ("backslashreplace" if name == "stderr" else "strict"),
            line_buffering=name == "stderr" or os.isatty(number),
            write_through=bool(environment.get("PYTHONUNBUFFERED")),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    try:
        run(arguments)
    except SystemExit as ended:
        code = ended.code or 0
        if not isinstance(code, int):
            raise
    else:
        code = 0
    threading._shutdown()  # waits for threads; all else that an interpreter does takes long
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code & 0xFF)


def run(arguments: list[str]) -> None:
    """Run a module, code, or a file."""
    match arguments:
        case ["-m", module, *rest]:
            search_first(os.getcwd())
            sys.argv = ["-m", *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ["-c", code, *rest]:
            search_first("")
            sys.argv = ["-c", *rest]
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), main.__dict__)
        case [script, *rest]:
            search_first(os.path.dirname(os.path.realpath(script)))
            sys.argv = [script, *rest]
            runpy.run_path(script, run_name="__main__")


def search_first(folder: str) -> None:
    """Have modules looked for first in a folder, and in those of ``PYTHONPATH``."""
    named = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.path[:] = [folder, *named, *INSTALLED]


if __name__ == "__main__":
    NAMED = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    INSTALLED = [path for path in sys.path[1:] if path not in NAMED]
    sys.path[:] = [os.getcwd(), *INSTALLED]
    warm()
    become(*serve(sys.argv[1]))
