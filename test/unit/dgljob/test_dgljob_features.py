# SPDX-License-Identifier: Apache-2.0
"""What depends on the API server's version, and what can never be changed."""

from __future__ import annotations

import pytest

from dglop.dgljob import DGLJob, DGLJobKind, KindOptions, Tokens
from dglop.dgljob.features import ServerFeatures, has_container_restarts
from dglop.runtime.api import crd_manifest
from dglop.runtime.client import Client, ClientConfig
from dglop.testing.scripted import ScriptedServer
from dglop.testing.scripted_replies import answer
from test.unit.dgljob.dgljob_world import World, make_job


def server_of(features: ServerFeatures):
    world = World(make_job(), DGLJobKind(KindOptions(Tokens(b"k" * 32), features=features)))
    world.settle()
    containers = world.pods["g-partitioner-0"]["spec"]["containers"]
    return world, next(each for each in containers if each["name"] == "dglrun-serve")


@pytest.mark.parametrize(
    ("version", "answer"),
    [
        (b'{"major": "1", "minor": "34"}', False),
        (b'{"major": "1", "minor": "35"}', True),
        (b'{"major": "1", "minor": "36+"}', True),
        (b'{"major": "2", "minor": "0"}', True),
        (b'{"major": "", "minor": ""}', False),
        (b"[]", False),
        (b"no JSON", False),
    ],
)
def test_containers_may_state_a_restart_policy_from_kubernetes_1_35_on(version, answer):
    assert has_container_restarts(version) is answer


def test_a_server_that_is_not_known_to_take_it_gets_no_restart_policy_of_a_container():
    assert "restartPolicy" not in server_of(ServerFeatures())[1]


def test_the_parts_server_is_started_again_where_the_api_server_knows_how():
    assert server_of(ServerFeatures(container_restarts=True))[1]["restartPolicy"] == "OnFailure"


def test_restarts_of_the_parts_server_do_not_use_up_the_backoff_limit():
    world, _ = server_of(ServerFeatures(container_restarts=True))
    world.job.spec.run_policy.backoff_limit = 0
    world.run("g-partitioner-0")
    for each in world.pods["g-partitioner-0"]["status"]["containerStatuses"]:
        each["restartCount"] = int(each["name"] == "dglrun-serve")
    world.settle()
    assert not world.job.status.is_true("Failed")
    assert world.job.status.restart_count == 0


def test_storage_and_dataset_can_never_be_changed():
    version = crd_manifest(DGLJob)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = version["properties"]["spec"]
    storage = [each["rule"] for each in spec["properties"]["storage"]["x-kubernetes-validations"]]
    assert "self == oldSelf" in storage
    rules = {each["message"]: each["rule"] for each in spec["x-kubernetes-validations"]}
    assert rules["dataset cannot be changed after creation"] == (
        "has(self.dataset) ? has(oldSelf.dataset) && self.dataset == oldSelf.dataset : !has(oldSelf.dataset)"
    )


@pytest.mark.scripted
async def test_the_version_is_read_from_the_server():
    features = ServerFeatures()
    async with ScriptedServer() as server, await Client.connect(ClientConfig(host=server.url)) as client:
        server.on(lambda seen: seen.path == "/version", answer({"major": "1", "minor": "35"}))
        await features.load(client)
    assert features.container_restarts
