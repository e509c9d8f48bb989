# SPDX-License-Identifier: Apache-2.0
"""Who may read /metrics: bearer tokens checked by TokenReview, paths by SubjectAccessReview."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from dglop.errors import ApiError, CacheNotSyncedError
from dglop.runtime.api import Rule
from dglop.runtime.serving import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dglop.runtime.client import Client
    from dglop.runtime.clock import Clock
    from dglop.runtime.log import Log
    from dglop.runtime.serving import HttpRequest, Route

__all__ = ("ACCESS_RULES", "AccessGuard", "User", "access_review", "bearer_token", "guarded")

TOKEN_SECONDS = 60.0
ALLOW_SECONDS = 300.0
DENY_SECONDS = 30.0
REVIEW_SECONDS = 10.0
MAX_ENTRIES = 4096
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"  # noqa: S105 - a path
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
ACCESS_RULES = (
    Rule(("authentication.k8s.io",), ("tokenreviews",), ("create",)),
    Rule(("authorization.k8s.io",), ("subjectaccessreviews",), ("create",)),
)
"""What an account needs to check others; cluster-wide."""
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class User:
    """Whom a token belongs to, in the API server's words."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for the same user, whatever the order of groups."""
        extra = sorted((name, tuple(values)) for name, values in self.extra.items())
        return repr((self.name, self.uid, tuple(sorted(self.groups)), extra))


def bearer_token(headers: Mapping[str, str]) -> str:
    """The bearer token of these headers (lower-case names), or ""."""
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def access_review(user: User, verb: str, path: str) -> dict[str, Any]:
    """The SubjectAccessReview that asks whether *user* may *verb* the URL path *path*."""
    spec: dict[str, Any] = {"user": user.name, "nonResourceAttributes": {"verb": verb, "path": path}}
    if user.uid:
        spec["uid"] = user.uid
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.extra:
        spec["extra"] = {name: list(values) for name, values in user.extra.items()}
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}


class AccessGuard:
    """
    Lets requests through whose token the API server knows and whose user may read the path.

    Guarantees: no token or an unknown one is answered 401, a user without the right 403, and nothing is let
    through while the API server cannot be asked (500). Answers are kept for a minute (tokens, known or not),
    five minutes (allowed) and half a minute (denied), as controller-runtime does; tokens are kept as hashes.
    The program's own account needs ACCESS_RULES.
    """

    def __init__(self, client: Callable[[], Client], *, clock: Clock, log: Log) -> None:
        self._client = client
        self._log = log
        self._users: _Cache[User | None] = _Cache(clock.monotonic)
        self._rights: _Cache[bool] = _Cache(clock.monotonic)

    async def refusal(self, request: HttpRequest) -> HttpResponse | None:
        """The answer to a request that may not pass, or None."""
        token = bearer_token(request.headers)
        if not token:
            return HttpResponse(401, "Unauthorized: send a bearer token\n")
        try:
            user = await self._user(token)
            if user is None:
                return HttpResponse(401, "Unauthorized: the token is not known\n")
            if not await self._may(user, request.method.lower(), request.path):
                return HttpResponse(403, f"Forbidden: {user.name} may not {request.method} {request.path}\n")
        except CacheNotSyncedError:
            return HttpResponse(503, "not started yet\n")
        except (ApiError, msgspec.DecodeError) as error:
            self._log.error("Could not check who reads", path=request.path, error=str(error))
            return HttpResponse(500, "the API server could not be asked who this is\n")
        return None

    async def _user(self, token: str) -> User | None:
        key = hashlib.sha256(token.encode()).hexdigest()
        known = self._users.get(key)
        if known is not None:
            return known[0]
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        status = (await self._post(TOKEN_REVIEWS, review)).get("status") or {}
        user = _user_of(status.get("user") or {}) if status.get("authenticated") else None
        self._users.put(key, user, TOKEN_SECONDS)
        return user

    async def _may(self, user: User, verb: str, path: str) -> bool:
        key = f"{verb} {path} {user.key}"
        known = self._rights.get(key)
        if known is not None:
            return known[0]
        status = (await self._post(ACCESS_REVIEWS, access_review(user, verb, path))).get("status") or {}
        allowed = status.get("allowed") is True and status.get("denied") is not True
        self._rights.put(key, allowed, ALLOW_SECONDS if allowed else DENY_SECONDS)
        return allowed

    async def _post(self, path: str, review: dict[str, Any]) -> dict[str, Any]:
        body = msgspec.json.encode(review)
        answer = await self._client().raw("POST", path, body=body, timeout=REVIEW_SECONDS)
        return msgspec.json.decode(answer, type=dict[str, Any])


def guarded(routes: Iterable[Route], guard: AccessGuard) -> list[Route]:
    """The same routes, each behind *guard*."""

    def behind(route: Route) -> Route:
        async def handle(request: HttpRequest) -> HttpResponse:
            return await guard.refusal(request) or await route.handler(request)

        return replace(route, handler=handle)

    return [behind(route) for route in routes]


class _Cache(Generic[V]):
    """Values that are forgotten after a while, or when there are too many; the least used go first."""

    def __init__(self, monotonic: Callable[[], float], *, max_entries: int = MAX_ENTRIES) -> None:
        self._monotonic = monotonic
        self._max = max_entries
        self._entries: OrderedDict[str, tuple[float, V]] = OrderedDict()

    def get(self, key: str) -> tuple[V] | None:
        """The value in a tuple of one, since it may be None itself."""
        found = self._entries.get(key)
        if found is None or self._monotonic() >= found[0]:
            self._entries.pop(key, None)
            return None
        self._entries.move_to_end(key)
        return (found[1],)

    def put(self, key: str, value: V, seconds: float) -> None:
        self._entries[key] = (self._monotonic() + seconds, value)
        self._entries.move_to_end(key)
        while len(self._entries) > self._max:
            self._entries.popitem(last=False)


def _user_of(wire: dict[str, Any]) -> User:
    return User(
        name=str(wire.get("username", "")),
        uid=str(wire.get("uid") or ""),
        groups=tuple(wire.get("groups") or ()),
        extra=wire.get("extra") or {},
    )
