"""Every pattern of the code, and texts that make a pattern slow, derived from its parse tree."""

import ast
import dataclasses
import functools
import importlib
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

from mmcrawl.text import greedy, linear

__all__ = ["Attack", "Found", "attacks", "patterns_of", "possessive_groups", "seconds"]

_ROOT = Path(__file__).resolve().parents[2]
_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_MODULE_FLAGS = {"re.compile", "linear"}
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_UNBOUNDED = 1_000  # repeated more often than this, a pattern is as slow as without a bound
_PROBES = " >\n\u3000aAs019-_./:;,\"'<>=&#([{|\\!?+*@%$\0é中，"
_BRANCHES = 3
_UNITS = 7
_Node = tuple[Any, Any]


class Found(NamedTuple):
    """A pattern of the code: where it stands, and the methods that are called on it."""

    pattern: re.Pattern[Any]
    where: str
    methods: frozenset[str]


class Attack(NamedTuple):
    """A text: something to begin with, what is repeated, and an end on which no match is left."""

    begin: str
    unit: str
    end: str

    def text(self, size: int, pattern: re.Pattern[Any]) -> Any:
        """Return the text of about `size` characters, in the type that the pattern reads."""
        text = f"{self.begin}{self.unit * (size // len(self.unit))}{self.end}"
        return text.encode("latin-1", "ignore") if isinstance(pattern.pattern, bytes) else text


def patterns_of(package: str) -> Iterator[Found]:
    """Yield the patterns of a package's modules: kept in a module, or compiled where it runs."""
    modules = [_Module(path) for path in sorted((_ROOT / package).rglob("*.py"))]
    calls: dict[str, set[str]] = {}
    for module in modules:
        for name, method in module.method_calls():
            calls.setdefault(module.known_as(name), set()).add(method)
    for module in modules:
        seen = set()
        for name, pattern in module.kept():
            seen.add((pattern.pattern, pattern.flags))
            methods = calls.get(module.known_as(name), ())
            yield Found(pattern, f"{module.name}:{name}", frozenset(methods))
        for line, method, pattern in module.compiled():
            if (pattern.pattern, pattern.flags) not in seen:
                yield Found(pattern, f"{module.name}:{line}", frozenset([method]))


def possessive_groups(package: str) -> Iterator[str]:
    """Yield where a package repeats groups possessively without `linear`."""
    for path in sorted((_ROOT / package).rglob("*.py")):
        for node in _nodes(path):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called[:3] != "re." or called[3:] not in _CALLS:
                continue
            for text in ast.walk(node.args[0]):  # type: ignore[attr-defined]
                pattern = text.value if isinstance(text, ast.Constant) else ""
                if isinstance(pattern, str | bytes) and greedy(pattern) != pattern:
                    yield f"{path.relative_to(_ROOT)}:{text.lineno}"


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    """Return a module's syntax tree and all that is in it."""
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


class _Module:
    def __init__(self, path: Path) -> None:
        self.name = ".".join(path.relative_to(_ROOT).with_suffix("").parts)
        self.name = self.name.removesuffix(".__init__")
        self._nodes = _nodes(path)
        self._module: ModuleType = importlib.import_module(self.name)

    def known_as(self, name: str) -> str:
        return f"{self.name}:{name}" if name.startswith("_") else name

    def method_calls(self) -> Iterator[tuple[str, str]]:
        """Yield the names on which methods of patterns are called, or that are handed on."""
        called = set()
        for node in self._nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if isinstance(node.func.value, ast.Name) and node.func.attr in _CALLS:
                called.add(id(node.func.value))
                yield node.func.value.id, node.func.attr
        for node in self._nodes:
            is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if is_read and id(node) not in called:
                yield node.id, "finditer"  # nobody knows what it is used for

    def kept(self) -> Iterator[tuple[str, re.Pattern[Any]]]:
        own = {
            target.id
            for node in self._nodes[0].body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for name in sorted(own):
            for pattern in _reach(getattr(self._module, name, None)):
                yield name, pattern

    def compiled(self) -> Iterator[tuple[int, str, re.Pattern[Any]]]:
        for node in self._nodes:
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            if name != "linear" and (name[:3] != "re." or name[3:] not in _CALLS):
                continue
            flags = [key.value for key in node.keywords if key.arg == "flags"]
            if name in _MODULE_FLAGS:
                flags += node.args[1:2]
            try:
                pattern, *given = (self._value(part) for part in (node.args[0], *flags))
            except NameError:
                continue  # made of what a function is given: it is kept, or escaped
            if isinstance(pattern, str | bytes):
                compiled = (linear if name == "linear" else re.compile)(pattern, *given)
                method = name[3:] if name not in _MODULE_FLAGS else "finditer"
                yield node.lineno, method, compiled

    def _value(self, node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), self.name, "eval"), vars(self._module))


