# SPDX-License-Identifier: Apache-2.0
"""What the containers of a job are told, and whether the kubelet or dglrun tells them."""

from __future__ import annotations

import pytest

from test.unit.dgljob.dgljob_pods import container, env, pods, variables, worker_of, workers
from test.unit.dgljob.dgljob_world import UID, make_job


def test_a_worker_is_told_who_it_is_and_how_many_there_are():
    job = make_job(slotsPerWorker=2, numServers=3, numSamplers=4, network={"masterPort": 1234})
    found = env(container(pods(job)["worker-1"]))
    wanted = {
        "DGLJOB_NAME": "g", "DGLJOB_NAMESPACE": "t", "DGLJOB_UID": UID, "DGLJOB_ATTEMPT": "1",
        "DGLJOB_REPLICA_TYPE": "Worker", "DGLJOB_REPLICA_INDEX": "1", "DGLJOB_NUM_WORKERS": "2",
        "DGLJOB_NUM_PARTS": "2", "DGLJOB_NUM_TRAINERS": "2", "DGLJOB_NUM_SERVERS": "3",
        "DGLJOB_NUM_SAMPLERS": "4", "DGLJOB_RENDEZVOUS_HOST": "g-worker-0.g.t.svc",
        "DGLJOB_RENDEZVOUS_TIMEOUT_SECONDS": "3600",
        "DGLJOB_RENDEZVOUS_PORT": "29400", "DGLJOB_PORT_BASE": "30050", "MASTER_PORT": "1234",
        "DGLJOB_OUTPUT_DIR": "/dgl_workspace/output", "DGLJOB_WORKSPACE": "/dgl_workspace",
        "DGLJOB_PARTS_DIR": "/dgl_workspace/workload", "DGLJOB_MANIFEST_HASH": "cafe",
        "DGLJOB_STATUS_URL": "http://progress:8082/v1/namespaces/t/dgljobs/g/progress",
        "DGLJOB_STATUS_TOKEN_FILE": "/etc/dglrun/status-token", "DGL_OPERATOR_ENV": "1",
        "DGLJOB_POD_NAME": "g-worker-1",
        "DGLJOB_POD_IP": {"fieldRef": {"fieldPath": "status.podIP"}},
    }  # fmt: skip
    assert {name: found.get(name) for name in wanted} == wanted


def test_without_a_progress_server_nothing_is_to_be_posted():
    found = env(container(pods(make_job(), progress_url="")["worker-0"]))
    assert "DGLJOB_STATUS_URL" not in found


def test_the_users_variables_win_except_where_they_say_who_the_pod_is():
    mine = [
        {"name": "DGLJOB_OUTPUT_DIR", "value": "/mine"},
        {"name": "DGLJOB_UID", "value": "forged"},
        {"name": "OMP_NUM_THREADS", "value": "3"},
        {"name": "LOGS", "value": "$(DGLJOB_OUTPUT_DIR)/logs"},
    ]
    main = container(worker_of(make_job(specs=workers(env=mine))))
    assert env(main)["DGLJOB_OUTPUT_DIR"] == "/mine"
    assert env(main)["DGLJOB_UID"] == UID
    assert env(main)["OMP_NUM_THREADS"] == "3"
    names = [each["name"] for each in main["env"]]
    assert len(names) == len(set(names))
    assert names.index("LOGS") == len(names) - 1, "so that it may refer to what comes before"


def test_what_no_template_speaks_of_is_told_to_dglrun_and_is_no_variable_of_the_container():
    both = pods(make_job())
    every = [each for pod in both.values() for each in [*pod.get("initContainers", []), *pod["containers"]]]
    assert {each["name"]: set(variables(each)) for each in every} == {
        "dgl": {"DGLJOB_POD_IP"}, "dglop-deliver": set(), "dglop-fetch": set(), "dglrun-serve": set(),
    }  # fmt: skip


@pytest.mark.parametrize(
    "main",
    [
        {"args": ["--seed", "$(DGLJOB_ATTEMPT)"]},
        {"command": ["train", "--seed=$(DGLJOB_ATTEMPT)"]},
        {"livenessProbe": {"exec": {"command": ["sh", "-c", "test $DGLJOB_ATTEMPT -lt 9"]}}},
    ],
)
def test_what_the_template_speaks_of_is_a_variable_of_the_container(main):
    found = container(worker_of(make_job(specs=workers(**main))))
    assert variables(found)["DGLJOB_ATTEMPT"] == "1"
    assert set(variables(found)) == {"DGLJOB_ATTEMPT", "DGLJOB_POD_IP"}
