# SPDX-License-Identifier: Apache-2.0
"""The pods of a job: what the operator adds to a template, and what of the user's it keeps."""

from __future__ import annotations

import copy

import pytest

from test.unit.dgljob.dgljob_pods import container, env, mounts, pods, volumes, worker_of, workers
from test.unit.dgljob.dgljob_world import UID, make_job, template

CLAIM = {"type": "PVC", "claimName": "parts"}


def test_a_workers_command_is_run_by_dglrun():
    main = container(worker_of(make_job(specs=workers(args=["--epochs", "10"]))))
    assert main["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "worker"]
    assert main["command"][-3:] == ["--", "python3", "train.py"]
    assert main["args"] == ["--epochs", "10"]


def test_another_interpreter_is_used_where_the_job_names_one():
    spec = worker_of(make_job(python="/opt/venv/bin/python"))
    assert container(spec)["command"][0] == "/opt/venv/bin/python"
    assert container(spec, "dglop-fetch")["command"][0] == "/opt/venv/bin/python"


def test_dglrun_is_delivered_before_anything_else_runs():
    specs = workers()
    specs["Worker"]["template"]["spec"]["initContainers"] = [{"name": "mine", "image": "x"}]
    spec = worker_of(make_job(specs=specs))
    assert [each["name"] for each in spec["initContainers"]] == ["dglop-deliver", "mine", "dglop-fetch"]
    deliver = container(spec, "dglop-deliver")
    assert deliver["image"] == "operator:test"
    assert deliver["command"] == ["cp", "/opt/dglop/dglrun.pyz", "/opt/dglrun/dglrun.pyz"]
    assert set(deliver["resources"]) == {"requests", "limits"}
    security = deliver["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["allowPrivilegeEscalation"] is False
    assert security["readOnlyRootFilesystem"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}


def test_parts_are_fetched_into_a_folder_that_the_trainer_may_only_read():
    spec = worker_of(make_job())
    fetch, main = container(spec, "dglop-fetch"), container(spec)
    assert volumes(spec)["dglop-parts"] == {"emptyDir": {}}
    assert "readOnly" not in mounts(fetch)["/dgl_workspace/workload"]
    assert mounts(main)["/dgl_workspace/workload"]["readOnly"] is True
    assert env(fetch)["DGLJOB_PARTS_URL"] == "http://g-partitioner-0.g.t.svc:29401"
    assert env(fetch)["DGLJOB_PARTS_TOKEN_FILE"] == "/etc/dglrun/parts-token"
    assert volumes(spec)["dglop-tokens"] == {"secret": {"secretName": f"g-dglrun-{UID[:8]}"}}
    assert mounts(fetch)["/etc/dglrun"]["readOnly"] is True


def test_on_a_claim_the_workers_fetch_nothing_but_verify_by_themselves_and_may_not_write():
    both = pods(make_job(storage={**CLAIM, "subPath": "digits", "mountPath": "/parts"}))
    worker, partitioner = both["worker-0"], both["partitioner-0"]
    claim = {"persistentVolumeClaim": {"claimName": "parts"}}
    assert volumes(worker)["dglop-parts"] == volumes(partitioner)["dglop-parts"] == claim
    assert [each["name"] for each in worker["initContainers"]] == ["dglop-deliver"]
    main = container(worker)
    assert mounts(main)["/parts"] == {
        "name": "dglop-parts", "mountPath": "/parts", "readOnly": True, "subPath": "digits",
    }  # fmt: skip
    told = env(main)
    assert (told["DGLJOB_VERIFY_PARTS"], told["DGLJOB_PARTS_DIR"]) == ("1", "/parts")
    assert "DGLJOB_VERIFY_PARTS" not in env(container(worker_of(make_job())))
    assert "readOnly" not in mounts(container(partitioner))["/parts"]
    assert [each["name"] for each in partitioner["containers"]] == ["dgl"]


def test_own_ports_are_kept_and_those_of_the_servers_are_added():
    specs = workers(ports=[{"name": "http", "containerPort": 8000}, {"name": "x", "containerPort": 30051}])
    main = container(worker_of(make_job(specs=specs, numServers=3)))
    ports = {each["name"]: each["containerPort"] for each in main["ports"]}
    assert ports == {
        "http": 8000, "x": 30051, "dgl-0": 30050, "dgl-2": 30052,
        "dgl-rendezvous": 29400, "dgl-master": 29500,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "wanted", "size"),
    [
        ("20Gi", None, "10Gi"),
        ("3Gi", None, "1536Mi"),
        ("1.5Gi", None, "768Mi"),
        ("20G", None, "10G"),
        ("1000M", None, "500M"),
        (2147483648, None, "1Gi"),
        (None, None, "1Gi"),
        ("20Gi", "2Gi", "2Gi"),
        ("20Gi", "0", None),
        ("20Gi", 0, None),
    ],
)
def test_shared_memory_is_half_of_the_memory_limit(limit, wanted, size):
    resources = {"limits": {"memory": limit}} if limit else {}
    job = make_job(specs=workers(resources=resources), **({} if wanted is None else {"shmSize": wanted}))
    spec = worker_of(job)
    found = volumes(spec).get("dglop-shm")
    assert found == (None if size is None else {"emptyDir": {"medium": "Memory", "sizeLimit": size}})
    assert ("/dev/shm" in mounts(container(spec))) is (size is not None)


def test_a_mount_of_ones_own_at_dev_shm_is_respected():
    specs = workers(volumeMounts=[{"name": "mine", "mountPath": "/dev/shm/"}])
    specs["Worker"]["template"]["spec"]["volumes"] = [{"name": "mine", "emptyDir": {"medium": "Memory"}}]
    assert "dglop-shm" not in volumes(worker_of(make_job(specs=specs)))


def test_an_unquoted_number_of_gpus_becomes_a_quantity():
    specs = workers(resources={"limits": {"nvidia.com/gpu": 1, "memory": "4Gi"}})
    both = pods(make_job(specs=specs))
    assert container(both["worker-0"])["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert container(both["partitioner-0"])["resources"]["limits"] == {"memory": "4Gi"}
    assert container(both["worker-0"], "dglop-fetch")["resources"]["limits"] == {"memory": "4Gi"}


def test_the_partitioner_that_nobody_wrote_is_the_worker_without_devices_ports_and_probes():
    specs = workers(
        args=["--epochs", "1"],
        ports=[{"containerPort": 1}],
        livenessProbe={"exec": {"command": ["x"]}},
        resources={"requests": {"cpu": "1", "nvidia.com/gpu": 1}},
    )
    specs["Worker"]["template"]["spec"]["containers"].append({"name": "side", "image": "s"})
    spec = pods(make_job(specs=specs))["partitioner-0"]
    main = container(spec)
    assert [each["name"] for each in spec["containers"]] == ["dgl", "dglrun-serve"]
    assert main["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "partition"]
    assert all("=" in each for each in main["command"][3:])
    assert not {"args", "ports", "livenessProbe"} & set(main)
    assert main["resources"] == {"requests": {"cpu": "1"}}
    assert env(main)["DGLJOB_DATASET_NAME"] == "digits"


def test_a_partitioner_of_ones_own_keeps_its_command():
    specs = {**workers(), "Partitioner": {"template": template(command=["./cut.sh"])}}
    main = container(pods(make_job(specs=specs, dataset=None))["partitioner-0"])
    assert main["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "partition"]
    assert main["command"][-2:] == ["--", "./cut.sh"]


def test_the_parts_server_is_of_the_main_containers_image():
    specs = workers(securityContext={"runAsUser": 1000}, imagePullPolicy="Always")
    server = container(pods(make_job(specs=specs))["partitioner-0"], "dglrun-serve")
    assert server["image"] == "dgl:test"
    assert server["command"][:3] == ["python3", "/opt/dglrun/dglrun.pyz", "serve"]
    assert set(env(server)) == {"DGLJOB_UID", "DGLJOB_PARTS_DIR", "DGLJOB_PARTS_TOKEN_FILE"}
    assert server["securityContext"] == {"runAsUser": 1000}
    assert server["imagePullPolicy"] == "Always"
    assert set(server["resources"]) == {"requests", "limits"}


def test_output_goes_to_the_claim_that_the_job_names():
    spec = worker_of(make_job(output={"claimName": "model", "subPath": "run-1"}))
    assert volumes(spec)["dglop-output"] == {"persistentVolumeClaim": {"claimName": "model"}}
    assert mounts(container(spec))["/dgl_workspace/output"]["subPath"] == "run-1"
    assert volumes(worker_of(make_job()))["dglop-output"] == {"emptyDir": {}}


def test_no_pod_gets_a_service_account_token_unless_the_template_asks():
    assert worker_of(make_job())["automountServiceAccountToken"] is False
    asking = workers()
    asking["Worker"]["template"]["spec"]["automountServiceAccountToken"] = True
    assert worker_of(make_job(specs=asking))["automountServiceAccountToken"] is True
    named = workers()
    named["Worker"]["template"]["spec"]["serviceAccountName"] = "cnvrg"
    spec = worker_of(make_job(specs=named))
    assert "automountServiceAccountToken" not in spec
    assert spec["serviceAccountName"] == "cnvrg"


def test_the_last_words_of_a_container_are_its_logs():
    assert container(worker_of(make_job()))["terminationMessagePolicy"] == "FallbackToLogsOnError"
    own = worker_of(make_job(specs=workers(terminationMessagePolicy="File")))
    assert container(own)["terminationMessagePolicy"] == "File"


def test_the_last_words_of_an_init_container_are_its_logs():
    specs = workers()
    mine = {"name": "mine", "image": "x"}
    specs["Worker"]["template"]["spec"]["initContainers"] = [
        mine,
        {**mine, "name": "own", "terminationMessagePolicy": "File"},
    ]
    spec = worker_of(make_job(specs=specs))
    assert container(spec, "mine")["terminationMessagePolicy"] == "FallbackToLogsOnError"
    assert container(spec, "own")["terminationMessagePolicy"] == "File"


@pytest.mark.parametrize("main", ["", "dgl", "trainer"])
def test_the_main_container_is_the_named_one_or_dgl(main):
    specs = workers()
    specs["Worker"]["template"]["spec"]["containers"].insert(
        0, {"name": "trainer", "image": "t", "command": ["t"]}
    )
    spec = worker_of(make_job(specs=specs, mainContainer=main))
    wrapped = [each["name"] for each in spec["containers"] if "worker" in each.get("command", [])]
    assert wrapped == [main or "dgl"]


def test_the_template_itself_is_never_changed():
    job = make_job()
    before = copy.deepcopy(job.spec.dgl_replica_specs["Worker"].template)
    pods(job)
    assert job.spec.dgl_replica_specs["Worker"].template == before


def test_a_launcher_alone_runs_as_it_is():
    specs = {"Launcher": {"template": template(command=["./run.sh"])}}
    spec = pods(make_job(specs=specs, partitionMode="Skip", dataset=None))["launcher-0"]
    main = container(spec)
    assert main["command"] == ["./run.sh"]
    assert "initContainers" not in spec
    assert env(main)["DGL_OPERATOR_PHASE_ENV"] == "Launcher_Workload"
    assert env(main)["DGLJOB_OUTPUT_DIR"] == "/dgl_workspace/output"
    assert spec["automountServiceAccountToken"] is False


def test_existing_parts_need_no_manifest_of_the_job():
    job = make_job(partitionMode="Skip", storage={**CLAIM, "existing": True})
    main = container(pods(job)["worker-0"])
    assert not {"DGLJOB_MANIFEST_HASH", "DGLJOB_PARTS_URL"} & set(env(main))


def test_the_built_in_partition_is_told_of_the_data_and_how_to_divide_it():
    job = make_job(
        dataset={"url": "file:///data/town", "format": "csv", "nodes": 600},
        partition={"method": "random", "balanceNtypes": "label", "balanceEdges": False},
    )
    told = env(container(pods(job)["partitioner-0"]))
    assert told["DGLJOB_DATASET_FORMAT"] == "csv"
    assert told["DGLJOB_DATASET_NODES"] == "600"
    assert told["DGLJOB_PART_METHOD"] == "random"
    assert told["DGLJOB_BALANCE_NTYPES"] == "label"
    assert told["DGLJOB_BALANCE_EDGES"] == "0"


def test_what_the_job_leaves_to_dglrun_it_is_not_told():
    told = env(container(pods(make_job())["partitioner-0"]))
    assert not {name for name in told if "BALANCE" in name or "METHOD" in name or "FORMAT" in name}


def test_a_data_sets_secret_is_in_the_partitioners_environment():
    job = make_job(dataset={"url": "s3://bucket/graph", "secretRef": {"name": "keys"}})
    main = container(pods(job)["partitioner-0"])
    assert main["envFrom"] == [{"secretRef": {"name": "keys"}}]
    assert env(main)["DGLJOB_DATASET_URL"] == "s3://bucket/graph"


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ({"hostNetwork": True}, "ClusterFirstWithHostNet"),
        ({"hostNetwork": True, "dnsPolicy": "None"}, "None"),
        ({"hostNetwork": False}, None),
        ({}, None),
    ],
)
def test_pods_on_the_nodes_network_still_find_each_other_by_name(stated, found):
    specs = workers()
    specs["Worker"]["template"]["spec"] |= stated
    made = pods(make_job(specs=specs))
    assert {each.get("dnsPolicy") for each in made.values()} == {found}
