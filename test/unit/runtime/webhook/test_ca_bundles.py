# SPDX-License-Identifier: Apache-2.0
"""The CA bundle in what names the webhooks follows the file beside the certificate."""

from __future__ import annotations

import base64
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from dglop import Context, CustomResource, Manager, Rule, Settings, Spec, Status
from dglop.errors import ConfigError
from dglop.runtime.access import ACCESS_RULES
from dglop.runtime.client import Client
from dglop.runtime.log import make_log
from dglop.runtime.webhook import Spoke
from dglop.runtime.webhook.cabundle import CABundleKeeper
from dglop.runtime.webhook.install import CRD, MUTATING, VALIDATING, Installed, read_bundle
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock

from .admission_kinds import Greeting, GreetingSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALIDATING_PATH = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/greeter"
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/greetings.example.dev"
TARGET = "hooks.greeting-system"


class Beta(CustomResource[GreetingSpec, Status], group="example.dev", version="v1beta1", kind="Greeting"):
    """Another version."""


class Seen(CustomResource[Spec, Status], group="example.dev", version="v1", kind="Greeting"):
    """What a controller is for."""


async def do_nothing(obj: Seen, ctx: Context) -> None:
    return


def accept(obj: Greeting, ctx: Any) -> None:
    return


def converted(manager: Manager) -> None:
    manager.conversion(
        Greeting, Spoke(Beta, lambda beta: Greeting(spec=beta.spec), lambda hub: Beta(spec=hub.spec))
    )


def make_manager(api, folder: Path, *, out: io.StringIO | None = None, **settings: Any) -> Manager:
    wanted = {
        "metrics_bind": "0",
        "health_bind": "0",
        "webhook_bind": "127.0.0.1:0",
        "webhook_cert_path": str(folder),
        "webhook_target": TARGET,
        "install_crds": True,
        **settings,
    }
    log = make_log(format_="json", stream=out or io.StringIO())
    return Manager(Settings(**wanted), name="greeter", config=api.config, log=log, clock=ManualClock())


def bundle_in(configuration: dict[str, Any]) -> bytes:
    return base64.b64decode(configuration["webhooks"][0]["clientConfig"]["caBundle"])


async def looked(manager: Manager, condition: Callable[[], bool]) -> None:
    """Let the time come to look at the file, until *condition* holds."""
    assert isinstance(manager.clock, ManualClock)
    while not condition():
        await manager.clock.advance(10)


@pytest.mark.scripted
async def test_with_a_target_the_configurations_are_installed_once_the_server_answers(api, tmp_path):
    certificates = ServingCertificates(tmp_path)
    manager = make_manager(api, tmp_path)
    manager.webhook(Greeting, validate=accept)
    async with manager:
        configuration = api.objects[VALIDATING_PATH]
        assert bundle_in(configuration) == certificates.ca_bundle
        (entry,) = configuration["webhooks"]
        assert entry["clientConfig"]["service"]["name"] == "hooks"


@pytest.mark.scripted
async def test_a_new_authority_is_written_into_the_configuration_and_one_that_is_none_is_not(api, tmp_path):
    certificates, out = ServingCertificates(tmp_path), io.StringIO()
    manager = make_manager(api, tmp_path, out=out)
    manager.webhook(Greeting, validate=accept)
    async with manager:
        certificates.renew_authority()
        await looked(manager, lambda: bundle_in(api.objects[VALIDATING_PATH]) == certificates.ca_bundle)
        (tmp_path / "ca.crt").write_text("nothing")
        await looked(manager, lambda: "holds no certificate" in out.getvalue())
        assert bundle_in(api.objects[VALIDATING_PATH]) == certificates.ca_bundle


