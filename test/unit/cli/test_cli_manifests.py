# SPDX-License-Identifier: Apache-2.0
"""`dglop manifests`, on the operator of the quick start."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from dglop.cli.main import main
from test.pages import ROOT

if TYPE_CHECKING:
    from pathlib import Path

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
        (["website:", *_HOME], "should be MODULE:NAME"),
        (["web:manager", *_HOME], "there is no module web here; run this in the folder that has it"),
        (["website:boss", *_HOME], "website has no boss; it has website:manager"),
        (["website:WebsiteSpec", *_HOME], "no Manager but the class WebsiteSpec; it has website:manager"),
        (["website:Any", *_HOME], "website:manager"),
        (["website:parts_of", *_HOME], "made no Manager when it was called: TypeError: parts_of() missing"),
        (["./website.py:manager", *_HOME], "./website.py is a path, and a module is wanted: write website:m"),
        (["a/b.py", *_HOME], "write a.b:manager"),
        (["website:WebsiteSpec.x", *_HOME], "WebsiteSpec"),
        (["website:manager", *_HOME, "--replicas", "2"], "leader election"),
        (["website:manager", *_HOME, "--", "--health-bind", "nowhere"], "health-bind"),
        (["website:manager", "--home", "Bad_Name"], "--home: 'Bad_Name' cannot be a namespace"),
        (["website:manager", "--home", ""], "--home: '' cannot be a namespace"),
        (["website:manager", *_HOME, "--replicas", "-3"], "--replicas: -3 is no number of pods"),
        (["website:manager", *_HOME, "--image", "My Image"], "--image: 'My Image' cannot be an image"),
        (["website:manager", *_HOME, "--image", "a:1:2"], "--image: 'a:1:2' cannot be an image"),
    ],
)
def test_a_wrong_command_line_is_told_in_a_sentence(words, problem, capsys) -> None:
    assert main(["manifests", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dglop manifests: ")
    assert problem in said


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "mine has no manager; it has no Manager at its top"),
        ("manager = 1", "mine:manager is no Manager but a int; it has no Manager at its top"),
        ("import nowhere_to_be_found", "mine imports nowhere_to_be_found, which is not installed"),
        ("1 +", "mine cannot be imported: SyntaxError"),
        ("\nint('x')", "mine.py, line 2)"),
        ("raise SystemExit(0)", "mine ended the program while it was imported"),
        ("def manager():\n    raise OSError('no disk')", "OSError: no disk"),
        (
            "from dglop import Manager\nmanager = Manager(name='My Site')",
            "the Manager's name: 'My Site' cannot",
        ),
        ("from dglop import Manager\nmanager = Manager(name='a' * 64)", "the Manager's name: "),
    ],
)
def test_a_module_without_a_usable_manager_is_told_in_a_sentence(
    text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "mine.py").write_text(f"{text}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    importlib.invalidate_caches()
    assert main(["manifests", "mine:manager", *_HOME]) == 2
    sys.modules.pop("mine", None)
    said = capsys.readouterr()
    assert (said.out, problem in said.err) == ("", True), said.err


@pytest.mark.parametrize(
    "image",
    [
        "nginx",
        "nginx:1",
        "localhost:5000/a/b:c",
        "r.example/a__b/c@sha256:" + "0" * 64,
        "[::1]:5000/a:V1.0_x",
    ],
)
def test_every_name_that_an_image_can_have_is_taken(image: str, capsys) -> None:
    (container,) = _printed(capsys, *_HOME, "--image", image)[-1]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image
