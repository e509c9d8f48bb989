# SPDX-License-Identifier: Apache-2.0
"""A JobReconciler declares all that it does, so that `dglop manifests` prints the rights of any job kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dglop import ConfigError, Manager, Rule, Settings, needs
from dglop.cli.kinds import KINDS, rules_of
from dglop.cli.operator import assemble
from dglop.cli.settings import ProgramSettings
from dglop.common import Gate, JobReconciler
from dglop.common.gang import Volcano
from dglop.common.gang.rights import GANG_CLUSTER_RULES, GANG_RULES
from dglop.common.key import KEY_RULES
from dglop.common.kueue.rights import KUEUE_CLUSTER_RULES, kueue_rules
from dglop.common.rbac import job_rules
from dglop.common.settings import JobSettings
from dglop.runtime.api import Resource, merge_rules
from dglop.runtime.log import make_log
from dglop.testing.toyjob import ToyJob, ToyJobKind

if TYPE_CHECKING:
    from collections.abc import Iterable


MAP = Resource("", "v1", "ConfigMap", "configmaps")
JOB = ToyJob.resource
WIDE = {"priorityclasses", "resourceflavors", "workloadpriorityclasses"}


@needs(Rule.of(MAP, "create", "get"))
class MapKind(ToyJobKind):
    """A kind whose jobs have a ConfigMap besides."""


class PhasedKind(ToyJobKind):
    """A kind that says when its pods may exist, and not which of them run together."""

    def phases(self, *_: Any) -> dict[str, Gate]:
        return {}


def _manager(settings: Settings | None = None, **options: Any) -> Manager:
    manager = Manager(settings or Settings(), name="toys")
    manager.controller(ToyJob, JobReconciler(MapKind(), **options))
    return manager


def _lacking(manager: Manager, wanted: Iterable[Rule]) -> list[Rule]:
    """Of the rules that are wanted, those that the Manager's do not have already."""
    have = manager.rules()
    return [] if merge_rules([*have, *wanted]) == have else list(wanted)


def test_the_rules_have_what_the_base_does_to_jobs_pods_and_services_and_what_the_kind_needs() -> None:
    manager = _manager()
    assert _lacking(manager, [*job_rules(JOB), Rule.of(MAP, "create", "get")]) == []
    assert not {resource for rule in manager.rules() for resource in rule.resources} & {"podgroups", *WIDE}


@pytest.mark.parametrize("settings", [None, JobSettings(gang_scheduler="volcano", kueue=True)])
def test_with_gangs_and_queues_the_rules_have_what_these_need(settings: JobSettings | None) -> None:
    options = {} if settings else {"gang": Volcano(), "kueue": True}
    wanted = [*GANG_RULES["volcano"], *GANG_CLUSTER_RULES, *kueue_rules(JOB), *KUEUE_CLUSTER_RULES]
    assert _lacking(_manager(settings, **options), wanted) == []


def test_in_one_namespace_what_is_in_none_is_in_a_cluster_role() -> None:
    settings = JobSettings(gang_scheduler="volcano", kueue=True, namespace="team")
    resources = {
        (each["kind"], each["metadata"]["name"]): {
            word for rule in each["rules"] for word in rule["resources"]
        }
        for each in _manager(settings).rights("system")
        if "rules" in each
    }
    assert resources["ClusterRole", "toys-cluster"] == WIDE
    assert not resources["Role", "toys"] & WIDE


def test_flags_that_are_read_after_the_controller_was_made_turn_gangs_and_queues_on() -> None:
    manager = _manager(JobSettings())
    flags = ["--gang-scheduler=volcano", "--kueue", "--concurrency=3"]
    manager.reconfigure(manager.settings.with_flags(flags), make_log())
    assert _lacking(manager, [*GANG_RULES["volcano"], *kueue_rules(JOB)]) == []
    assert manager.controllers[0].concurrency == 3


def test_what_the_program_says_goes_before_the_settings() -> None:
    manager = Manager(JobSettings(kueue=True, concurrency=3), name="toys")
    manager.controller(ToyJob, JobReconciler(ToyJobKind(), kueue=False), concurrency=2)
    plurals = {resource for rule in manager.rules() for resource in rule.resources}
    assert "workloads" not in plurals
    assert manager.controllers[0].concurrency == 2


async def test_a_kind_without_groups_is_refused_where_the_settings_turn_gangs_on() -> None:
    manager = Manager(JobSettings(gang_scheduler="volcano"), name="toys")
    manager.controller(ToyJob, JobReconciler(PhasedKind()))
    with pytest.raises(ConfigError, match="say in its pod_groups"):
        await manager.start()


def test_gangs_and_queues_that_are_turned_on_after_the_rules_were_given_are_refused() -> None:
    manager = _manager(JobSettings())
    before = manager.rules()
    manager.reconfigure(JobSettings(namespace="team"), make_log())
    assert manager.rules() == before
    manager.reconfigure(JobSettings(kueue=True), make_log())
    with pytest.raises(ConfigError, match="only when its flags have been read"):
        manager.rules()


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_kinds_declare_what_their_manifests_give(kind: str) -> None:
    manager = assemble(ProgramSettings(kinds=[kind]))
    assert manager.rules() == merge_rules(rules_of(kind))
    if kind != "PyTorchJob":
        own = manager.own_rules()
        assert merge_rules([*own, *KEY_RULES]) == own
