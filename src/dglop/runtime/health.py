# SPDX-License-Identifier: Apache-2.0
"""/healthz, /readyz and /metrics, in the manner of the API server and controller-runtime."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from prometheus_client.exposition import choose_encoder

from dglop.errors import DglopError
from dglop.runtime.serving import HttpRequest, HttpResponse, Route
from dglop.runtime.usercode import contained, gives_nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prometheus_client import CollectorRegistry

__all__ = ("Check", "health_routes", "metrics_routes")

Check: TypeAlias = Callable[[], Awaitable[None] | None]
"""Returns if all is well; raises DglopError, with a sentence that says what is not."""


def health_routes(path: str, checks: Mapping[str, Check]) -> list[Route]:
    """
    Routes for *path* (all checks) and *path*/<check> (one), read anew from *checks* at each request.

    `?verbose` lists the checks, `?exclude=name` leaves some out (with commas, or given again, several); 200
    "ok", or 500 with what failed.
    """

    async def all_checks(request: HttpRequest) -> HttpResponse:
        words = ",".join(request.repeated.get("exclude", ()))
        excluded = {name for name in words.split(",") if name}
        chosen = {name: check for name, check in checks.items() if name not in excluded}
        lines = [await _line(name, check) for name, check in sorted(chosen.items())]
        lines += [f"[+]{name} excluded: ok" for name in sorted(excluded & checks.keys())]
        lines += [f"warn: no check named {name} to exclude" for name in sorted(excluded - checks.keys())]
        return _summary(path, lines, is_verbose="verbose" in request.query)

    async def one_check(request: HttpRequest) -> HttpResponse:
        name = request.params["check"]
        if name not in checks:
            return HttpResponse(404, f"no check named {name}; there are {', '.join(sorted(checks))}\n")
        return _summary(path, [await _line(name, checks[name])], is_verbose="verbose" in request.query)

    return [Route("GET", path, all_checks), Route("GET", path + "/{check}", one_check)]


def metrics_routes(registry: CollectorRegistry) -> list[Route]:
    """GET /metrics, in the format that the scraper asks for."""

    async def metrics(request: HttpRequest) -> HttpResponse:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return HttpResponse(body=encode(registry), content_type=content_type)

    return [Route("GET", "/metrics", metrics)]


async def _line(name: str, check: Check) -> str:
    try:
        with contained(check):
            result: object = check()
            if inspect.isawaitable(result):
                result = await result
            gives_nothing(check, result, "return None if all is well, and raise DglopError if not")
    except DglopError as error:
        return f"[-]{name} failed: {error}"
    except Exception as error:  # noqa: BLE001 - a check that has a bug is one that fails, beside the others
        return f"[-]{name} failed: {type(error).__name__}: {error}"
    return f"[+]{name} ok"


def _summary(path: str, lines: list[str], *, is_verbose: bool) -> HttpResponse:
    is_well = not any(line.startswith("[-]") for line in lines)
    if is_well and not is_verbose:
        return HttpResponse(body="ok")
    verdict = f"{path.strip('/')} check {'passed' if is_well else 'failed'}"
    return HttpResponse(200 if is_well else 500, "\n".join([*lines, verdict, ""]))
