# SPDX-License-Identifier: Apache-2.0
"""Every code block of the documentation is tried: Python is run, commands name what is there."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hack.zipapp import build_zipapp
from test.blockrunner import PageRunner
from test.pages import (
    PAGES,
    PYTHON,
    ROOT,
    SHELL,
    Block,
    blocks,
    commands,
    inline_code,
    unknown,
    unpasteable,
    with_blocks,
)
from test.shellcheck import mistakes

if TYPE_CHECKING:
    from pathlib import Path


_REPL = "python -m asyncio"


def _id(page: Path) -> str:
    return str(page.relative_to(ROOT))


_PASTED = [page for page in PAGES if any(_REPL in each for each in inline_code(page))]


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_a_page_has_no_block_that_no_test_tries(page: Path) -> None:
    assert unknown(page) == []


@pytest.mark.parametrize("page", with_blocks(*PYTHON), ids=_id)
async def test_the_python_of_a_page_runs_as_it_stands(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a job's pod `dglrun` is there; here it is where the operator's image has it from.
    monkeypatch.syspath_prepend(str(build_zipapp(tmp_path / "dglrun.pyz")))
    with PageRunner(page, tmp_path, monkeypatch) as runner:
        for block in blocks(page, *PYTHON):
            if block.flag != "cluster":
                await runner.run(block)


@pytest.mark.parametrize("page", _PASTED, ids=_id)
def test_the_python_of_a_page_that_is_to_be_pasted_can_be(page: Path) -> None:
    assert [problem for block in blocks(page, "python") if (problem := unpasteable(block))] == []


def test_the_recipes_are_pasted_into_the_repl_and_none_fails() -> None:
    page = ROOT / "docs" / "recipes.md"
    assert page in _PASTED
    pasted = "\n".join(f"{block.text}\n" for block in blocks(page, "python"))
    command = [sys.executable, "-m", "asyncio"]
    done = subprocess.run(command, input=pasted, capture_output=True, text=True, check=False, timeout=100)
    said = done.stdout + done.stderr
    assert "rooms.example.dev" in said, "the last recipe that runs"
    unwanted = [line for line in said.splitlines() if "Traceback" in line or '"error"' in line]
    assert [line for line in unwanted if "ForbiddenError" not in line] == [], (
        "but for the fault of one recipe"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def f():\n    a = 1\n\n    return a\n", "unexpected indent: return a"),
        ("def f():\n    return 1\nx = 1\n", "invalid syntax: x = 1"),
        ('x = (1,\n\n 2)\nasync def f():\n    """One.\n\n    Two."""\n\n\nawait f()\n', ""),
        ("x = (1,\n", "its end is missing"),
    ],
)
def test_what_a_repl_of_lines_would_not_take_is_found(text: str, problem: str) -> None:
    found = unpasteable(Block(ROOT / "docs" / "recipes.md", 1, "python", "", text))
    assert problem in found
    assert bool(found) is bool(problem)


@pytest.mark.parametrize("page", with_blocks(*SHELL), ids=_id)
def test_what_the_commands_of_a_page_name_is_there(page: Path) -> None:
    lines = [line for block in blocks(page, *SHELL) for line in commands(block)]
    assert lines
    assert [each for line in lines for each in mistakes(line)] == []


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_what_the_commands_within_sentences_name_is_there(page: Path) -> None:
    programs = ("make ", "python ", ".venv/bin/python ", "dglop ", "kubectl ")
    # Of alternatives, such as `up | down`, the first one stands for all.
    lines = [code.partition(" | ")[0] for code in inline_code(page) if code.startswith(programs)]
    # A command's bare name, such as `kubectl explain`, is a word of the sentence and no command to type.
    lines = [line for line in lines if not (line.startswith("kubectl ") and len(line.split()) == 2)]
    assert [each for line in lines for each in mistakes(line)] == []


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        ("make demmo", "there is no target demmo"),
        ("A=b make test unitt  # comment", "there is no target unitt"),
        ("python -m hack.nothing", "there is no module hack.nothing"),
        (".venv/bin/python examples/greetings.py", "there is no file examples/greetings.py"),
        ("cd docs && python examples/greeting.py --install-crd", "install-crd"),
        ("dglop crd | kubectl apply -k config/nothing", "there is no config/nothing"),
        ("python -m dglop operate", "dglop has no command operate"),
        ("kubectl annotate --all kopf.zalando.org/last-handled-configuration-", "is not told of what"),
        ("kubectl label pods a", "is told no change"),
        ("kubectl delete pod", "is not told of what"),
        ("kubectl apply config/default", "needs -f or -k"),
        ("kubectl gte pods", "no test knows what kubectl gte does"),
        ("frobnicate", "no test knows what frobnicate is"),
    ],
)
def test_a_command_that_names_what_is_not_there_is_found(line: str, mistake: str) -> None:
    (found,) = mistakes(line)
    assert mistake in found


def test_a_fence_of_another_kind_and_indented_code_are_found(tmp_path: Path) -> None:
    page = ROOT / "docs" / "training.md"
    strange = tmp_path / "page.md"
    strange.write_text("```python later\nx\n```\n\n```ruby\nx\n```\n\nText\n\n    indented = 1\n")
    assert unknown(page) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("test.pages.ROOT", tmp_path)
        assert unknown(strange) == ["page.md:2: python later", "page.md:6: ruby", "page.md:11: indented code"]
