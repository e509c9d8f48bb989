# SPDX-License-Identifier: Apache-2.0
"""`controller_runtime_webhook_*`: what a webhook server reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dglop.runtime.webhook.conversion import PATH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dglop.runtime.metrics import Metrics

__all__ = ("WebhookMetrics",)

LATENCY_SECONDS = tuple(10.0**exponent for exponent in range(-8, 4))


class WebhookMetrics:
    """The server's share of the metrics; every series of *paths* exists from the start, so rates do."""

    def __init__(self, families: Metrics, paths: Iterable[str]) -> None:
        head = "controller_runtime_webhook_"
        self._latency = families.histogram(
            f"{head}latency_seconds", "Time to the answer", "webhook", buckets=LATENCY_SECONDS
        )
        self._total = families.counter(f"{head}requests_total", "Requests", "webhook", "code")
        self._in_flight = families.gauge(f"{head}requests_in_flight", "Requests in progress", "webhook")
        self._panics = families.counter(f"{head}panics_total", "Admissions that failed by a bug")
        self._conversion_panics = families.counter(
            "controller_runtime_conversion_webhook_panics_total", "Conversions that failed by a bug"
        )
        for path in paths:
            self._latency.labels(path)
            self._in_flight.labels(path)
            for code in ("200", "500"):
                self._total.labels(path, code)

    def began(self, path: str) -> None:
        self._in_flight.labels(path).inc()

    def ended(self, path: str, *, code: int, seconds: float) -> None:
        self._in_flight.labels(path).dec()
        self._total.labels(path, str(code)).inc()
        self._latency.labels(path).observe(seconds)

    def panic(self, path: str) -> None:
        (self._conversion_panics if path == PATH else self._panics).inc()
