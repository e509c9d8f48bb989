# SPDX-License-Identifier: Apache-2.0
"""What the pods of an MPIJob get: keys, the host file, and the settings of each implementation of MPI."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_ssh_public_key

from test.unit.mpijob.mpi_world import config_of, env_of, make_job, simulate

_HOSTS = ["g-worker-0.g.t.svc", "g-worker-1.g.t.svc"]
_COMMON = {"K_MPI_JOB_ROLE", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES"}


@pytest.mark.parametrize(
    ("implementation", "form"), [("OpenMPI", "{} slots=4\n"), ("Intel", "{}:4\n"), ("MPICH", "{}:4\n")]
)
def test_the_host_file_has_the_form_of_the_implementation(implementation: str, form: str) -> None:
    world = simulate(mpiImplementation=implementation, slotsPerWorker=4)
    assert config_of(world)["hostfile"] == "".join(form.format(host) for host in _HOSTS)


def test_a_launcher_that_works_too_is_the_first_host() -> None:
    world = simulate(runLauncherAsWorker=True)
    hosts = config_of(world)["hostfile"].splitlines()
    assert [each.split()[0] for each in hosts] == ["g-launcher-0.g.t.svc", *_HOSTS]
    assert "NVIDIA_VISIBLE_DEVICES" not in env_of(world, "Launcher"), "it computes, so it may use the GPU"


@pytest.mark.parametrize(
    ("implementation", "values"),
    [
        (
            "OpenMPI",
            {
                "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
                "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
                "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
                "OMPI_MCA_orte_set_default_slots": "2",
            },
        ),
        (
            "Intel",
            {
                "I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile",
                "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
                "I_MPI_PERHOST": "2",
            },
        ),
        (
            "MPICH",
            {
                "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
                "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
            },
        ),
    ],
)
def test_the_launcher_has_the_settings_of_the_implementation(
    implementation: str, values: dict[str, str]
) -> None:
    found = env_of(simulate(mpiImplementation=implementation, slotsPerWorker=2), "Launcher")
    assert {name: value for name, value in found.items() if name not in _COMMON} == values
    assert found["K_MPI_JOB_ROLE"] == "launcher"
    assert found["NVIDIA_VISIBLE_DEVICES"] == ""


def test_a_worker_without_a_command_runs_sshd_and_one_with_a_command_runs_that() -> None:
    job = make_job(workers=1)
    main = job.spec.mpi_replica_specs["Worker"].template["spec"]["containers"][0]
    del main["command"]
    bare = simulate(job).pod("Worker")["spec"]["containers"][0]
    assert bare["command"] == ["/usr/sbin/sshd", "-De"]
    main["args"] = ["-De", "-f", "/home/mpiuser/.sshd_config"]
    assert "command" not in simulate(job).pod("Worker")["spec"]["containers"][0]
    assert simulate(workers=1).pod("Worker")["spec"]["containers"][0]["command"] == ["train"]
    assert env_of(simulate(), "Worker") == {"K_MPI_JOB_ROLE": "worker"}


def test_workers_find_the_launcher_by_its_bare_name_and_keep_their_own_searches() -> None:
    job = make_job()
    job.spec.mpi_replica_specs["Worker"].template["spec"]["dnsConfig"] = {"searches": ["example.com"]}
    dns = simulate(job).pod("Worker")["spec"]["dnsConfig"]
    assert dns == {"searches": ["example.com", "g.t.svc.cluster.local"]}


def test_all_pods_mount_one_pair_of_keys_which_is_made_once_for_each_job() -> None:
    world = simulate()
    for kind in ("Launcher", "Worker"):
        spec = world.pod(kind)["spec"]
        [source] = [each["secret"] for each in spec["volumes"] if "secret" in each]
        assert source["secretName"] == "g-ssh-uid-g"
        assert [each["path"] for each in source["items"]] == ["id_rsa", "id_rsa.pub", "authorized_keys"]
        assert {"name": "dglop-ssh", "mountPath": "/root/.ssh", "readOnly": True} in spec["containers"][0][
            "volumeMounts"
        ]
    secret = world.objects["Secret/g-ssh-uid-g"]
    assert (secret["type"], secret["immutable"]) == ("kubernetes.io/ssh-auth", True)
    keys = secret["stringData"]
    private = load_pem_private_key(keys["ssh-privatekey"].encode(), None)
    public: Any = load_ssh_public_key(keys["ssh-publickey"].encode())
    assert private.public_key() == public
    assert public.curve.name == "secp521r1"
    assert simulate().objects["Secret/g-ssh-uid-g"]["stringData"] == keys, "made again it is the same"
    other = simulate(name="h").objects["Secret/h-ssh-uid-h"]["stringData"]
    assert other != keys
    assert base64.b64decode(keys["ssh-publickey"].split()[1])


@pytest.mark.parametrize(
    ("path", "context", "mode"),
    [
        ("/root/.ssh", {}, 0o600),
        ("/root/.ssh", {"runAsUser": 1000}, None),
        ("/home/mpiuser/.ssh", {"runAsUser": 1000}, None),
        ("/home/mpiuser/.ssh", {}, None),
        ("/keys", {"runAsUser": 0}, 0o600),
    ],
)
def test_ssh_gets_the_keys_in_the_mode_that_it_takes_of_this_user(
    path: str, context: dict[str, int], mode: int | None
) -> None:
    job = make_job(sshAuthMountPath=path)
    job.spec.mpi_replica_specs["Worker"].template["spec"]["containers"][0]["securityContext"] = context
    spec = simulate(job).pod("Worker")["spec"]
    [source] = [each["secret"] for each in spec["volumes"] if "secret" in each]
    assert source.get("defaultMode") == mode
    assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == path


def test_the_launcher_waits_for_the_names_of_its_hosts_in_a_container_of_the_operators_image() -> None:
    spec = simulate().pod("Launcher")["spec"]
    [waits] = spec["initContainers"]
    assert waits["image"] == "operator:test"
    assert waits["command"] == ["python3", "/opt/dglop/dglrun.pyz", "hosts", "/etc/mpi/hostfile"]
    assert waits["securityContext"]["runAsNonRoot"] is True
    assert waits["resources"]["requests"]
    assert "initContainers" not in simulate(workers=0).pod("Launcher")["spec"], "there is nobody to wait for"


def test_hosts_on_the_nodes_network_find_each_other_by_the_clusters_dns() -> None:
    job = make_job()
    for each in job.spec.mpi_replica_specs.values():
        each.template["spec"]["hostNetwork"] = True
    assert simulate(job).pod("Worker")["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"


def test_the_script_that_discovers_hosts_is_mounted_beside_the_host_file() -> None:
    world = simulate()
    assert config_of(world)["discover_hosts.sh"].startswith("#!/bin/sh\n")
    [source] = [each["configMap"] for each in world.pod("Launcher")["spec"]["volumes"] if "configMap" in each]
    assert [(each["path"], each["mode"]) for each in source["items"]] == [
        ("hostfile", 0o444),
        ("discover_hosts.sh", 0o555),
    ]
