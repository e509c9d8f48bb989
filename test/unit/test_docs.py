# SPDX-License-Identifier: Apache-2.0
"""What the docs show is what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dglop.dgljob import DGLJob
from dglop.dgljob.validation import problems

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


@pytest.mark.parametrize("block", _blocks(_ROOT / "docs" / "training.md", "yaml"))
def test_a_manifest_in_the_training_page_is_a_job_that_can_run(block: str) -> None:
    job = DGLJob.from_wire(yaml.safe_load(block))
    assert job.spec.dgl_replica_specs["Worker"].replicas == 2
    assert problems(job) == []


def test_the_table_of_what_goes_wrong_has_a_row_for_every_container_that_can_fail() -> None:
    page = (_ROOT / "docs" / "training.md").read_text()
    events = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ") and " | " in line]
    for container in ("trainer", "Partitioner", "Launcher", "init container"):
        assert any(container in event and "exits with" in event for event in events), container


@pytest.mark.parametrize(
    ("page", "language", "example"),
    [
        ("README.md", "python", "greeting.py"),
        ("docs/operator.md", "python", "greeting.py"),
        ("docs/job-kind.md", "python", "torchjob.py"),
        ("docs/job-kind.md", "yaml", "torchjob.yaml"),
        ("docs/quick-start.md", "python", "quickstart/website.py"),
        ("docs/quick-start.md", "yaml", "quickstart/home.yaml"),
        ("docs/testing.md", "python", "test_torchjob.py"),
        ("docs/kinds.md", "python", "xgboostjob.py"),
        ("docs/kinds.md", "yaml", "xgboostjob.yaml"),
    ],
)
def test_a_page_that_shows_an_example_shows_it_whole(page: str, language: str, example: str) -> None:
    file = (_ROOT / "examples" / example).read_text()
    block = next(each for each in _blocks(_ROOT / page, language) if each in file)
    before, shown, rest = file.partition(block)
    assert shown
    assert rest.strip() == "", "the end of it is missing"
    hidden = [line for line in before.splitlines() if line and not line.startswith(("#", '"""'))]
    assert hidden == [], "the imports are missing"
