# SPDX-License-Identifier: Apache-2.0
"""An operator: python examples/greeting.py --install-crds"""

from kubernetes.aio.client import V1ConfigMap, V1ObjectMeta
from pydantic import Field

from dglop import Context, CustomResource, Manager, Spec, Status


class GreetingSpec(Spec):
    text: str = Field(max_length=256)
    """What to say."""


class Greeting(
    CustomResource[GreetingSpec, Status],
    group="example.dev",
    version="v1",
    columns={"Ready": ".status.conditions[?(@.type=='Ready')].status"},
):
    """Keeps a ConfigMap that says one thing."""


async def reconcile(greeting: Greeting, ctx: Context) -> None:
    page = V1ConfigMap(metadata=V1ObjectMeta(name=greeting.name), data={"text": greeting.spec.text})
    await ctx.apply(page, owner=greeting)
    greeting.status.set("Ready", True, reason="Published")


manager = Manager(name="greeting")
manager.controller(Greeting, reconcile, owns=[V1ConfigMap])

if __name__ == "__main__":
    manager.main()
