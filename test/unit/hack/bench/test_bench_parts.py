# SPDX-License-Identifier: Apache-2.0
"""What the bench puts together before it measures."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hack.bench.copies import copies
from hack.bench.cost import Cost, cost_section, parse_requests
from hack.bench.identity import as_account
from hack.bench.jobs import Sample, section
from hack.bench.load import Timing
from hack.bench.options import parse
from hack.bench.ours import operator_arguments
from hack.bench.peer import is_established, peer_objects
from hack.bench.peer_build import peer_version
from hack.bench.podseat import pod_variables
from hack.bench.workload import CLAIM, JOB_LABEL, dgl_job, parts_volume, plain_pod, pytorch_job

NOTHING = Cost(Counter(), {})


def _deployment(*args: str, env: list[dict[str, Any]]) -> dict[str, Any]:
    container = {"args": list(args), "env": env}
    return {"metadata": {"namespace": "ns"}, "spec": {"template": {"spec": {"containers": [container]}}}}


def test_arguments_get_the_values_that_the_kubelet_would_put_in() -> None:
    env: list[dict[str, Any]] = [
        {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "IMAGE", "value": "operator:1"},
    ]
    deployment = _deployment("operator", "--a=$(POD_NAMESPACE).svc", "--b=$(IMAGE)", "--c=$(NO)", env=env)
    assert operator_arguments(deployment) == ["operator", "--a=ns.svc", "--b=operator:1", "--c=$(NO)"]


def test_a_kubeconfig_for_an_account_keeps_nothing_of_the_one_it_is_made_from_but_the_cluster() -> None:
    config = {"clusters": [{"name": "c"}], "users": [{"name": "u", "user": {"client-key-data": "secret"}}]}
    made = as_account(config, "token")
    assert made == {"clusters": [{"name": "c"}], "users": [{"name": "u", "user": {"token": "token"}}]}


def test_a_program_that_sits_as_in_a_pod_is_told_the_server_by_variables() -> None:
    assert pod_variables({"server": "https://10.0.0.1:6443"}) == {
        "KUBERNETES_SERVICE_HOST": "10.0.0.1",
        "KUBERNETES_SERVICE_PORT": "6443",
    }
    assert pod_variables({"server": "https://[::1]"}) == {
        "KUBERNETES_SERVICE_HOST": "::1",
        "KUBERNETES_SERVICE_PORT": "443",
    }


def test_all_pods_of_a_load_run_on_the_fake_node_and_end_by_themselves() -> None:
    dgl = dgl_job("j", "n")["spec"]["dglReplicaSpecs"]["Worker"]
    torch = pytorch_job("j", "n")["spec"]["pytorchReplicaSpecs"]
    templates = [
        dgl["template"],
        torch["Master"]["template"],
        torch["Worker"]["template"],
        plain_pod("j", 0, "n"),
    ]
    for each in templates:
        assert each["metadata"]["annotations"] == {"dglop.dev/fake-runtime": "1s"}
        assert each["spec"]["nodeSelector"] == {"type": "kwok"}
        assert each["spec"]["tolerations"]
    assert dgl["replicas"] == torch["Master"]["replicas"] + torch["Worker"]["replicas"] == 3


def test_a_plain_pod_is_known_by_its_jobs_label() -> None:
    assert plain_pod("j", 1, "n")["metadata"]["labels"] == {JOB_LABEL: "j"}


def test_a_copy_of_a_pod_has_all_that_the_jobs_own_has_but_what_others_put_in() -> None:
    own = {"name": "warm-up-worker-0", "labels": {JOB_LABEL: "warm-up"}, "namespace": "n"}
    theirs = {"uid": "u", "resourceVersion": "7", "managedFields": [{}], "ownerReferences": [{"uid": "j"}]}
    spec = {"containers": [{"env": [{"name": "DGLJOB_NAME", "value": "warm-up"}]}], "nodeName": "kwok"}
    made = copies([{"metadata": own | theirs, "spec": spec, "status": {}}], "warm-up", ("a", "b"))
    assert [each["metadata"]["name"] for each in made] == ["a-worker-0", "b-worker-0"]
    assert made[1] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "b-worker-0", "labels": {JOB_LABEL: "b"}, "namespace": "n"},
        "spec": {"containers": [{"env": [{"name": "DGLJOB_NAME", "value": "b"}]}]},
    }


def test_claim_and_volume_name_each_other() -> None:
    volume, claim = parts_volume("n")
    assert claim["spec"]["volumeName"] == volume["metadata"]["name"]
    assert volume["spec"]["claimRef"] == {"name": CLAIM, "namespace": "n"}
    assert dgl_job("j", "n")["spec"]["storage"]["claimName"] == claim["metadata"]["name"]


def test_all_that_the_peer_gets_is_labelled_and_bound_to_its_own_role() -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "training-operator"}, "rules": []}
    objects = peer_objects({"kind": "CustomResourceDefinition", "metadata": {"name": "crd"}}, role)
    assert all(each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "dglop-bench" for each in objects)
    binding = next(each for each in objects if each["kind"] == "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == "training-operator"


def test_a_crd_without_conditions_yet_is_not_established() -> None:
    assert not is_established({"status": {"conditions": None}})
    assert not is_established({"status": {"conditions": [{"type": "Established", "status": "False"}]}})
    assert is_established({"status": {"conditions": [{"type": "Established", "status": "True"}]}})


def test_the_peer_is_the_version_that_the_docs_speak_of() -> None:
    assert peer_version() == "v1.8.1"


def test_all_benches_run_by_default_and_in_one_order() -> None:
    assert parse([]).benches == ("runtime", "jobs", "start", "demo", "images")
    assert parse(["images", "start"]).benches == ("start", "images")


@pytest.mark.parametrize("argv", [["sleep"], ["--sides=mine"], ["--jobs=0"]])
def test_an_unknown_word_on_the_command_line_is_refused(argv: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(argv)


def test_the_table_of_jobs_tells_the_ratios_of_the_medians() -> None:
    def timed(*walls: float) -> list[Sample]:
        return [Sample(Timing(wall, 1.0, 2.0, 20.0, 600), NOTHING) for wall in walls]

    text = section({"ours": timed(13, 12, 99), "peer": timed(65), "plain": timed(6.5)}, parse([])).markdown()
    assert "dglop / training-operator: 0.20" in text
    assert "dglop / plain creation of its pods: 2.00" in text
    assert "13.0 s (12.0 s to 99.0 s)" in text
    assert "client limits of 20 requests/s" in text


def test_the_table_of_one_side_tells_no_ratio() -> None:
    text = section(
        {"plain": [Sample(Timing(6.5, 2.9, 0.1, 13.0, 600), NOTHING)]}, parse(["--sides=plain"])
    ).markdown()
    assert "dglop /" not in text


def test_requests_are_counted_by_verb_and_place_over_all_answers() -> None:
    line = 'apiserver_request_total{code="%d",resource="pods",scope="resource",subresource="%s",verb="%s"} %d'
    told = [
        (200, "status", "PATCH", 3),
        (409, "status", "PATCH", 1),
        (201, "", "POST", 2),
        (200, "", "GET", 9),
    ]
    assert parse_requests("\n".join(line % each for each in told)) == {"PATCH pods/status": 4, "POST pods": 2}


def test_the_cost_is_what_was_added_and_what_is_little_is_left_out() -> None:
    before = Cost(Counter({"POST pods": 5, "POST events": 1}), {"etcd": 1.0, "kwok": 1.0})
    cost = Cost(Counter({"POST pods": 30, "POST events": 3}), {"etcd": 3.0, "kwok": 1.25}).since(before)
    text = cost_section({"ours": cost, "plain": NOTHING}).markdown()
    assert "| CPU of etcd | 2.00 s | 0.00 s |" in text
    assert "| POST pods | 25 | 0 |" in text
    assert "| all writes | 27 | 0 |" in text
    assert "kwok" not in text
    assert "events" not in text
