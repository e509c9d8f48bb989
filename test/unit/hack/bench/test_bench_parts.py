# SPDX-License-Identifier: Apache-2.0
"""What the bench puts together before it measures."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hack.bench.copies import copies
from hack.bench.cost import Cost, cost_section, parse_requests
from hack.bench.figures import Usage
from hack.bench.identity import as_account
from hack.bench.installing import is_established, labelled
from hack.bench.jobtables import Sample, sections
from hack.bench.load import Timing
from hack.bench.options import parse
from hack.bench.ours import operator_arguments
from hack.bench.partition import rows_of
from hack.bench.peer import peer_objects
from hack.bench.peer_build import peer_version
from hack.bench.podseat import pod_variables
from hack.bench.torch import torch_objects
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


def test_what_the_bench_installs_is_labelled_as_its_own() -> None:
    made = labelled({"kind": "Namespace", "metadata": {"name": "n", "labels": {"a": "b"}}})
    assert made["metadata"]["labels"] == {"a": "b", "app.kubernetes.io/part-of": "dglop-bench"}


def test_our_pytorchjobs_are_run_by_the_account_of_the_deployment() -> None:
    deployment = _deployment(env=[])
    deployment["spec"]["template"]["spec"]["serviceAccountName"] = "dglop"
    crd, role, binding = torch_objects(deployment)
    assert crd["metadata"]["name"] == "pytorchjobs.kubeflow.org"
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "dglop", "namespace": "ns"}]


def test_the_peer_is_bound_to_its_own_role() -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "training-operator"}, "rules": []}
    objects = peer_objects({"kind": "CustomResourceDefinition", "metadata": {"name": "crd"}}, role)
    binding = next(each for each in objects if each["kind"] == "ClusterRoleBinding")
    assert binding["roleRef"]["name"] == "training-operator"


def test_a_crd_without_conditions_yet_is_not_established() -> None:
    assert not is_established({"status": {"conditions": None}})
    assert not is_established({"status": {"conditions": [{"type": "Established", "status": "False"}]}})
    assert is_established({"status": {"conditions": [{"type": "Established", "status": "True"}]}})


def test_the_peer_is_the_version_that_the_docs_speak_of() -> None:
    assert peer_version() == "v1.8.1"


def test_all_benches_run_by_default_and_in_one_order() -> None:
    assert parse([]).benches == ("runtime", "jobs", "scale", "start", "demo", "partition", "images")
    assert parse(["images", "start"]).benches == ("start", "images")


@pytest.mark.parametrize("argv", [["sleep"], ["--sides=mine"], ["--jobs=0"]])
def test_an_unknown_word_on_the_command_line_is_refused(argv: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse(argv)


def _timed(*walls: float, cpu: float | None = None, peak: int = 0, **asked: int) -> list[Sample]:
    usage = Usage(0, peak, peak) if peak else None
    return [
        Sample(Timing(wall, 1.0, 2.0, 1.5, 20.0, 600), NOTHING, cpu, usage, Counter(asked)) for wall in walls
    ]


def _text(samples: dict[str, list[Sample]], jobs: int = 200) -> str:
    return "\n".join(each.markdown() for each in sections(samples, jobs, 3))


def test_the_tables_of_jobs_tell_the_ratios_of_the_medians_beside_the_goals() -> None:
    text = _text(
        {
            "ours": _timed(13, 12, 99, cpu=9, peak=100_000_000),
            "torch": _timed(6.5, cpu=6, peak=90_000_000),
            "peer": _timed(65, cpu=6, peak=80_000_000),
            "lifted": _timed(26),
            "plain": _timed(6.5),
        }
    )
    assert "13.0 s (12.0 s to 99.0 s)" in text
    assert "| time / training-operator with its defaults | 0.20 | 0.10 | at most 0.20 |" in text
    assert "| time / training-operator lifted | 0.50 | 0.25 | at most 1.00 |" in text
    assert "| CPU / training-operator with its defaults | 1.50 | 1.00 | at most 1.00 |" in text
    assert "| peak memory / training-operator with its defaults | 1.25 | 1.12 | at most 1.50 |" in text
    assert "| time / plain creation of the same pods | 2.00 | – | at most 2.00 |" in text  # noqa: RUF001
    assert "client limits of 20 requests/s" in text


def test_the_requests_of_an_operator_are_told_by_verb_and_by_job() -> None:
    text = _text({"ours": _timed(1, POST=1600, PATCH=800, GET=3), "plain": _timed(1)})
    assert "|  | GET | PATCH | POST | writes a job |" in text
    assert "| dglop, DGLJob | 3 | 800 | 1600 | 12.0 |" in text


def test_the_tables_of_one_side_have_no_goals() -> None:
    assert "Goals" not in _text({"plain": _timed(6.5)})


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


def test_ways_to_make_parts_are_told_by_medians_and_by_what_all_processes_may_have() -> None:
    run = {"seconds": 2.0, "peakBytes": 300_000_000, "cut": 0.1, "processes": 2}
    runs = [
        {"way": "SMP", **run},
        {"way": "SSP", **run, "processes": 1},
        {"way": "SMP", **run, "seconds": 4.0},
    ]
    assert rows_of(runs) == [
        ("SMP", "3.00 s", "300 MB", "600 MB", "10.0%"),
        ("SSP", "2.00 s", "300 MB", "300 MB", "10.0%"),
    ]


def test_a_graph_with_hardly_an_edge_is_not_measured(capsys) -> None:
    with pytest.raises(SystemExit):
        parse(["partition", "--edges", "10"])
    assert "--edges is at least 10000" in capsys.readouterr().err
