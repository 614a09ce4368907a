"""A small subset of JavaScript: what a page's scripts do at once, as far as strings decide it.

Nothing of a page runs: its syntax tree (tree-sitter) is walked. Values are Python's: strings,
numbers, lists, dictionaries (objects), `Function` (of a script), callables (of the browser), and
`UNKNOWN` for everything else. A loop repeats while its condition is known, otherwise it is walked
once. If a condition is unknown, both branches are walked. The number of nodes walked is limited.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Final

import re2
import tree_sitter_javascript
from cssselect import SelectorError
from lxml.etree import LxmlError
from tree_sitter import Language, Node, Parser

from mmcrawl.page.scripts.javascript_values import (
    LONGEST,
    UNKNOWN,
    Either,
    Function,
    Regex,
    Scope,
    result,
    text_of,
    truth,
    type_of,
)

_NOT_UNDERSTOOD = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError,
    ValueError, LxmlError, SelectorError, re2.error,
)  # fmt: skip
_MOST_NODES = 5_000
_DEEPEST = 60
_MOST_CALLS = 14  # in one another: a countdown from ten
_SIDES = ["consequence", "alternative"]
_END: Final = object()
_OTHERWISE: Final = object()
_CONSTANTS = {"true": True, "false": False, "null": None, "undefined": None}


class _EnoughError(Exception):
    """More was walked than is worth it."""


class Evaluator:
    """Walks the scripts of one page, one after another; what one defines the next one knows.

    Args:
        window: the global names.
        member: returns a member of a value by its name.

    Attributes:
        is_certain: whether what is done now is done in every browser.
    """

    def __init__(self, window: dict[str, Any], member: Callable[[Any, Any], Any]) -> None:
        self._window, self._member = window, member
        self._parser = Parser(_language())
        self._left = _MOST_NODES
        self._depth = self._calls = 0
        self.is_certain = True

    def run(self, code: str) -> None:
        """Walk a script."""
        tree = self._parser.parse(code.encode("utf-8", "replace"))
        self._walk(lambda: self._block(tree.root_node.named_children, Scope(self._window)))

    def begin(self, function: Any) -> None:
        """Call a function from outside of all scripts."""
        self._walk(lambda: self.call(function, [UNKNOWN]))

    def _walk(self, steps: Callable[[], object]) -> None:
        with suppress(_EnoughError):
            self._tried(steps)

    def _tried(self, steps: Callable[[], Any]) -> Any:
        before = self.is_certain, self._depth, self._calls
        try:
            return steps()
        except _NOT_UNDERSTOOD:  # values that no browser would have there
            return UNKNOWN
        finally:
            self.is_certain, self._depth, self._calls = before

    @contextmanager
    def perhaps(self, *, doubt: bool = True) -> Iterator[None]:
        """Treat moves inside this block as moves that not every browser makes."""
        before = self.is_certain
        self.is_certain = before and not doubt
        yield
        self.is_certain = before

    def call(self, function: Any, arguments: Sequence[Any] = (), this: Any = None) -> Any:
        """Call a function, or walk code given as a string; return the result if it is known."""
        if isinstance(function, str):
            self.run(function)
        if self._calls >= _MOST_CALLS or not (isinstance(function, Function) or callable(function)):
            return UNKNOWN
        if not isinstance(function, Function):
            return self._tried(lambda: function(*arguments))
        own = {"return": UNKNOWN} | ({} if this is None else {"this": this})
        scope = function.scope.new_child(own)
        given = function.node.child_by_field_name("parameters")
        names = given.named_children if given else function.node.children_by_field_name("parameter")
        self._bind_all(names, arguments, scope)
        self._calls += 1
        with self.perhaps(doubt=False):
            for body in function.node.children_by_field_name("body"):
                if body.type == "statement_block":
                    self._block(body.named_children, scope)
                else:
                    scope["return"] = self.value(body, scope)
        self._calls -= 1
        return scope["return"]

    # -- statements

    def _block(self, nodes: Iterable[Node], scope: Scope) -> str:
        """Walk statements; return how they ended: return, throw, break, continue or ""."""
        nodes = list(nodes)
        for node in nodes:
            if node.type == "function_declaration":
                scope[_source(node.child_by_field_name("name"))] = Function.of(node, scope)
        return next((end for node in nodes if (end := self._statement(node, scope))), "")

    def _statement(self, node: Node, scope: Scope) -> str:  # noqa: PLR0911
        match node.type:
            case "if_statement":
                return self._if(node, scope)
            case "return_statement":
                value = self.value(_inner(node), scope)
                next((one for one in scope.maps if "return" in one), {})["return"] = value
                return "return"
            case "throw_statement" | "break_statement" | "continue_statement":
                return node.type.partition("_")[0]
            case "switch_statement":
                return self._switch(node, scope)
            case "variable_declaration" | "lexical_declaration":
                for one in node.named_children:
                    name, value = (one.child_by_field_name(field) for field in ("name", "value"))
                    if value is not None:
                        self._bind(name, self.value(value, scope), scope)
            case "class_declaration":
                scope[_source(node.child_by_field_name("name"))] = self._class(node, scope)
            case "comment" | "html_comment" | "function_declaration" | "catch_clause":
                return ""
            case "for_statement" | "for_in_statement" | "while_statement" | "do_statement":
                return self._loop(node, scope)
            case name if name.endswith(("_statement", "_clause", "statement_block", "ERROR")):
                return self._block(node.named_children, scope)
            case _:
                self.value(node, scope)
        return ""

    def _loop(self, node: Node, scope: Scope) -> str:
        """Walk a loop as often as it is known to go round, else once."""
        body, condition, before, after, left, right = map(
            node.child_by_field_name,
            ("body", "condition", "initializer", "increment", "left", "right"),
        )
        if before is not None:
            self._statement(before, scope)
        through = self.value(right, scope)
        steps = iter(through if isinstance(through, list | dict | str) else [UNKNOWN])
        is_first = True
        while True:
            self._count()
            holds = True if condition is None else truth(self.value(condition, scope))
            is_done = holds is False and not (is_first and node.type == "do_statement")
            if is_done or (left is not None and (step := next(steps, _END)) is _END):
                return ""
            if left is not None:
                self._bind(left, step, scope)
            with self.perhaps(doubt=through is UNKNOWN):
                end = self._block([body] if body is not None else [], scope)
            if end in ("return", "throw"):
                return end
            if end == "break" or not (holds or left) or through is UNKNOWN:
                return ""
            self.value(after, scope)
            is_first = False

    def _switch(self, node: Node, scope: Scope) -> str:
        value = self.value(node.child_by_field_name("value"), scope)
        body = node.child_by_field_name("body")
        cases = body.named_children if body is not None else []
        named = [one.child_by_field_name("value") for one in cases]
        values = [_OTHERWISE if one is None else self.value(one, scope) for one in named]
        if UNKNOWN in (value, *values):
            with self.perhaps():
                for case in cases:
                    self._block(case.children_by_field_name("body"), scope)
            return ""
        found = value if value in values else _OTHERWISE
        walked = cases[values.index(found) :] if found in values else []
        ends = (self._block(one.children_by_field_name("body"), scope) for one in walked)
        end = next(filter(None, ends), "")
        return "" if end == "break" else end

    def _bind_all(self, names: Iterable[Node], values: Sequence[Any], scope: Scope) -> None:
        for place, name in enumerate(names):
            if name.type == "rest_pattern":
                self._bind(_inner(name), list(values[place:]), scope)
            else:
                self._bind(name, values[place] if place < len(values) else None, scope)

    def _bind(self, name: Node | None, value: Any, scope: Scope) -> None:
        """Bind names to values, as in a declaration or the parameters of a function."""
        if name is None:
            return
        match name.type:
            case "array_pattern":
                self._bind_all(name.named_children, value if isinstance(value, list) else (), scope)
            case "object_pattern":
                for one in name.named_children:
                    key = one.child_by_field_name("key") or one.child_by_field_name("left") or one
                    target = one.child_by_field_name("value") or one
                    self._bind(target, self._member(value, _source(key)), scope)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = (name.child_by_field_name(side) for side in ("left", "right"))
                given = self.value(right, scope) if value is None else value
                self._bind(left, given, scope)
            case _:
                scope[_source(name)] = value

    def _class(self, node: Node, scope: Scope) -> Function:
        body = node.child_by_field_name("body")
        methods = self._methods(body.named_children if body is not None else [], scope)
        start = methods.get("constructor")
        return Function(start.node if start else node, scope, {"prototype": methods} | methods)

    def _methods(self, nodes: Iterable[Node], scope: Scope) -> dict[str, Function]:
        made = (one for one in nodes if one.type == "method_definition")
        return {_source(one.child_by_field_name("name")): Function.of(one, scope) for one in made}

    def _if(self, node: Node, scope: Scope) -> str:
        holds = truth(self.value(node.child_by_field_name("condition"), scope))
        then, other = (node.child_by_field_name(name) for name in ("consequence", "alternative"))
        if holds is not None:
            taken = then if holds else other
            return "" if taken is None else self._block([taken], scope)
        with self.perhaps():
            ended = [self._block([one], scope) for one in (then, other) if one is not None]
        if any(ended) and self._calls:  # what follows depends on it
            self.is_certain = False
        return ended[0] if len(ended) > 1 and all(ended) else ""

    # -- expressions

    def value(self, node: Node | None, scope: Scope) -> Any:
        """Return the value of an expression."""
        if node is None:
            return None
        self._count()
        self._depth += 1
        made = self._value(node, scope)
        self._depth -= 1
        return UNKNOWN if isinstance(made, str | list) and len(made) > LONGEST else made

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0 or self._depth > _DEEPEST:
            raise _EnoughError

    def _value(self, node: Node, scope: Scope) -> Any:  # noqa: PLR0911, PLR0912
        match node.type:
            case "string" | "template_string":
                return self._string(node, scope)
            case "identifier":
                return scope.get(_source(node), UNKNOWN)
            case "true" | "false" | "null" | "undefined":
                return _CONSTANTS[node.type]
            case "this":
                return scope.get("this", self._window)
            case "number":
                number = _source(node)
                return float(number) if "." in number else int(number, 0)
            case "array":
                return [self.value(one, scope) for one in node.named_children]
            case "parenthesized_expression" | "await_expression" | "expression_statement":
                return self.value(_inner(node), scope)
            case "sequence_expression":
                return [self.value(one, scope) for one in node.named_children][-1]
            case "binary_expression":
                return self._binary(node, scope)
            case "unary_expression":
                value = self.value(node.child_by_field_name("argument"), scope)
                operator = node.children[0].type
                if operator == "typeof":
                    return type_of(value)
                if operator == "-" and isinstance(value, int | float):
                    return -value
                return UNKNOWN if operator != "!" or value is UNKNOWN else not truth(value)
            case "ternary_expression":
                holds = truth(self.value(node.child_by_field_name("condition"), scope))
                sides = _SIDES if holds is None else _SIDES[:1] if holds else _SIDES[1:]
                with self.perhaps(doubt=holds is None):
                    made = [self.value(node.child_by_field_name(name), scope) for name in sides]
                    return made[0] if holds is not None else Either(*made)
            case "assignment_expression" | "augmented_assignment_expression" | "update_expression":
                return self._assign(node, scope)
            case "member_expression" | "subscript_expression":
                return self._member(*self._place(node, scope))
            case "call_expression" | "new_expression":
                return self._call(node, scope)
            case "regex":
                return Regex(*(_source(node.child_by_field_name(x)) for x in ("pattern", "flags")))
            case "object":
                pairs = [[*one.named_children] for one in node.named_children if one.type == "pair"]
                own = {_source(key).strip("'\""): self.value(one, scope) for key, one in pairs}
                short = filter(lambda one: one.type.startswith("shorthand"), node.named_children)
                named = {_source(one): scope.get(_source(one), UNKNOWN) for one in short}
                return self._methods(node.named_children, scope) | own | named
            case "function_expression" | "arrow_function":
                return Function.of(node, scope)
            case "class":
                return self._class(node, scope)
        return UNKNOWN

    def _string(self, node: Node, scope: Scope) -> Any:
        pieces = [
            text_of(self.value(_inner(one), scope))
            if one.type == "template_substitution"
            else _written(one)
            for one in node.named_children
        ]
        return UNKNOWN if UNKNOWN in pieces else "".join(pieces)

    def _binary(self, node: Node, scope: Scope) -> Any:
        operator = _source(node.child_by_field_name("operator"))
        left = self.value(node.child_by_field_name("left"), scope)
        if operator in ("&&", "||", "??"):
            holds = truth(left)
            if holds is not None and holds is not (operator == "&&"):
                return left
            with self.perhaps(doubt=holds is None):
                right = self.value(node.child_by_field_name("right"), scope)
            # What is false on one side is false whatever the other is.
            certain = holds is None and truth(right) is (operator != "&&")
            return right if holds is not None or certain else UNKNOWN
        return result(operator, left, self.value(node.child_by_field_name("right"), scope))

    def _assign(self, node: Node, scope: Scope) -> Any:
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        value = self.value(node.child_by_field_name("right"), scope)
        if left is None:
            return UNKNOWN
        if left.type in ("member_expression", "subscript_expression"):
            owner, name = self._place(left, scope)
        else:
            name = _source(left)
            owner = next((one for one in scope.maps if name in one), self._window)
        if node.type != "assignment_expression":  # n++ counts up before it is read
            operator = _source(node.child_by_field_name("operator"))
            more = 1 if operator in ("++", "--") else value
            value = result(operator[0], self._member(owner, name), more)
        owner = owner.members if isinstance(owner, Function) else owner
        if isinstance(owner, dict):
            owner[name] = value
        elif isinstance(owner, list) and isinstance(name, int) and 0 <= name <= len(owner):
            owner[name : name + 1] = [value]
        return value

    def _place(self, node: Node, scope: Scope) -> tuple[Any, Any]:
        """Return whose property is meant, and which."""
        owner = self.value(node.child_by_field_name("object"), scope)
        if node.type == "member_expression":
            return owner, _source(node.child_by_field_name("property"))
        return owner, self.value(node.child_by_field_name("index"), scope)

    def _call(self, node: Node, scope: Scope) -> Any:
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        owner: Any = None
        name: Any = ""
        if callee is not None and callee.type in ("member_expression", "subscript_expression"):
            owner, name = self._place(callee, scope)
            function = self._member(owner, name)
        else:
            function = self.value(callee, scope)
        given = node.child_by_field_name("arguments")
        arguments = [self.value(one, scope) for one in given.named_children] if given else []
        if callable(owner) or isinstance(owner, Function):
            match name:
                case "bind":
                    return owner
                case "call" | "apply":
                    this, *rest = arguments or [None]
                    more = rest[0] if name == "apply" and rest else rest
                    return self.call(owner, more if isinstance(more, list) else [UNKNOWN], this)
        if node.type == "new_expression" and isinstance(function, Function):
            made = dict(function.members["prototype"])
            if function.node.type != "class_declaration":  # it has no constructor of its own
                self.call(function, arguments, made)
            return made
        is_code = isinstance(function, str)
        return UNKNOWN if is_code else self.call(function, arguments, _plain_object(owner))


@cache
def _language() -> Language:
    return Language(tree_sitter_javascript.language())


def _plain_object(owner: Any) -> Any:
    return owner if isinstance(owner, dict) else None


def _source(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text else ""


def _inner(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _written(node: Node) -> str:
    """Return the value of a piece of a literal."""
    text = _source(node)
    if node.type != "escape_sequence" or text[1:2] not in "xunrtbfv":
        return text.lstrip("\\").strip("\r\n") if node.type == "escape_sequence" else text
    return text.encode().decode("unicode_escape")
