# SPDX-License-Identifier: Apache-2.0
"""`dglop manifests`, on the operator of the quick start."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import yaml

from dglop.cli.main import main
from test.pages import ROOT

_HOME = ["--home", "website-system"]
_IMAGE = ["--image", "registry.example/website:1"]


@pytest.fixture(autouse=True)
def _in_its_folder(monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "quickstart")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "website", raising=False)
    yield
    sys.modules.pop("website", None)


def _printed(capsys, *words: str) -> list[dict[str, Any]]:
    assert main(["manifests", "website:manager", *words]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


def test_all_that_an_operator_needs_is_printed_in_order(capsys) -> None:
    made = _printed(capsys, *_HOME, *_IMAGE, "--replicas", "2", "--", "--leader-elect")
    kinds = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"]
    assert [each["kind"] for each in made] == [*kinds, "Role", "RoleBinding", "Deployment"]
    spec = made[-1]["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert (spec["replicas"], container["args"]) == (2, ["--leader-elect"])
    assert container["readinessProbe"] == {"httpGet": {"path": "/readyz", "port": "health"}}
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 40


def test_without_an_image_there_is_no_deployment_and_flags_narrow_the_rights(capsys) -> None:
    made = _printed(capsys, *_HOME, "--", "--namespace", "red")
    assert "Deployment" not in {each["kind"] for each in made}
    roles = [each["metadata"]["namespace"] for each in made if each["kind"] == "Role"]
    assert roles == ["red", "website-system"]
    assert not [each for each in made if each["kind"] == "ClusterRole"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["website", *_HOME], "should be MODULE:NAME"),
        (["web:manager", *_HOME], "there is no module web here"),
        (["website:boss", *_HOME], "boss"),
        (["website:WebsiteSpec.x", *_HOME], "WebsiteSpec"),
        (["website:manager", *_HOME, "--replicas", "2"], "leader election"),
        (["website:manager", *_HOME, "--", "--health-bind", "nowhere"], "health-bind"),
    ],
)
def test_a_wrong_command_line_is_told_in_a_sentence(words, problem, capsys) -> None:
    assert main(["manifests", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dglop manifests: ")
    assert problem in said
