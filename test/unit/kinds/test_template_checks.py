# SPDX-License-Identifier: Apache-2.0
"""The base looks at the templates of every kind, so that none has to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from dglop.common import ReplicaSpec
from dglop.common.rules import exactly_one
from dglop.testing import Simulation, pod_template
from dglop.testing.toyjob import ToyJob, ToyJobKind, ToyJobSpec
from examples.torchjob import TorchJob, TorchJobKind, TorchJobSpec

if TYPE_CHECKING:
    from collections.abc import Sequence


class MainKind(ToyJobKind):
    """A kind with a container that all templates must have, and a look at it."""

    main: ClassVar[str] = "trainer"

    def validate(self, job: ToyJob) -> Sequence[str]:
        raise AssertionError(f"{job.name} has a template that cannot be read")


def _failure(world: Simulation[Any]) -> str:
    world.settle()
    failed = world.status.get("Failed")
    assert (failed.reason, world.pods) == ("InvalidSpec", {})
    return str(failed.message)


def test_a_template_of_another_form_ends_the_job_and_the_path_is_that_of_the_manifest() -> None:
    template = pod_template()
    template["spec"]["containers"][0]["env"] = ["A=b"]
    spec = TorchJobSpec(master=ReplicaSpec(template=template))
    message = _failure(Simulation(TorchJob(name="g", spec=spec), TorchJobKind()))
    assert message == "master.template.spec.containers[0].env must be a list of objects"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (
            pod_template("main"),
            "spec.containers must have one named trainer, which decides; there are: main",
        ),
        ({"spec": {}}, "spec.containers must have one named trainer, which decides; there are: none"),
        ({"spec": []}, "spec must be an object with containers"),
    ],
)
def test_a_kind_is_not_asked_about_a_template_without_its_main_container(
    template: dict[str, Any], said: str
) -> None:
    spec = ToyJobSpec(replica_specs={"Worker": ReplicaSpec(template=template)})
    world = Simulation(ToyJob(name="g", spec=spec), MainKind())
    assert _failure(world) == f"replicaSpecs.Worker.template.{said}"


def test_the_main_container_of_a_kind_is_the_one_that_its_pods_name() -> None:
    template = pod_template("sidecar")
    template["spec"]["containers"].append({"name": "trainer", "image": "registry.example/t:1"})
    spec = ToyJobSpec(replica_specs={"worker": ReplicaSpec(template=template)})

    class Quiet(MainKind):
        """One that finds nothing wrong."""

        def validate(self, job: ToyJob) -> Sequence[str]:
            return ()

    world = Simulation(ToyJob(name="g", spec=spec), Quiet())
    world.settle()
    annotations = world.pod()["metadata"]["annotations"]
    assert annotations["kubectl.kubernetes.io/default-container"] == "trainer"


def test_a_role_that_must_be_there_once_has_a_rule_for_the_crd() -> None:
    assert (
        exactly_one("specs", "Master").rule == "'Master' in self.specs && self.specs['Master'].replicas == 1"
    )
    assert exactly_one("specs", "Master", optional=True).rule.startswith("!('Master' in self.specs) || ")
