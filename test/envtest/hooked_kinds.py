# SPDX-License-Identifier: Apache-2.0
"""A kind in three versions, with its conversion, for the webhooks' tests, and how it is taken away."""

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import Field

from dglop import CustomResource, Spec, Status
from dglop.errors import SchemaError
from dglop.runtime.client import Client
from dglop.runtime.webhook import AdmissionContext, Cause, DeniedError, Spoke
from dglop.runtime.webhook.install import CRD, MUTATING, VALIDATING

CRD_NAME = "speechs.hooks.example.dev"

# Where each version keeps what the other alone can say.
MOOD = "hooks.example.dev/mood"
TONE = "hooks.example.dev/tone"


class AlphaSpec(Spec):
    text: str
    """Words with blanks between."""
    mood: str | None = None


class Alpha(CustomResource[AlphaSpec, Status], group="hooks.example.dev", version="v1alpha1", kind="Speech"):
    """The first version."""


class BetaSpec(Spec):
    words: list[str] = Field(default_factory=list)
    tone: str | None = None


class Beta(CustomResource[BetaSpec, Status], group="hooks.example.dev", version="v1beta1", kind="Speech"):
    """The stored version."""


class GammaSpec(Spec):
    lines: int
    script: str


class Gamma(CustomResource[GammaSpec, Status], group="hooks.example.dev", version="v1", kind="Speech"):
    """The last version, which is not stored yet."""


def to_beta(old: Alpha) -> Beta:
    tone = old.annotations.pop(TONE, None)
    new = Beta(spec=BetaSpec(words=old.spec.text.split(), tone=tone))
    if old.spec.mood:
        new.annotations[MOOD] = old.spec.mood
    return new


def to_alpha(new: Beta) -> Alpha:
    if "unsayable" in new.spec.words:
        raise SchemaError("alpha has no word for it")
    mood = new.annotations.pop(MOOD, None)
    old = Alpha(spec=AlphaSpec(text=" ".join(new.spec.words), mood=mood))
    if new.spec.tone:
        old.annotations[TONE] = new.spec.tone
    return old


def gamma_to_beta(gamma: Gamma) -> Beta:
    return Beta(spec=BetaSpec(words=gamma.spec.script.split()))


def beta_to_gamma(beta: Beta) -> Gamma:
    return Gamma(spec=GammaSpec(lines=1, script=" ".join(beta.spec.words)))


ALPHA = Spoke(Alpha, to_beta, to_alpha)
GAMMA = Spoke(Gamma, gamma_to_beta, beta_to_gamma)


async def default_tone(obj: Beta, ctx: AdmissionContext[Beta]) -> None:
    obj.spec.tone = obj.spec.tone or "kind"


class Judge:
    """Refuses rudeness, dislikes shouting, keeps what is precious, and has a bug."""

    def validate_create(self, obj: Beta, ctx: AdmissionContext[Beta]) -> None:
        if "bug" in obj.spec.words:
            raise KeyError("bug")
        if "FOOL" in obj.spec.words:
            raise DeniedError("", Cause("must be polite", "spec.words[0]"))
        if any(word.isupper() for word in obj.spec.words):
            ctx.warn("spec.words: shouting is bad manners")

    async def validate_update(self, old: Beta, obj: Beta, ctx: AdmissionContext[Beta]) -> None:
        if len(obj.spec.words) < len(old.spec.words):
            raise DeniedError("a speech never gets shorter")

    async def validate_delete(self, obj: Beta, ctx: AdmissionContext[Beta]) -> None:
        if obj.labels.get("precious") == "true":
            raise DeniedError("it is precious", code=409, reason="Conflict")


async def until(probe: Callable[[], Awaitable[bool]]) -> None:
    """The API server takes up configurations in its own time, and says nowhere when it has."""
    while not await probe():  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def remove_hooked(client: Client, hooks: str) -> None:
    """Leave the API server as it was, without the configurations named *hooks* and without the kind.

    Objects go while they can still be converted.
    """
    await client.delete(MUTATING, hooks)
    await client.delete(VALIDATING, hooks)
    for each in await client.list(Beta):
        await client.delete(Beta, each.name, each.namespace)
    await client.delete(CRD, CRD_NAME)

    async def is_gone() -> bool:
        return CRD_NAME not in [each["metadata"]["name"] for each in await client.list(CRD)]

    await until(is_gone)
