# SPDX-License-Identifier: Apache-2.0
"""The real API server asks our webhooks over TLS."""

from __future__ import annotations

import asyncio
import io
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import pytest_asyncio
import yaml

from dglop import Context, Manager, Resource, Settings
from dglop.errors import ApiError, ConflictError, ForbiddenError, InvalidError, ServerError
from dglop.runtime.client import ClientConfig, PatchType
from dglop.runtime.clock import SystemClock
from dglop.runtime.log import make_log
from dglop.runtime.webhook import (
    AdmissionContext,
    HookOptions,
    UrlTarget,
    install_webhooks,
    write_ca_bundle,
)
from dglop.runtime.webhook.install import CRD, MUTATING, VALIDATING
from dglop.testing.certificates import ServingCertificates
from dglop.testing.clock import ManualClock

from .hooked_kinds import (
    ALPHA,
    CRD_NAME,
    GAMMA,
    MOOD,
    TONE,
    Alpha,
    AlphaSpec,
    Beta,
    BetaSpec,
    Gamma,
    Judge,
    default_tone,
    remove_hooked,
    until,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.testing.envtest import Envtest

POD = Resource("", "v1", "Pod", "pods")


class World:
    """A Manager with webhooks, and the configuration that leads the API server to it."""

    def __init__(
        self, server: Envtest, client: Client, folder: Path, clock: ManualClock | None = None
    ) -> None:
        self.client = client
        self.certificates = ServingCertificates(folder)
        self.out = io.StringIO()
        self.clock = clock
        settings = Settings(
            metrics_bind="0", health_bind="0", webhook_bind="127.0.0.1:0", webhook_cert_path=str(folder)
        )
        config = ClientConfig(kubeconfig=str(server.kubeconfig))
        log = make_log(format_="json", stream=self.out)
        self.manager = Manager(settings, name="hooks", config=config, log=log, clock=clock)
        self.manager.webhook(Beta, default=default_tone, validate=Judge())
        self.manager.conversion(Beta, ALPHA, GAMMA)

    async def install(self, namespace: str) -> None:
        """Tell the API server, and wait until it asks us."""
        target = UrlTarget(f"https://127.0.0.1:{self.manager.ports['webhook']}")
        bundle = self.certificates.ca_bundle
        await install_webhooks(
            self.client, self.manager.webhooks, target, SystemClock(), name="hooks", ca_bundle=bundle
        )
        await until(lambda: self.answers(namespace))

    async def answers(self, namespace: str) -> bool:
        """Whether all three, conversion, defaulting and validation, have taken effect."""
        rude = Alpha(name="probe", namespace=namespace, spec=AlphaSpec(text="FOOL"))
        polite = Beta(name="probe", namespace=namespace, spec=BetaSpec(words=["dear"]))
        try:
            if (await self.client.create(polite, dry_run=True)).spec.tone != "kind":
                return False
            await self.client.create(rude, dry_run=True)
        except InvalidError as error:
            return "must be polite" in error.message
        except ApiError:  # the kind is not served yet, or the certificate not trusted
            pass
        return False

    async def remove(self) -> None:
        await remove_hooked(self.client, "hooks")


@pytest_asyncio.fixture
async def world(server: Envtest, client: Client, namespace: str, tmp_path: Path) -> AsyncIterator[World]:
    world = World(server, client, tmp_path)
    async with world.manager:
        await world.install(namespace)
        try:
            yield world
        finally:
            await world.remove()


async def post(server: Envtest, path: str, body: dict[str, Any]) -> tuple[int, list[str]]:
    """What any client gets: the status and the warnings."""
    kubeconfig = yaml.safe_load(await asyncio.to_thread(server.kubeconfig.read_text))
    headers = {"Authorization": f"Bearer {kubeconfig['users'][0]['user']['token']}"}
    context = ssl.create_default_context(cafile=kubeconfig["clusters"][0]["cluster"]["certificate-authority"])
    async with (
        aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(ssl=context)) as session,
        session.post(server.url + path, json=body) as answer,
    ):
        return answer.status, answer.headers.getall("Warning", [])


