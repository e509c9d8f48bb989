# SPDX-License-Identifier: Apache-2.0
"""Runs the Python blocks of one page, in order and in one namespace."""

from __future__ import annotations

import ast
import asyncio
import doctest
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from test.pages import ROOT, is_test

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from test.pages import Block

__all__ = ("PageRunner",)

_TEST_SECONDS = 100
_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class PageRunner:
    """
    A module in which the blocks of a page run, in the folder of the repository.

    A block may await, as in `python -m asyncio`. One with tests in it is a file that pytest runs.
    """

    def __init__(self, page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._module = ModuleType(f"page_{page.stem.replace('-', '_')}")
        monkeypatch.setitem(sys.modules, self._module.__name__, self._module)
        monkeypatch.chdir(ROOT)
        self._known = set(sys.modules)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in [each for each in sys.modules if each.partition(".")[0] == "dglrun"]:
            del sys.modules[name]

    @property
    def names(self) -> dict[str, Any]:
        """What the blocks have defined so far."""
        return vars(self._module)

    async def run(self, block: Block) -> None:
        """Run one block; raises what it raises, and AssertionError for other output than it shows."""
        if block.language == "pycon":
            self._compare(block)
        elif is_test(block):
            await self._test(block)
        else:
            await self._execute(block)

    async def _execute(self, block: Block) -> None:
        # A file, since classes read the strings behind their fields from their own source.
        path = self._folder / f"{self._module.__name__}_{block.line}.py"
        path.write_text(block.text)
        self._module.__file__ = str(path)
        code = compile(block.text, str(path), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, self.names)
        if asyncio.iscoroutine(result):
            await result

    def _compare(self, block: Block) -> None:
        said: list[str] = []
        shown = doctest.DocTestParser().get_doctest(
            block.text, self.names, str(block), str(block.page), block.line - 1
        )
        shown.globs = self.names  # its own copy would keep what it defines from the next block
        runner = doctest.DocTestRunner(optionflags=_OPTIONS)
        failed = runner.run(shown, out=said.append, clear_globs=False).failed
        assert not failed, "".join(said)

    async def _test(self, block: Block) -> None:
        path = self._folder / f"test_{self._module.__name__}_{block.line}.py"
        path.write_text(block.text)
        command = [sys.executable, "-m", "pytest", "-q", f"--rootdir={ROOT}", f"-c{ROOT / 'pyproject.toml'}"]
        command += ["-p", "dglop.testing.plugin"]  # what a conftest.py says otherwise
        process = await asyncio.create_subprocess_exec(
            *command, str(path), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        async with asyncio.timeout(_TEST_SECONDS):
            said, _ = await process.communicate()
        assert process.returncode == 0, f"{block}\n{said.decode()}"
