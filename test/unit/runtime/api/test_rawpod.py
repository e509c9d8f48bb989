# SPDX-License-Identifier: Apache-2.0
"""RawPod changes what it is told to and leaves the rest as the user wrote it."""

import copy
from typing import Any

import pytest

from dglop.errors import SchemaError
from dglop.runtime.api import RawPod


def template() -> dict[str, Any]:
    return {
        "metadata": {"labels": {"a": 1}, "unknown": True},
        "spec": {
            "newField": {"x": [1, None]},
            "containers": [
                {
                    "name": "main",
                    "image": "img",
                    "command": ["run", 5],
                    "env": [{"name": "USER_SET", "value": 1}, {"name": "FLAG", "value": True}],
                    "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 0.5}},
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm/"}],
                }
            ],
        },
    }


def test_reading_changes_nothing_that_is_there() -> None:
    given = template()
    pod = RawPod(copy.deepcopy(given))
    assert pod.container("main").env.get("USER_SET") == "1"
    assert pod.has_mount("/dev/shm")
    assert pod.init_containers == []
    assert pod.data == given


def test_a_user_variable_is_kept_where_that_is_asked_for() -> None:
    main = RawPod(template()).container()
    main.env.set("USER_SET", "2", keep_user=True)
    main.env.set("FLAG", "no")
    main.env.set("POD", {"fieldRef": {"fieldPath": "metadata.name"}})
    assert main.env.get("USER_SET") == "1"
    assert main.env.get("FLAG") == "no"
    assert main.env.names == ["USER_SET", "FLAG", "POD"]
    assert main.env.get("POD", "unset") == "unset"


def test_volumes_mounts_and_ports_are_added_once() -> None:
    pod = RawPod(template())
    for _ in range(2):
        pod.volume("data", {"emptyDir": {}})
        pod.container().mount("data", "/data", read_only=True, sub_path="x")
        pod.container().add_port("http", 80)
    pod.container().mount("data", "/dev/shm")
    assert pod.volumes == [{"name": "data", "emptyDir": {}}]
    assert pod.container().mounts[1:] == [
        {"name": "data", "mountPath": "/data", "readOnly": True, "subPath": "x"}
    ]
    assert pod.container().ports == [{"name": "http", "containerPort": 80, "protocol": "TCP"}]


def test_numbers_that_the_api_wants_as_text_become_text_in_a_copy() -> None:
    given = template()
    normal = RawPod(given).normalised()
    main = normal.container("main")
    assert main.resources["limits"] == {"nvidia.com/gpu": "1", "cpu": "0.5"}
    assert [each["value"] for each in main.data["env"]] == ["1", "true"]
    assert main.command == ["run", "5"]
    assert normal.labels == {"a": "1"}
    assert normal.spec["newField"] == {"x": [1, None]}
    assert given == template()


def test_an_init_container_can_go_before_all_others_and_replaces_its_namesake() -> None:
    pod = RawPod({"spec": {"initContainers": [{"name": "a"}, {"name": "b"}]}})
    pod.add_init_container({"name": "b", "image": "new"}, first=True)
    assert [each.data for each in pod.init_containers] == [{"name": "b", "image": "new"}, {"name": "a"}]


def test_an_unknown_container_is_reported_with_those_there_are() -> None:
    with pytest.raises(SchemaError, match="no container named 'x'; there are: main"):
        RawPod(template()).container("x")
    with pytest.raises(SchemaError, match="none has the index 3"):
        RawPod(template()).container(3)


@pytest.mark.parametrize("spec", [{"containers": "x"}, {"containers": [1]}, {"containers": {"a": 1}}])
def test_a_part_of_the_wrong_shape_is_a_sentence_and_no_crash(spec: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"spec\.containers"):
        RawPod({"spec": spec}).normalised()
