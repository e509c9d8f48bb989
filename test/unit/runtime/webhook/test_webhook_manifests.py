# SPDX-License-Identifier: Apache-2.0
"""What the API server is told of the webhooks that were registered."""

from __future__ import annotations

from typing import Any

import pytest

from dglop import CustomResource, Manager, Resource, Settings, Spec, Status
from dglop.errors import ConfigError
from dglop.runtime.webhook import HookOptions, HookRule, ServiceTarget, Spoke, UrlTarget, with_ca_bundle

from .admission_kinds import Greeting, GreetingSpec

SERVICE = ServiceTarget("hooks", "greeting-system")
URL = UrlTarget("https://127.0.0.1:9443/")
UNUSED: Any = object()
"""A client for what fails before it would be needed."""
POD = Resource("", "v1", "Pod", "pods")


class Beta(CustomResource[GreetingSpec, Status], group="example.dev", version="v1beta1", kind="Greeting"):
    """Another version."""


class Deleted:
    def validate_delete(self, obj, ctx):
        pass


def nothing(obj, ctx) -> None:
    pass


@pytest.fixture
def manager() -> Manager:
    return Manager(Settings(), name="greeting")


def test_a_kind_with_both_has_an_entry_in_each_configuration(manager):
    manager.webhook(Greeting, default=nothing, validate=[nothing, Deleted()])
    mutating, validating = manager.webhooks.manifests(SERVICE, name="greeting", ca_bundle=b"pem")
    assert (mutating["kind"], mutating["metadata"]) == ("MutatingWebhookConfiguration", {"name": "greeting"})
    assert mutating["webhooks"] == [
        {
            "name": "mutate-v1.greetings.example.dev",
            "clientConfig": {
                "service": {
                    "name": "hooks",
                    "namespace": "greeting-system",
                    "port": 443,
                    "path": "/mutate-example-dev-v1-greeting",
                },
                "caBundle": "cGVt",
            },
            "rules": [
                {
                    "apiGroups": ["example.dev"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE", "UPDATE"],
                    "resources": ["greetings"],
                    "scope": "Namespaced",
                }
            ],
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "sideEffects": "None",
            "timeoutSeconds": 10,
            "reinvocationPolicy": "Never",
        }
    ]
    (entry,) = validating["webhooks"]
    assert validating["kind"] == "ValidatingWebhookConfiguration"
    assert entry["clientConfig"]["service"]["path"] == "/validate-example-dev-v1-greeting"
    assert entry["rules"][0]["operations"] == ["CREATE", "UPDATE", "DELETE"]
    assert "reinvocationPolicy" not in entry


def test_options_say_otherwise(manager):
    options = HookOptions(
        name="policy.pods.example.dev",
        path="/policy",
        rules=[HookRule(("",), ("v1",), ("pods", "pods/exec"), ("CREATE", "CONNECT"))],
        failure_policy="Ignore",
        namespace_selector={"matchLabels": {"a": "b"}},
        match_conditions={"not-system": "!request.userInfo.username.startsWith('system:')"},
    )
    manager.webhook(POD, validate=nothing, validate_options=options)
    (validating,) = manager.webhooks.manifests(URL, name="policy")
    (entry,) = validating["webhooks"]
    assert entry["clientConfig"] == {"url": "https://127.0.0.1:9443/policy"}
    assert entry["rules"][0]["resources"] == ["pods", "pods/exec"]
    assert (entry["failurePolicy"], entry["namespaceSelector"]) == ("Ignore", {"matchLabels": {"a": "b"}})
    assert entry["matchConditions"][0]["name"] == "not-system"


def test_the_paths_and_names_of_a_core_kind_are_whole(manager):
    manager.webhook(POD, default=nothing)
    (hook,) = manager.webhooks.hooks.values()
    assert (hook.path, hook.name) == ("/mutate--v1-pod", "mutate-v1.pods.core")


def test_a_path_or_a_name_is_given_once(manager):
    manager.webhook(Greeting, default=nothing)
    with pytest.raises(ConfigError, match="/mutate-example-dev-v1-greeting is served already"):
        manager.webhook(Greeting, default=nothing)
    with pytest.raises(ConfigError, match=r"named mutate-v1\.greetings\.example\.dev already"):
        manager.webhook(Greeting, default=nothing, default_options=HookOptions(path="/other"))


def test_a_kind_is_converted_once(manager):
    spoke = Spoke(Beta, lambda beta: Greeting(spec=beta.spec), lambda hub: Beta(spec=hub.spec))
    manager.conversion(Greeting, spoke)
    with pytest.raises(ConfigError, match="has a conversion already"):
        manager.conversion(Greeting, spoke)


def test_the_crd_of_a_converted_kind_has_all_versions_and_says_how(manager):
    manager.conversion(
        Greeting, Spoke(Beta, lambda beta: Greeting(spec=beta.spec), lambda hub: Beta(spec=hub.spec))
    )
    (crd,) = manager.webhooks.crds(SERVICE, ca_bundle=b"pem")
    assert [(each["name"], each["storage"]) for each in crd["spec"]["versions"]] == [
        ("v1", True),
        ("v1beta1", False),
    ]
    conversion = crd["spec"]["conversion"]
    assert (conversion["strategy"], conversion["webhook"]["conversionReviewVersions"]) == ("Webhook", ["v1"])
    assert conversion["webhook"]["clientConfig"]["service"]["path"] == "/convert"
    assert conversion["webhook"]["clientConfig"]["caBundle"] == "cGVt"


def test_a_ca_bundle_has_no_place_where_no_webhook_is_named():
    with pytest.raises(ConfigError, match="ConfigMap names no webhook"):
        with_ca_bundle({"kind": "ConfigMap"}, b"pem")


def test_the_api_server_calls_nothing_but_https():
    with pytest.raises(ConfigError, match="wants https"):
        UrlTarget("http://127.0.0.1")


async def test_webhooks_without_a_certificate_are_a_sentence_at_the_start(manager):
    class Plain(CustomResource[Spec, Status], group="example.dev", version="v1"):
        """A kind."""

    manager = Manager(Settings(metrics_bind="0", health_bind="0"), client=UNUSED)
    manager.webhook(Plain, default=nothing)
    with pytest.raises(ConfigError, match="--webhook-cert-path is missing"):
        await manager.start()
