"""Imports in the `__init__.py` of a package that load a module only when a name of it is needed."""

import builtins
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import Any, NamedTuple

_ONE_AT_A_TIME = Lock()


class _Home(NamedTuple):
    module: str
    name: str


class _Homes(ModuleType):
    """Stands for a module that is not loaded yet."""

    def __getattr__(self, name: str) -> _Home:
        return _Home(self.__name__, name)


@contextmanager
def lazy_imports(package: str) -> Iterator[None]:
    """Make each `from MODULE import NAME` in the block lazy, like `lazy from` of Python 3.15.

    Type checkers and editors see ordinary imports. Where a submodule has the name of a function in
    the block, the package's attribute is the function.

    Args:
        package: `__name__` of the package in whose `__init__.py` the block stands.
    """
    face = sys.modules[package]
    names = vars(face)
    homes: dict[str, _Home] = {}

    def look_up(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if globals is not names or not fromlist or level:  # of another thread, or not lazy
            return ordinary(name, globals, locals, fromlist, level)
        return _Homes(name)

    class Face(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name not in homes:
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            # Not kept: a test that patches the module for a while would have its patch kept.
            return getattr(import_module(homes[name].module), homes[name].name)

        def __setattr__(self, name: str, value: object) -> None:
            if name not in homes or not isinstance(value, ModuleType):
                super().__setattr__(name, value)

    with _ONE_AT_A_TIME:
        ordinary = builtins.__import__
        builtins.__import__ = look_up
        try:
            yield
        finally:
            builtins.__import__ = ordinary
    homes.update((name, home) for name, home in names.items() if isinstance(home, _Home))
    for name in homes:
        del names[name]
    face.__class__ = Face
