# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation, and the code blocks in them."""

from __future__ import annotations

import ast
import codeop
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

__all__ = (
    "PAGES",
    "ROOT",
    "Block",
    "blocks",
    "commands",
    "inline_code",
    "is_test",
    "unknown",
    "unpasteable",
    "with_blocks",
)

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("hack/*/README.md"), *ROOT.glob("*/README.md")]
)
PYTHON = ("python", "pycon")
SHELL = ("", "sh", "console")
_KINDS = {
    "python": {"", "cluster"},  # `cluster`: run against a real API server
    "pycon": {""},
    "yaml": {""},
    "sh": {""},
    "console": {""},
    "": {""},
}
"""Fences that the tests know how to try, and what may stand behind their language."""


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: `line` is where its text begins, from 1."""

    page: Path
    line: int
    language: str
    flag: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def _tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text())


def blocks(page: Path, *languages: str) -> list[Block]:
    """The fenced blocks of a page, in order; of these languages alone, if any are named."""
    return [each for each in _blocks(page) if not languages or each.language in languages]


def _blocks(page: Path) -> Iterator[Block]:
    for token in _tokens(page):
        if token.type == "fence":
            language, _, flag = token.info.strip().partition(" ")
            yield Block(page, (token.map or [0])[0] + 2, language, flag.strip(), token.content)


def with_blocks(*languages: str) -> list[Path]:
    """The pages that have blocks of these languages."""
    return [page for page in PAGES if blocks(page, *languages)]


def unknown(page: Path) -> list[str]:
    """The blocks of a page that no test tries: fences of other kinds, and indented code."""
    strange = [
        f"{each}: {each.language} {each.flag}".rstrip()
        for each in blocks(page)
        if each.flag not in _KINDS.get(each.language, ())
    ]
    indented = [token for token in _tokens(page) if token.type == "code_block"]
    lines = [(token.map or [0])[0] + 1 for token in indented]
    return [*strange, *(f"{page.relative_to(ROOT)}:{line}: indented code" for line in lines)]


def inline_code(page: Path) -> list[str]:
    """What stands between single backticks on a page."""
    inside = [child for token in _tokens(page) for child in token.children or ()]
    return [child.content for child in inside if child.type == "code_inline"]


def commands(block: Block) -> list[str]:
    """The command lines of a shell block: those after `$`, if it shows a session, else all."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console" or any(line.startswith("$ ") for line in lines):
        return [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip()]


def is_test(block: Block) -> bool:
    """Whether a block is a test module, for pytest to run."""
    if block.language != "python":
        return False
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    body = compile(block.text, str(block), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT).body
    return any(isinstance(each, functions) and each.name.startswith("test_") for each in body)


def unpasteable(block: Block) -> str:
    """Why the block cannot be pasted into the REPL of `python -m asyncio`; "" where it can.

    Before Python 3.13 it reads line by line: a blank line ends a body, and only a blank line does.
    """
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    held: list[str] = []
    for number, line in enumerate([*block.text.splitlines(), ""]):
        held.append(line)
        try:
            code = compiler("\n".join(held))
        except SyntaxError as problem:
            return f"{block.page.relative_to(ROOT)}:{block.line + number}: {problem.msg}: {line.strip()}"
        if code is not None:
            held = []
    return f"{block}: its end is missing" if any(held) else ""
