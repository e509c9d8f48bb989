# SPDX-License-Identifier: Apache-2.0
"""Jobs of the kinds beside DGLJob: the shipped samples under the names that their images have here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from test.e2e.jobs import condition, status

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from test.e2e.kubectl import Kubectl

__all__ = ("KindJobs", "is_true")

_SAMPLES = Path(__file__).parents[2] / "config" / "samples"


def is_true(job: dict[str, Any], name: str) -> bool:
    """Whether a condition holds."""
    found = condition(job, name)
    return found is not None and found["status"] == "True"


@dataclass(frozen=True, slots=True)
class KindJobs:
    """Makes and reads jobs of one namespace; `images` has what the samples' images are called here."""

    kubectl: Kubectl
    namespace: str
    images: Mapping[str, str]

    def sample(self, file: str, name: str = "") -> dict[str, Any]:
        """A shipped sample, under another name if one is given."""
        text = (_SAMPLES / file).read_text()
        for ours, theirs in self.images.items():
            text = text.replace(ours, theirs)
        # Through JSON, so that what the sample says once for two roles is two things that tests may change.
        job: dict[str, Any] = json.loads(json.dumps(yaml.safe_load(text)))
        job["metadata"] = {"name": name or job["metadata"]["name"], "namespace": self.namespace}
        return job

    def submit(self, job: dict[str, Any]) -> None:
        self.kubectl.apply(job)

    def until(
        self, kind: str, name: str, claim: str, is_so: Callable[[dict[str, Any]], Any]
    ) -> dict[str, Any]:
        """Wait until something is true of the job; one that fails meanwhile ends the test in its words."""

        def probe() -> dict[str, Any] | None:
            job = self.kubectl.get(kind, name, self.namespace)
            if job is not None and is_so(job):
                return job
            if job is not None and is_true(job, "Failed"):
                raise AssertionError(f"{kind} {name} has failed: {status(job)}")
            return None

        return self.kubectl.until(f"{kind} {name} {claim}", probe)

    def until_succeeded(self, kind: str, name: str) -> dict[str, Any]:
        return self.until(kind, name, "has succeeded", lambda job: is_true(job, "Succeeded"))

    def log(self, pod: str) -> str:
        return self.kubectl.out("logs", pod, "-n", self.namespace)

    def until_logged(self, pod: str, words: str) -> str:
        """Wait until a pod has said something; its log may come a little after its end."""

        def probe() -> str:
            said = self.kubectl.run("logs", pod, "-n", self.namespace, check=False).stdout
            return said if words in said else ""

        return self.kubectl.until(f"pod {pod} says {words!r}", probe)
