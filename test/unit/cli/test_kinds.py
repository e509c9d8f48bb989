# SPDX-License-Identifier: Apache-2.0
"""Which kinds the program runs, and what each needs of the API server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from dglop.cli.kinds import KINDS, known_kinds, resource_class, rules_of
from dglop.cli.main import main
from dglop.cli.operator import assemble
from dglop.cli.settings import ProgramSettings
from dglop.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[3]


def _kinds_run(*words: str) -> list[str]:
    settings = ProgramSettings().with_flags(list(words), program="dglop operator")
    return [each.name for each in assemble(settings).controllers]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        ([], ["DGLJob"]),
        (["--kinds=PyTorchJob"], ["PyTorchJob"]),
        (["--kinds=dgljob,MPIJob"], ["DGLJob", "MPIJob"]),
        (["--kinds=DGLJob,PyTorchJob", "--kinds=DGLJob,MPIJob"], ["DGLJob", "PyTorchJob", "MPIJob"]),
    ],
)
def test_the_enabled_kinds_run_and_dgljob_alone_by_default(words: Sequence[str], kinds: list[str]) -> None:
    assert _kinds_run(*words) == [each.lower() for each in kinds]


def test_kinds_may_be_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGLOP_KINDS", "MPIJob, PyTorchJob")
    assert list(ProgramSettings.from_environment().kinds) == ["MPIJob", "PyTorchJob"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("TFJob,MPIJob", "there is no kind TFJob; name one or more of DGLJob, PyTorchJob, MPIJob"),
        (" , ", "no kind is named; name one or more of DGLJob, PyTorchJob, MPIJob"),
    ],
)
def test_a_kind_that_there_is_not_is_named(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match=said):
        known_kinds([words])
    assert main(["operator", f"--kinds={words}"]) == 2
    assert f"--kinds: {said}" in capsys.readouterr().err.replace("Value error, ", "")
    assert main(["crd", "--kinds", words]) == 2
    assert said in capsys.readouterr().err


def test_the_crds_of_the_named_kinds_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["crd", "--kinds=PyTorchJob,MPIJob"]) == 0
    printed = [each["metadata"]["name"] for each in yaml.safe_load_all(capsys.readouterr().out)]
    assert printed == ["pytorchjobs.kubeflow.org", "mpijobs.kubeflow.org"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_rights_to_its_own_jobs_and_to_no_others(kind: str) -> None:
    plural = resource_class(kind).resource.plural
    jobs = {each for rule in rules_of(kind) if "kubeflow.org" in rule.groups for each in rule.resources}
    assert jobs == {plural, f"{plural}/status", f"{plural}/finalizers"}


@pytest.mark.parametrize("kind", [each for each in KINDS if each != "DGLJob"])
def test_a_kind_that_is_enabled_may_be_suspended_and_resumed_with_the_component_for_queues(kind: str) -> None:
    folder = ROOT / "config" / "components" / "kueue"
    patches = yaml.safe_load((folder / "kustomization.yaml").read_text())["patches"]
    named = {each["target"]["name"]: each for each in patches}
    chosen = named[f"{kind.lower()}-manager-role"]
    assert chosen["target"]["kind"] == "(Cluster)?Role", "in the whole cluster, and in one namespace"
    (added,) = yaml.safe_load((folder / chosen["path"]).read_text())
    plural = resource_class(kind).resource.plural
    assert added["value"] == {"apiGroups": ["kubeflow.org"], "resources": [plural], "verbs": ["patch"]}
    for overlay in ("default", "namespaced"):
        text = (ROOT / "config" / overlay / "kustomization.yaml").read_text()
        assert text.index(f"components/{kind.lower()}") < text.index("components/kueue"), "it patches roles"


def test_a_pytorchjob_needs_nothing_but_pods_and_services() -> None:
    others = {each for rule in rules_of("PyTorchJob") if rule.groups == ("",) for each in rule.resources}
    assert others == {"pods", "services"}


def test_secrets_are_made_and_never_read() -> None:
    for kind in KINDS:
        verbs = {each for rule in rules_of(kind) if "secrets" in rule.resources for each in rule.verbs}
        assert verbs <= {"create"}