@pytest.mark.scripted
async def test_a_bundle_that_could_not_be_written_is_tried_again(api, tmp_path):
    certificates, out = ServingCertificates(tmp_path), io.StringIO()
    manager = make_manager(api, tmp_path, out=out)
    manager.webhook(Greeting, validate=accept)
    async with manager:
        lost = api.objects.pop(VALIDATING_PATH)
        certificates.renew_authority()
        await looked(manager, lambda: "Could not write the new CA bundle" in out.getvalue())
        await api.put(VALIDATING_PATH, lost)
        await looked(manager, lambda: bundle_in(api.objects[VALIDATING_PATH]) == certificates.ca_bundle)
    told = [json.loads(line)["msg"] for line in out.getvalue().splitlines()]
    assert told.count("Wrote the new CA bundle") == 1


@pytest.mark.scripted
async def test_a_bundle_is_written_once_and_only_over_what_was_read(api, tmp_path):
    certificates, entry = ServingCertificates(tmp_path), {"name": "a.b.c", "clientConfig": {}}
    stored = await api.put(VALIDATING_PATH, {"metadata": {"name": "greeter"}, "webhooks": [entry]})
    async with await Client.connect(api.config) as client:
        keeper = CABundleKeeper(
            tmp_path / "ca.crt",
            [Installed(VALIDATING, "greeter")],
            b"",
            client=client,
            clock=ManualClock(),
            log=make_log(level="error"),
        )
        await keeper.check()
        assert bundle_in(api.objects[VALIDATING_PATH]) == certificates.ca_bundle
        (write,) = api.writes()
        assert write.json()["metadata"] == {"resourceVersion": stored["metadata"]["resourceVersion"]}
        asked = len(api.server.requests)
        await keeper.check()
        assert len(api.server.requests) == asked


@pytest.mark.scripted
async def test_a_converted_kind_needs_a_target_before_its_crd_is_applied(api, tmp_path):
    ServingCertificates(tmp_path)
    manager = make_manager(api, tmp_path, webhook_target="")
    converted(manager)
    with pytest.raises(ConfigError, match=r"greetings\.example\.dev must say .*: --webhook-target"):
        await manager.start()
    assert CRD_PATH not in api.objects


async def test_without_a_file_the_api_server_is_taken_to_trust_the_certificate_anyway(tmp_path):
    assert await read_bundle(tmp_path / "ca.crt") == b""


def test_the_rights_to_install_follow_from_what_is_registered_and_configured(api_less_manager):
    manager = api_less_manager(install_crds=True, webhook_target=TARGET)
    manager.webhook(Greeting, validate=accept)
    rules = manager.rules()
    assert Rule.of(VALIDATING, "create") in rules
    assert Rule.of(VALIDATING, "get", "patch", names=("greeter",)) in rules
    assert not any(MUTATING.plural in rule.resources for rule in rules)
    assert Rule.of(CRD, "create", "patch", "watch") in rules
    converted(manager)
    assert Rule.of(CRD, "create", "get", "patch", "watch") in manager.rules()
    installed_by_hand = api_less_manager(metrics_secure=True)
    installed_by_hand.webhook(Greeting, validate=accept)
    assert not any("admissionregistration.k8s.io" in rule.groups for rule in installed_by_hand.rules())
    assert set(ACCESS_RULES) <= set(installed_by_hand.rules())


def test_in_one_namespace_the_rights_to_what_is_in_none_are_a_cluster_role_beside(api_less_manager):
    manager = api_less_manager(namespace="team", metrics_secure=True)
    manager.controller(Seen, do_nothing)
    found = {(each["kind"], each["metadata"]["name"]): each for each in manager.rights("system")}
    assert list(found) == [
        ("Role", "greeter"),
        ("RoleBinding", "greeter"),
        ("Role", "greeter-own"),
        ("RoleBinding", "greeter-own"),
        ("ClusterRole", "greeter-cluster"),
        ("ClusterRoleBinding", "greeter-cluster"),
    ]
    groups = [rule["apiGroups"] for rule in found["ClusterRole", "greeter-cluster"]["rules"]]
    assert groups == [["authentication.k8s.io"], ["authorization.k8s.io"]]
    narrow = [rule["apiGroups"] for rule in found["Role", "greeter"]["rules"]]
    assert ["authentication.k8s.io"] not in narrow


@pytest.fixture
def api_less_manager() -> Callable[..., Manager]:
    return lambda **settings: Manager(Settings(**settings), name="greeter")
