# SPDX-License-Identifier: Apache-2.0
"""The HTTPS server of a Manager's webhooks."""

from __future__ import annotations

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from dglop.errors import DglopError
from dglop.runtime.bind import parse_bind
from dglop.runtime.certwatch import CertWatcher
from dglop.runtime.clock import within
from dglop.runtime.serving import HTTPServer, Route, serve
from dglop.runtime.webhook.answer import Answers
from dglop.runtime.webhook.call import Surroundings
from dglop.runtime.webhook.conversion import PATH
from dglop.runtime.webhook.metrics import WebhookMetrics

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.metrics import Metrics
    from dglop.runtime.serving import HttpRequest, HttpResponse, OnFailure
    from dglop.runtime.webhook.registry import Webhooks

__all__ = ("WebhookServer",)

MAX_ADMISSION = 7 * 2**20
MAX_TOKEN = 2**20
MAX_CONVERSION = 256 * 2**20
THREADS = 32
CONCURRENT = 256
DRAIN_SECONDS = 5.0
CHECK_SECONDS = 5.0


class WebhookServer:
    """
    Serves the webhooks of one Manager over TLS, with the certificate in *certs* as it is at the moment.

    With *client_ca* only clients with a certificate of that authority are served.
    Plain functions run in threads of its own, so that slow ones cannot hold up reconcilers; one that never
    returns keeps its thread, but its request is answered in time. Also a Runnable. Raises ConfigError for a
    certificate that cannot be used and an address that cannot be listened on.
    """

    name = "webhook"

    def __init__(
        self,
        webhooks: Webhooks,
        *,
        bind: str,
        certs: Path,
        client_ca: Path | None = None,
        client: Callable[[], Client],
        clock: Clock,
        log: Log,
        metrics: Metrics,
    ) -> None:
        self._clock = clock
        self._host = _reachable(bind)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="webhook")
        self._metrics = WebhookMetrics(metrics, webhooks.paths)
        self.certificates: CertWatcher = CertWatcher(
            certs, clock=clock, log=log, metrics=metrics, client_ca=client_ca
        )
        around = Surroundings(client, clock, log, self._threads)
        self._server = HTTPServer(
            bind,
            self._routes(webhooks, Answers(around, self._metrics)),
            name="webhook",
            log=log,
            max_concurrent=CONCURRENT,
            tls=self.certificates,
            drain_seconds=DRAIN_SECONDS,
        )

    @property
    def port(self) -> int | None:
        """The port that is listened on, while it is."""
        return self._server.port

    async def check(self) -> None:
        """The readiness check: shakes hands with itself. Raises DglopError if that fails."""
        if self.port is None:
            raise DglopError("the webhook server does not serve yet")
        try:
            await within(self._clock, CHECK_SECONDS, _shake_hands(self._host, self.port))
        except OSError as error:  # TimeoutError is one, and so is ssl.SSLError
            raise DglopError(f"the webhook server does not answer: {error}") from error

    async def start(self, on_failure: OnFailure | None = None) -> None:
        """Serve; certificates are looked after from now on, and *on_failure* hears what ends that."""
        await self._server.start(on_failure)

    async def stop(self) -> None:
        """Take no request any more, and wait a few seconds for those in progress."""
        await self._server.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until *stop* is set."""
        await serve(self, stop)

    def _routes(self, webhooks: Webhooks, answers: Answers) -> list[Route]:
        routes = [
            self._route(path, partial(answers.admission, hook), MAX_ADMISSION)
            for path, hook in webhooks.hooks.items()
        ]
        if webhooks.conversions:
            answer = partial(answers.conversion, webhooks.conversions)
            routes.append(self._route(PATH, answer, MAX_CONVERSION))
        for path, function in webhooks.authenticators.items():
            routes.append(self._route(path, partial(answers.authentication, path, function), MAX_TOKEN))
        return routes

    def _route(
        self, path: str, answer: Callable[[HttpRequest], Awaitable[HttpResponse]], max_body: int
    ) -> Route:
        async def handle(request: HttpRequest) -> HttpResponse:
            began, code = self._clock.monotonic(), 500
            self._metrics.began(path)
            try:
                response = await answer(request)
                code = response.status
            finally:
                self._metrics.ended(path, code=code, seconds=self._clock.monotonic() - began)
            return response

        return Route("POST", path, handle, max_body=max_body)


def _reachable(bind: str) -> str:
    """The host by which this machine reaches what listens on *bind*."""
    host = (parse_bind(bind) or (None, 0))[0]
    return {None: "localhost", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host) or str(host)  # noqa: S104


async def _shake_hands(host: str, port: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the question is whether it is there, not whether to trust it
    _, writer = await asyncio.open_connection(host, port, ssl=context)
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
