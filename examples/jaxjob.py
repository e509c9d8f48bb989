# SPDX-License-Identifier: Apache-2.0
"""A job kind of Kubeflow's on the base job controller: JAXJob, for training with JAX on equal Workers."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from dglop import CustomResource, Manager, RawPod
from dglop.common import JobKind, JobReconciler, JobSpec, Replica, ReplicaSpec, StatedJobStatus, set_env
from dglop.common.rules import fixed_replicas, name_rules, only_roles
from dglop.common.templates import shape_problems

SPECS, PORT = "jaxReplicaSpecs", "6666"


class JAXJobSpec(JobSpec, rules=(only_roles(SPECS, "Worker"), fixed_replicas(SPECS))):
    """What is trained, on how many pods."""

    jax_replica_specs: dict[str, ReplicaSpec] = Field(min_length=1, max_length=1)
    """The Workers; the first of them coordinates."""


class JAXJob(
    CustomResource[JAXJobSpec, StatedJobStatus],
    group="kubeflow.org",
    version="v1",
    columns={"State": ".status.state", "Reason": ".status.reason"},
    rules=name_rules("-worker-0"),
):
    """Trains with JAX on Workers of equal rank."""


class JAXJobKind(JobKind[JAXJob]):
    """Pods that are told who coordinates, how many they are and which of them they are."""

    def replicas(self, job: JAXJob) -> Mapping[str, ReplicaSpec]:
        return job.spec.jax_replica_specs

    def validate(self, job: JAXJob) -> Sequence[str]:
        templates = {role: spec.template for role, spec in self.replicas(job).items()}
        return [said for role in templates for said in shape_problems(templates[role], f"{SPECS}.{role}")]

    def configure(self, pod: RawPod, replica: Replica[JAXJob]) -> None:
        set_env(pod, COORDINATOR_ADDRESS=replica.dns, COORDINATOR_PORT=PORT)
        set_env(pod, NUM_PROCESSES=str(replica.count), PROCESS_ID=str(replica.index))


manager = Manager(name="jaxjob")
manager.controller(JAXJob, JobReconciler(JAXJobKind()))

if __name__ == "__main__":
    manager.main()
