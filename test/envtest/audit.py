# SPDX-License-Identifier: Apache-2.0
"""What an account asked of an API server, from its audit log, against the rights that were given to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ("AuditLog", "Request", "Right", "granted", "unused")

# A watch is heard of at its start, all else at its end, when the answer is known.
_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Request, userGroups: ["system:serviceaccounts"]}
- {level: None}
"""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, or what one request needed besides: the same fields that a rule names."""

    group: str
    resource: str
    verb: str
    namespace: str
    name: str
    code: int = 200


@dataclass(frozen=True, slots=True)
class Right:
    """One verb on one resource, by one role, in one namespace or (empty) in all; `name` may be empty."""

    role: str
    namespace: str
    group: str
    resource: str
    verb: str
    name: str = ""

    def allows(self, asked: Request) -> bool:
        return (
            (self.group, self.resource, self.verb) == (asked.group, asked.resource, asked.verb)
            and self.namespace in ("", asked.namespace)
            and self.name in ("", asked.name)
        )


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The audit log of a server that was started with `flags`, in a folder that is there."""

    folder: Path

    @property
    def flags(self) -> tuple[str, ...]:
        policy = self.folder / "policy.yaml"
        policy.write_text(_POLICY)
        return (f"--audit-policy-file={policy}", f"--audit-log-path={self._path}")

    @property
    def _path(self) -> Path:
        return self.folder / "audit.log"

    def of(self, user: str) -> set[Request]:
        """What the user has asked for so far; a line that is still being written is not there yet."""
        whole = self._path.read_text().rpartition("\n")[0].splitlines()
        events = [json.loads(line) for line in whole]
        return {each for event in events if event["user"]["username"] == user for each in _asked(event)}


def _asked(event: dict[str, Any]) -> Iterator[Request]:
    about = event.get("objectRef")
    if about is None:
        return  # /version and the like, which everybody may read
    resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
    group, namespace, name = (about.get(key, "") for key in ("apiGroup", "namespace", "name"))
    code = event.get("responseStatus", {}).get("code", 0)
    made = event.get("requestObject") or {}
    yield Request(group, resource, event["verb"], namespace, name or _name(made), code)
    for owner in made.get("metadata", {}).get("ownerReferences") or []:
        # The server asks itself whether who makes such a reference may touch the owner's finalizers.
        if event["verb"] == "create" and owner.get("blockOwnerDeletion"):
            of, plural = owner["apiVersion"].partition("/")[0], f"{owner['kind'].lower()}s"
            yield Request(of, f"{plural}/finalizers", "update", namespace, owner["name"], code)


def _name(made: dict[str, Any]) -> str:
    return str(made.get("metadata", {}).get("name", ""))


def granted(manifests: Iterable[dict[str, Any]], user: str) -> list[Right]:
    """Every single right that the bindings among the manifests give to a service account."""
    listed = list(manifests)
    rules = {_place(each): each["rules"] for each in listed if each["kind"] in ("Role", "ClusterRole")}
    found: list[Right] = []
    for binding in listed:
        if not binding["kind"].endswith("Binding") or user not in map(_user, binding["subjects"]):
            continue
        namespace, role = binding["metadata"].get("namespace", ""), binding["roleRef"]
        at = namespace if role["kind"] == "Role" else ""
        for rule in rules[role["kind"], at, role["name"]]:
            found += _rights(role["name"], namespace, rule)
    return found


def _rights(role: str, namespace: str, rule: dict[str, Any]) -> Iterator[Right]:
    for group in rule["apiGroups"]:
        for resource in rule["resources"]:
            for verb in rule["verbs"]:
                for name in rule.get("resourceNames", [""]):
                    yield Right(role, namespace, group, resource, verb, name)


def _place(manifest: dict[str, Any]) -> tuple[str, str, str]:
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]


def _user(subject: dict[str, Any]) -> str:
    return f"system:serviceaccount:{subject.get('namespace')}:{subject['name']}"


def unused(rights: Iterable[Right], asked: Iterable[Request]) -> set[Right]:
    """The rights that no request needed. What a role for one namespace allows needs none for all."""
    listed, used = list(rights), set()
    for request in asked:
        allowing = [right for right in listed if right.allows(request)]
        near = [right for right in allowing if right.namespace]
        used |= set(near or allowing)
    return set(listed) - used