async def test_an_object_is_defaulted_judged_and_kept(world: World, server: Envtest, namespace: str) -> None:
    client = world.client
    made = await client.create(Beta(name="a", namespace=namespace, spec=BetaSpec(words=["dear", "friends"])))
    assert made.spec.tone == "kind"
    with pytest.raises(InvalidError) as refused:
        await client.create(Beta(name="b", namespace=namespace, spec=BetaSpec(words=["FOOL"])))
    webhook = 'admission webhook "validate-v1beta1.speechs.hooks.example.dev" denied the request'
    assert refused.value.message == f"{webhook}: spec.words[0]: must be polite"
    assert refused.value.details["causes"] == [
        {"reason": "FieldValueInvalid", "message": "must be polite", "field": "spec.words[0]"}
    ]
    with pytest.raises(ForbiddenError, match="denied the request: a speech never gets shorter"):
        await client.patch(Beta, "a", namespace, {"spec": {"words": ["dear"]}})
    precious = {"metadata": {"labels": {"precious": "true"}}}
    await client.patch(Beta, "a", namespace, precious, how=PatchType.MERGE)
    with pytest.raises(ConflictError, match="it is precious"):
        await client.delete(Beta, "a", namespace)
    await client.patch(Beta, "a", namespace, {"metadata": {"labels": None}})
    path = f"/apis/hooks.example.dev/v1beta1/namespaces/{namespace}/speechs"
    loud: dict[str, Any] = {"apiVersion": "hooks.example.dev/v1beta1", "kind": "Speech"}
    loud |= {"metadata": {"name": "loud"}, "spec": {"words": ["HEAR"]}}
    status, warnings = await post(server, path, loud)
    assert (status, warnings) == (201, ['299 - "spec.words: shouting is bad manners"'])


async def test_a_bug_in_a_webhook_is_told_to_the_client(world: World, namespace: str) -> None:
    with pytest.raises(ServerError, match="denied the request: KeyError: 'bug'"):
        await world.client.create(Beta(name="a", namespace=namespace, spec=BetaSpec(words=["bug"])))


async def test_both_versions_can_be_written_and_read(world: World, namespace: str) -> None:
    client = world.client
    old = Alpha(name="a", namespace=namespace, spec=AlphaSpec(text="dear friends", mood="sad"))
    old.labels["kept"] = "true"
    made = await client.create(old)
    assert (made.spec.text, made.spec.mood) == ("dear friends", "sad")
    new = await client.get(Beta, "a", namespace)
    assert (new.spec.words, new.spec.tone) == (["dear", "friends"], "kind")
    assert (new.uid, new.labels, new.annotations) == (made.uid, {"kept": "true"}, {MOOD: "sad"})
    await client.patch(Beta, "a", namespace, {"spec": {"words": ["dear", "good", "friends"]}})
    again = await client.get(Alpha, "a", namespace)
    assert (again.spec.text, again.spec.mood, again.annotations) == (
        "dear good friends",
        "sad",
        {TONE: "kind"},
    )
    await client.patch(Alpha, "a", namespace, {"spec": {"text": "dear good old friends"}})
    assert (await client.get(Beta, "a", namespace)).spec.words == ["dear", "good", "old", "friends"]
    assert [each.spec.text for each in await client.list(Alpha, namespace)] == ["dear good old friends"]


async def test_versions_beside_the_stored_one_meet_in_it(world: World, namespace: str) -> None:
    client = world.client
    await client.create(Alpha(name="a", namespace=namespace, spec=AlphaSpec(text="dear friends", mood="sad")))
    late = await client.get(Gamma, "a", namespace)
    assert (late.spec.lines, late.spec.script) == (1, "dear friends")
    assert late.annotations[MOOD] == "sad"
    await client.patch(Gamma, "a", namespace, {"spec": {"script": "dear old friends"}})
    early = await client.get(Alpha, "a", namespace)
    assert (early.spec.text, early.spec.mood) == ("dear old friends", "sad")


