# SPDX-License-Identifier: Apache-2.0
"""Expressions of the Common Expression Language, as far as rules of CRDs commonly go.

There are no types before an expression is asked, and no timestamps, durations, quantities, addresses or URLs.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dglop.testing.memory.celnodes import (
    absorbing,
    binary,
    call,
    comprehension,
    field,
    maybe_field,
    operation,
    truth,
    variable,
)
from dglop.testing.memory.celvalues import FUNCTIONS, METHODS, OPERATORS, member, present

if TYPE_CHECKING:
    from dglop.testing.memory.celnodes import Node

__all__ = ("CelSyntaxError", "compile_cel")

_TOKENS = re.compile(
    r"""\s*(?:
      (?P<text>r?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    | (?P<number>0x[0-9a-fA-F]+u?|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+u?)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<sign>\.\?|\[\?|&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])
    )""",
    re.VERBOSE,
)
_LEVELS = (("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
_MACROS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
_RESERVED = re.compile(r"__([a-z]+)__")


class CelSyntaxError(Exception):
    """The text is no expression, or one that goes further than this evaluator."""


@lru_cache(maxsize=1024)
def compile_cel(text: str) -> Node:
    """The expression as a function of its variables; that raises CelError. Raises CelSyntaxError."""
    parser = _Parser(text)
    node = parser.ternary()
    parser.expect("")
    return node


class _Parser:
    """Reads an expression from its tokens, each step one level of precedence."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0

    def ternary(self) -> Node:
        condition = self._either()
        if not self._take("?"):
            return condition
        yes = self._either()
        self.expect(":")
        no = self.ternary()
        return lambda names: yes(names) if truth(condition(names)) else no(names)

    def expect(self, sign: str) -> None:
        if not self._take(sign):
            found = self._tokens[self._at][1] or "the end"
            raise CelSyntaxError(f"{found!r} where {sign or 'the end'!r} was expected")

    def _take(self, *signs: str) -> str | bool:
        """The next token if it is one of *signs*, which is then behind us; "" is the end."""
        kind, text = self._tokens[self._at]
        if text not in signs or kind == "text":
            return False
        self._at += 1
        return text or True

    def _either(self) -> Node:
        node = self._both()
        while self._take("||"):
            node = absorbing(node, self._both(), decides=True)
        return node

    def _both(self) -> Node:
        node = self._binary(0)
        while self._take("&&"):
            node = absorbing(node, self._binary(0), decides=False)
        return node

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._binary(level + 1)
        while sign := self._take(*_LEVELS[level]):
            node = operation(str(sign), node, self._binary(level + 1))
        return node

    def _unary(self) -> Node:
        if self._take("!"):
            node = self._unary()
            return lambda names: not truth(node(names))
        if self._take("-"):
            number = self._unary()
            return lambda names: OPERATORS["-"](number(names) * 0, number(names))
        return self._members(self._primary())

    def _members(self, node: Node) -> Node:
        while sign := self._take(".", ".?", "["):
            if sign == "[":
                node = binary(member, node, self.ternary())
                self.expect("]")
                continue
            name = self._name()
            if sign == ".?":
                node = maybe_field(node, name)
            elif self._take("("):
                node = self._method(node, name)
            else:
                node = field(node, name)
        return node

    def _primary(self) -> Node:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "text":
            value = ast.literal_eval(text)
            return lambda _: value
        if kind == "number":
            number = float(text) if re.search(r"[.]|^\d+[eE]", text) else int(text.rstrip("u"), 0)
            return lambda _: number
        if kind == "name":
            return self._named(text)
        if text == "(":
            node = self.ternary()
            self.expect(")")
            return node
        if text == "[":
            items = self._list("]")
            return lambda names: [each(names) for each in items]
        if text == "{":
            return self._map()
        raise CelSyntaxError(f"{text or 'the end'!r} where a value was expected")

    def _named(self, name: str) -> Node:
        if name in _WORDS:
            word = _WORDS[name]
            return lambda _: word
        if not self._take("("):
            return lambda names: variable(names, name)
        if name == "has":
            return self._has()
        function = FUNCTIONS.get(name)
        if function is None:
            raise CelSyntaxError(f"there is no function {name}() here")
        return call(function, self._list(")"))

    def _has(self) -> Node:
        start = self._at
        node = self._primary()
        while self._take("."):
            name = self._name()
            if self._take(")"):
                return lambda names: present(node(names), name)
            node = field(node, name)
        found = "".join(text for _, text in self._tokens[start : self._at + 1])
        raise CelSyntaxError(f"has({found}: it needs a field")

    def _method(self, node: Node, name: str) -> Node:
        if name in _MACROS:
            return self._macro(node, name)
        method = METHODS.get(name)
        if method is None:
            raise CelSyntaxError(f"there is no function .{name}() here")
        return call(method, [node, *self._list(")")])

    def _macro(self, node: Node, name: str) -> Node:
        variables = [self._name()]
        self.expect(",")
        kind, text = self._tokens[self._at]
        if kind == "name" and self._tokens[self._at + 1][1] == "," and name not in {"map", "filter"}:
            variables.append(text)
            self._at += 2
        parts = self._list(")")
        if len(parts) != 1 and not (name == "map" and len(parts) == 2):
            raise CelSyntaxError(f"{name}() has {len(parts)} expressions")
        return comprehension(node, name, variables, parts)

    def _list(self, end: str) -> list[Node]:
        found: list[Node] = []
        while not self._take(end):
            found.append(self.ternary())
            if not self._take(","):
                self.expect(end)
                break
        return found

    def _map(self) -> Node:
        pairs: list[tuple[Node, Node]] = []
        while not self._take("}"):
            key = self.ternary()
            self.expect(":")
            pairs.append((key, self.ternary()))
            if not self._take(","):
                self.expect("}")
                break
        return lambda names: {key(names): value(names) for key, value in pairs}

    def _name(self) -> str:
        kind, text = self._tokens[self._at]
        if kind != "name":
            raise CelSyntaxError(f"{text or 'the end'!r} where a name was expected")
        self._at += 1
        for escape, meant in _ESCAPES.items():
            text = text.replace(escape, meant)
        return _RESERVED.sub(r"\1", text)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKENS.match(text, at)
        if match is None:
            raise CelSyntaxError(f"it is not understood from {text[at : at + 20]!r} on")
        found.append((match.lastgroup or "", match.group(match.lastgroup or 0)))
        at = match.end()
    return [*found, ("end", "")]
