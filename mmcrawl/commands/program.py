"""`mmcrawl`: the commands without a Scrapy project; and commands that load when they are called.

To run one command, Scrapy imports and instantiates all of them, which costs half a second of CPU
for ours. So each module of this package is an empty stand-in until a name of it is used, and
instead of each `Command` Scrapy sees a `Later` that becomes one.
"""

import os
import sys
from argparse import Namespace
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from os.path import join
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NoReturn


def main() -> None:
    """Run a command of Scrapy's with the settings of mmcrawl.

    `mmcrawl crawl` is `scrapy crawl focused`, and `mmcrawl revisit` is `scrapy crawl revisit`; all
    else is as with `scrapy`, whatever project the folder belongs to. What needs no Scrapy does not
    import it: `mmcrawl blocks --format md FILE` is done before Scrapy would have been loaded.
    """
    try:
        _run()
    except KeyboardInterrupt:  # while it is loaded, or all is done
        print("mmcrawl: stopped", file=sys.stderr)
        sys.exit(130)


def _run() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        print("mmcrawl: the folder you are in was deleted; go to another one", file=sys.stderr)
        sys.exit(2)
    if sys.argv[1:2] == ["blocks"] and any(word.startswith("--format") for word in sys.argv):
        from mmcrawl.commands.terminal.extraction import run

        code = run(sys.argv[2:])
        if code is not None:
            sys.exit(code)
    _execute(sys.argv[1:])


def _execute(words: list[str]) -> None:
    """Run a command of Scrapy's, which says `mmcrawl` wherever Scrapy would say `scrapy`."""
    from scrapy import cmdline

    from mmcrawl.text.writing import as_called

    class Parser(cmdline.ScrapyArgumentParser):
        def __init__(self, *, usage: str, **rest: Any) -> None:
            super().__init__(usage=as_called(usage), **rest)

        def format_help(self) -> str:
            return as_called(super().format_help())

        def error(self, message: str) -> NoReturn:
            super().error(as_called(message))

    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "mmcrawl.settings")
    cmdline.ScrapyArgumentParser = Parser  # type: ignore[assignment,misc]
    cmdline.print = lambda *parts: print(*map(as_called, parts))  # type: ignore[attr-defined]
    if words[:1] == ["revisit"]:
        words = ["crawl", *words]
    elif words == ["help", "crawl"]:
        words = ["help", "focused"]
    cmdline.execute([sys.argv[0], *words])


class _Module(ModuleType):
    """A module, with a `Later` if it is that of a command."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "__dict__" and "Later" not in found:  # Scrapy looks for commands there
            command = self.__name__.removeprefix(f"{__package__}.")
            summary = sys.modules[__package__].SUMMARIES.get(command)
            if summary is not None and "scrapy.commands" in sys.modules:
                found["Later"] = _later(self.__name__, summary)
        return found

    def __getattr__(self, name: str) -> Any:
        if name == "Later" and name in vars(self):
            return vars(self)[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class _Unloaded(_Module):
    """A module that is loaded, in place, when one of its names is read or set."""

    def __getattr__(self, name: str) -> Any:
        if name == "Later" or name.startswith("__"):  # the latter to see what it is
            return super().__getattr__(name)
        self._load()
        return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("__"):
            self._load()
        ModuleType.__setattr__(self, name, value)

    def _load(self) -> None:
        self.__class__ = _Module  # type: ignore[assignment]
        parent = sys.modules[self.__name__.rpartition(".")[0]]
        spec = PathFinder.find_spec(self.__name__, parent.__path__)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self.__name__} is gone")
        vars(self).update(vars(module_from_spec(spec)))
        spec.loader.exec_module(self)


def _later(module: str, summary: str) -> type:
    from scrapy.commands import ScrapyCommand

    class Later(ScrapyCommand):
        """Becomes a command when it is called; the syntax is what Scrapy asks for first."""

        requires_project = True

        def syntax(self) -> str:
            self.__class__ = import_module(module).Command
            return self.syntax()

        def short_desc(self) -> str:
            return summary

        def run(self, args: list[str], opts: Namespace) -> None:
            raise NotImplementedError  # it has become another by then

    Later.__module__ = module
    return Later


def load_when_used(package: ModuleType, folder: str) -> None:
    """Make the modules of a package, and of its subpackages, load on first use."""
    for _, name, is_package in iter_modules([folder]):
        module = _Unloaded(f"{package.__name__}.{name}")
        if module.__name__ in sys.modules:
            continue
        sys.modules[module.__name__] = module
        vars(package)[name] = module
        if is_package:
            module.__path__ = [join(folder, name)]
            load_when_used(module, join(folder, name))
