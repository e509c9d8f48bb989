# SPDX-License-Identifier: Apache-2.0
"""The page about webhooks shows a program that works, and flags that are there."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from dglop import Settings
from dglop.runtime.log import make_log
from dglop.runtime.webhook.admission import admit
from dglop.runtime.webhook.call import Surroundings
from dglop.testing.clock import ManualClock

from .admission_kinds import make_request
from .test_admission import no_client

PAGE = (Path(__file__).parents[4] / "docs" / "webhooks.md").read_text()


@pytest.fixture
def program(tmp_path, monkeypatch) -> Any:
    """The page's program as a module."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    file = tmp_path / "speeches.py"
    file.write_text(block)
    spec = spec_from_file_location("speeches", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "speeches", module)
    spec.loader.exec_module(module)
    return module


def wire(*words: str) -> dict[str, Any]:
    head = {"apiVersion": "example.dev/v1beta1", "kind": "Speech", "metadata": {"name": "hello"}}
    return {**head, "spec": {"words": list(words)}}


async def test_its_defaulter_and_validator_do_what_they_seem_to_do(program):
    around = Surroundings(no_client, ManualClock(), make_log(level="error"))
    mutating, validating = program.manager.webhooks.hooks.values()
    made = await admit(mutating.steps, make_request(obj=wire("hello")), around)
    assert made.patch == [{"op": "add", "path": "/spec/tone", "value": "kind"}]
    refused = await admit(validating.steps, make_request(obj=wire("fool")), around)
    assert (refused.allowed, refused.message) == (False, "spec.words: must be polite")
    shorter = make_request("UPDATE", wire("hello"), wire("hello", "all"))
    warned = await admit(validating.steps, shorter, around)
    assert (warned.allowed, warned.warnings) == (True, ["spec.words: a speech that gets shorter"])


def test_its_conversion_goes_there_and_back(program):
    (conversion,) = program.manager.webhooks.conversions.values()
    old = conversion.convert(wire("hello", "all"), "example.dev/v1alpha1")
    assert old["spec"] == {"text": "hello all"}
    assert conversion.convert(old, "example.dev/v1beta1")["spec"] == {"words": ["hello", "all"]}


def test_its_flags_are_settings():
    named = {flag.replace("-", "_") for flag in re.findall(r"--([a-z][a-z-]+)", PAGE)}
    assert len(named) >= 8
    assert named <= set(Settings.model_fields)