def _reach(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value of a module: in tuples, tables, records."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict) and depth < 5:
        yield from _reach([*value, *value.values()], depth + 1)
    elif isinstance(value, tuple | list | set | frozenset) and depth < 5:
        for some in value:
            yield from _reach(some, depth + 1)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 5:
        for field in dataclasses.fields(value):
            yield from _reach(getattr(value, field.name, None), depth + 1)


def attacks(pattern: re.Pattern[Any]) -> list[Attack]:
    """Return texts of what a pattern repeats, and of what it begins with."""
    raw = isinstance(pattern.pattern, bytes)
    tree = parser.parse(pattern.pattern, pattern.flags & ~(re.UNICODE if raw else 0))
    texts = _Texts(bool(pattern.flags & re.DOTALL), 128 if raw else 0x110000)
    found: dict[Attack, None] = {}
    for begin, body, rest in texts.repeats(tree, ""):
        units = [texts.sample(body, branch) for branch in range(_BRANCHES)]
        if len(body) == 1:
            accepted = texts.accepted(body[0])
            units += [accepted[:2], *accepted]
        after = texts.sample(rest, 0)
        for unit in [*dict.fromkeys(filter(None, units))][:_UNITS]:
            for attack in (
                Attack(begin, unit, ""),
                Attack(begin, unit, "\0"),
                Attack("", begin + unit, ""),
                Attack("", begin + unit + after, ""),
            ):
                found[attack] = None
    return list(found)


class _Texts:
    """Texts that parts of a parse tree match."""

    def __init__(self, dot_all: bool, limit: int) -> None:
        self._dot_all = dot_all
        self._limit = limit
        self._groups: dict[int, str] = {}

    def accepted(self, node: _Node) -> str:
        """Return which of some characters a node matches that matches one character."""
        kind, value = node
        if kind is op.LITERAL:
            return chr(value)
        if kind is op.NOT_LITERAL:
            return "".join(c for c in self._probes() if ord(c) != value)
        if kind is op.ANY:
            return "".join(c for c in self._probes() if c != "\n" or self._dot_all)
        if kind is not op.IN:
            return ""
        wide = "".join(
            chr(v) if k is op.LITERAL else chr(v[0])
            for k, v in value
            if k is op.LITERAL or k is op.RANGE
        )
        negated = value[0][0] is op.NEGATE
        return "".join(
            c
            for c in self._probes() + ("" if negated else wide)
            if any(_holds(k, v, c) for k, v in value) != negated
        )

    def _probes(self) -> str:
        return "".join(c for c in _PROBES if ord(c) < self._limit)

    def sample(self, nodes: Iterable[_Node], branch: int) -> str:
        """Return a short text that nodes match; of alternatives, one."""
        text = ""
        for kind, value in nodes:
            if kind in _REPEATS:
                text += self.sample(value[2], branch) * value[0]
            elif kind is op.SUBPATTERN:
                self._groups[value[0]] = part = self.sample(value[3], branch)
                text += part
            elif kind is op.ATOMIC_GROUP:
                text += self.sample(value, branch)
            elif kind is op.BRANCH:
                text += self.sample(value[1][branch % len(value[1])], branch)
            elif kind is op.ASSERT and value[0] < 0:
                text += self.sample(value[1], branch)
            elif kind is op.GROUPREF:
                text += self._groups.get(value, "")
            else:
                text += self.accepted((kind, value))[:1]
        return text

    def repeats(
        self, nodes: Iterable[_Node], begin: str
    ) -> Iterator[tuple[str, list[_Node], list[_Node]]]:
        """Yield what is repeated without a bound, with a text before it and the nodes behind."""
        nodes = list(nodes)
        for index, (kind, value) in enumerate(nodes):
            inner: list[Any] = []
            if kind in _REPEATS:
                inner = [value[2]]
                if value[1] >= _UNBOUNDED:
                    yield begin, list(value[2]), nodes[index + 1 :]
            elif kind is op.SUBPATTERN:
                inner = [value[3]]
            elif kind is op.ATOMIC_GROUP:
                inner = [value]
            elif kind is op.BRANCH:
                inner = list(value[1])
            elif kind in (op.ASSERT, op.ASSERT_NOT):
                inner = [value[1]]
            for one in inner:
                yield from self.repeats(one, begin)
            begin += self.sample([(kind, value)], 0)


def _holds(kind: Any, value: Any, character: str) -> bool:
    if kind is op.LITERAL:
        return ord(character) == value
    if kind is op.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if kind is not op.CATEGORY:
        return False
    letter = {"SPACE": "s", "WORD": "w", "DIGIT": "d"}[str(value).rpartition("_")[2]]
    return (
        re.match(f"\\{letter.upper() if '_NOT_' in str(value) else letter}", character) is not None
    )


def seconds(found: Found, text: Any, times: int, patience: float) -> float:
    """Return the least processor time of reading a text; infinity if it takes too long."""
    least = inf
    for _ in range(times):
        try:
            with _alarm(patience):
                start = time.process_time()
                _read(found, text)
                least = min(least, time.process_time() - start)
        except TimeoutError:
            return inf
    return least


def _read(found: Found, text: Any) -> None:
    if found.methods and found.methods <= {"match", "fullmatch"}:
        for method in found.methods:
            getattr(found.pattern, method)(text)
    elif found.methods == {"search"}:
        found.pattern.search(text)
    else:
        for _ in found.pattern.finditer(text):
            pass


@contextmanager
def _alarm(processor_seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, processor_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
