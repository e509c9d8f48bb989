# SPDX-License-Identifier: Apache-2.0
"""What the docs show is what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dglop.dgljob import DGLJob

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = sorted([_ROOT / "README.md", *_ROOT.glob("docs/*.md"), *_ROOT.glob("hack/*/README.md")])
_IDS = [str(page.relative_to(_ROOT)) for page in _PAGES]


def _blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("page", _PAGES, ids=_IDS)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text())
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", _PAGES, ids=_IDS)
def test_make_targets_that_are_named_exist(page: Path) -> None:
    makefile = (_ROOT / "Makefile").read_text()
    named = set(re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)`", page.read_text(), flags=re.MULTILINE))
    targets = {one or other for one, other in named}
    assert {each for each in targets if f"\n{each}:" not in makefile} == set()


def test_the_manifest_in_the_training_page_is_a_job() -> None:
    (block,) = _blocks(_ROOT / "docs" / "training.md", "yaml")
    job = DGLJob.from_wire(yaml.safe_load(block))
    assert job.spec.dgl_replica_specs["Worker"].replicas == 2


def test_the_table_of_what_goes_wrong_has_a_row_for_every_container_that_can_fail() -> None:
    page = (_ROOT / "docs" / "training.md").read_text()
    events = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ") and " | " in line]
    for container in ("trainer", "Partitioner", "Launcher", "init container"):
        assert any(container in event and "exits with" in event for event in events), container


def _without_blanks(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip())


@pytest.mark.parametrize("page", ["README.md", "docs/operator.md"])
def test_a_page_that_shows_the_greeting_example_shows_it_whole(page: str) -> None:
    block, example = _blocks(_ROOT / page, "python")[0], (_ROOT / "examples" / "greeting.py").read_text()
    _, shown, rest = example.partition(block)
    assert shown
    assert rest.strip() == "", "the end of it is missing"
    assert block.startswith(("from ", "import ")), "the imports are missing"


def test_the_kind_page_shows_the_example_of_a_kind() -> None:
    (block,) = _blocks(_ROOT / "docs" / "job-kind.md", "python")
    example = _without_blanks((_ROOT / "examples" / "torchjob.py").read_text())
    for part in _without_blanks(block).split("\nmanager."):
        assert part.removeprefix("manager.") in example