async def test_a_controller_may_watch_a_version_that_is_not_stored(
    world: World, server: Envtest, namespace: str
) -> None:
    seen: asyncio.Queue[str] = asyncio.Queue()

    async def reconcile(obj: Alpha, ctx: Context) -> None:
        seen.put_nowait(obj.spec.text)

    settings = Settings(metrics_bind="0", health_bind="0", namespace=namespace)
    log = make_log(level="error", stream=io.StringIO())
    config = ClientConfig(kubeconfig=str(server.kubeconfig))
    manager = Manager(settings, name="reader", config=config, log=log)
    manager.controller(Alpha, reconcile)
    await world.client.create(Beta(name="a", namespace=namespace, spec=BetaSpec(words=["stored", "before"])))
    async with manager:
        assert await seen.get() == "stored before"
        await world.client.create(Beta(name="b", namespace=namespace, spec=BetaSpec(words=["watched"])))
        assert await seen.get() == "watched"


async def test_an_object_that_cannot_be_converted_is_told_of_and_spoils_no_other(
    world: World, namespace: str
) -> None:
    client = world.client
    for name, word in (("good", "hello"), ("bad", "unsayable")):
        await client.create(Beta(name=name, namespace=namespace, spec=BetaSpec(words=[word])))
    with pytest.raises(ServerError, match=r"bad cannot be converted to .*v1alpha1: alpha has no word for it"):
        await client.raw("GET", Alpha.resource.path(namespace, "bad"), retry=False)
    assert (await client.get(Alpha, "good", namespace)).spec.text == "hello"
    await client.delete(Beta, "bad", namespace)
    assert [each.name for each in await client.list(Alpha, namespace)] == ["good"]


async def test_certificate_and_authority_are_changed_while_it_runs(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    clock = ManualClock()
    world = World(server, client, tmp_path, clock)
    async with world.manager:
        await world.install(namespace)
        world.certificates.renew_authority()
        while "Took the new certificate" not in world.out.getvalue():
            await clock.advance(10)
        bundle = world.certificates.ca_bundle
        for resource, name in ((MUTATING, "hooks"), (VALIDATING, "hooks"), (CRD, CRD_NAME)):
            assert await write_ca_bundle(client, resource, name, bundle)
            assert not await write_ca_bundle(client, resource, name, bundle)
        await until(lambda: world.answers(namespace))
        made = await client.create(Alpha(name="a", namespace=namespace, spec=AlphaSpec(text="still here")))
        assert made.spec.text == "still here"
        await world.remove()


async def test_pods_are_changed_as_dicts_by_a_chain_where_the_namespace_asks_for_it(
    server: Envtest, client: Client, namespace: str, tmp_path: Path
) -> None:
    def first(pod: dict[str, Any], ctx: AdmissionContext[dict[str, Any]]) -> None:
        pod["metadata"].setdefault("labels", {})["first"] = ctx.request.namespace

    async def second(pod: dict[str, Any], ctx: AdmissionContext[dict[str, Any]]) -> None:
        pod["spec"]["containers"][0]["env"] = [{"name": "SEEN", "value": pod["metadata"]["labels"]["first"]}]

    certificates = ServingCertificates(tmp_path)
    settings = Settings(
        metrics_bind="0", health_bind="0", webhook_bind="127.0.0.1:0", webhook_cert_path=str(tmp_path)
    )
    log = make_log(level="error", stream=io.StringIO())
    manager = Manager(settings, config=ClientConfig(kubeconfig=str(server.kubeconfig)), log=log)
    here = HookOptions(namespace_selector={"matchLabels": {"kubernetes.io/metadata.name": namespace}})
    manager.webhook(POD, default=[first, second], default_options=here)
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": namespace},
    }
    pod["spec"] = {"containers": [{"name": "main", "image": "example.dev/any"}]}

    async def is_asked() -> bool:
        made = await client.create(pod, dry_run=True)
        return bool(made["metadata"].get("labels") == {"first": namespace})

    async with manager:
        target = UrlTarget(f"https://127.0.0.1:{manager.ports['webhook']}")
        bundle = certificates.ca_bundle
        await install_webhooks(client, manager.webhooks, target, SystemClock(), name="pods", ca_bundle=bundle)
        await until(is_asked)
        made = await client.create(pod)
        assert made["spec"]["containers"][0]["env"] == [{"name": "SEEN", "value": namespace}]
        await client.delete(MUTATING, "pods")
