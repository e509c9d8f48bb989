# SPDX-License-Identifier: Apache-2.0
"""Gets, lists, pages and the opening of watches."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec

from dglop.testing.memory.convert import converted
from dglop.testing.memory.refusal import Problem, RefusalError, bad_request, forbidden_option, not_found
from dglop.testing.memory.selectors import read_selectors
from dglop.testing.memory.watching import Watcher, bookmark_line, error_line, event_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dglop.runtime.clock import Clock
    from dglop.testing.memory.request import Request, Target
    from dglop.testing.memory.resources import ResourceInfo
    from dglop.testing.memory.store import Store, Stored

__all__ = ("Reads", "partial")

_EXPIRED_PAGE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new "
    "list without the continue parameter, or use the continue token in this response to retrieve the "
    "remainder of the results. Continuing with the provided token results in an inconsistent list - objects "
    "that were created, modified, or deleted between the time the first chunk was returned and now may show "
    "up in the list."
)
_LATEST = -1
"""The version of a token that goes on with whatever there is by then."""


def partial(wire: dict[str, Any]) -> dict[str, Any]:
    """An object as PartialObjectMetadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": wire["metadata"]}


class Reads:
    """What reads objects. Every method may raise RefusalError."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def get(self, target: Target, request: Request) -> bytes:
        info = target.info
        self._check_version(request.query.get("resourceVersion", ""))
        found = self._store.get(info.storage, target.key)
        if found is None:
            raise not_found(info, target.name)
        wire = converted(info, found.wire)
        if "as=PartialObjectMetadata" in request.accept:
            return msgspec.json.encode(partial(wire))
        return found.raw if wire is found.wire else msgspec.json.encode(wire)

    def list(self, target: Target, request: Request) -> bytes:
        info, query = target.info, request.query
        self._check_list(query.get("resourceVersion", ""), query.get("resourceVersionMatch", ""))
        selector = read_selectors(info, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        objects, version, start = self._state(target, request)
        chosen = [
            each
            for each in objects
            if (target.namespace is None or each.wire["metadata"].get("namespace") == target.namespace)
            and (selector is None or selector(converted(info, each.wire)))
        ]
        limit = int(query.get("limit") or 0)
        rest = [each for each in chosen if _place(each) > start] if start else chosen
        page = rest[:limit] if limit else rest
        metadata: dict[str, Any] = {"resourceVersion": str(version)}
        if info.is_custom:
            metadata["continue"] = ""
        if limit and len(rest) > limit:
            metadata["continue"] = _token(version, _place(page[-1]))
            if selector is None:
                metadata["remainingItemCount"] = len(rest) - limit
        return msgspec.json.encode(_listed(info, page, metadata, request))

    def watch(self, target: Target, request: Request) -> Watcher:
        """An open watch; the caller adds it to those that hear of changes."""
        info, query = target.info, request.query
        _check_watch(query.get("resourceVersionMatch", ""), query.get("sendInitialEvents", ""))
        selector = read_selectors(info, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        is_partial = "as=PartialObjectMetadata" in request.accept

        def shown(wire: dict[str, Any], raw: bytes) -> bytes:
            seen = converted(info, wire)
            if is_partial:
                return msgspec.json.encode(partial(seen))
            return raw if seen is wire else msgspec.json.encode(seen)

        def matches(wire: dict[str, Any]) -> bool:
            return selector is None or selector(converted(info, wire))

        watcher = Watcher(info.storage, target.namespace, matches, shown, self._clock)
        kind = "PartialObjectMetadata" if is_partial else info.kind
        api_version = "meta.k8s.io/v1" if is_partial else info.api_version
        version = _number(query.get("resourceVersion", ""))
        wants_initial = query.get("sendInitialEvents") == "true"
        wants_bookmarks = query.get("allowWatchBookmarks") == "true"
        if version == 0 or wants_initial:
            for each in self._store.all(info.storage, target.namespace):
                if matches(each.wire):
                    watcher.push(event_line("ADDED", shown(each.wire, each.raw)))
        elif version < self._store.compacted:
            text = f"too old resource version: {version} ({self._store.compacted})"
            watcher.push(error_line(RefusalError(410, "Expired", text)))
            watcher.end()
            return watcher
        else:
            for change in self._store.changes(info.storage, version):
                watcher.offer(change)
        if wants_bookmarks:
            if wants_initial:
                watcher.push(bookmark_line(api_version, kind, self._store.version, ends_initial=True))
            watcher.repeat_bookmarks(lambda: bookmark_line(api_version, kind, self._store.version))
        watcher.limit(float(query.get("timeoutSeconds") or 1800))
        return watcher

    def _state(self, target: Target, request: Request) -> tuple[Sequence[Stored], int, str]:
        """The objects to list, their common version, and where to begin."""
        query, storage = request.query, target.info.storage
        if query.get("continue"):
            if query.get("resourceVersion"):
                raise bad_request("specifying resource version is not allowed when using continue")
            version, start = _read_token(query["continue"])
            if version == _LATEST:
                return self._store.all(storage), self._store.version, start
            if version < self._store.compacted:
                rest = {"continue": _token(_LATEST, start)}
                raise RefusalError(410, "Expired", _EXPIRED_PAGE, metadata=rest)
            return self._store.at(storage, version), version, start
        self._check_version(query.get("resourceVersion", ""))
        if query.get("resourceVersionMatch") == "Exact":
            version = _number(query["resourceVersion"])
            if version < self._store.compacted:
                text = f"The resourceVersion for the provided list is too old: {version}"
                raise RefusalError(410, "Expired", text)
            return self._store.at(storage, version), version, ""
        return self._store.all(storage), self._store.version, ""

    def _check_version(self, text: str) -> None:
        version = _number(text)
        if version > self._store.version:
            causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
            raise RefusalError(
                504,
                "Timeout",
                f"Too large resource version: {version}, current: {self._store.version}",
                {"causes": causes, "retryAfterSeconds": 1},
                retry_after=1.0,
            )

    def _check_list(self, version: str, match: str) -> None:
        def refuse(why: str) -> RefusalError:
            return forbidden_option("ListOptions", Problem.forbidden("resourceVersionMatch", why))

        if match and not version:
            raise refuse("resourceVersionMatch is forbidden unless resourceVersion is provided")
        if match == "Exact" and version == "0":
            raise refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _check_watch(match: str, initial: str) -> None:
    why = ""
    if initial and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
    elif match and not initial:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
    if why:
        raise forbidden_option("ListOptions", Problem.forbidden("resourceVersionMatch", why))


def _listed(
    info: ResourceInfo, page: list[Stored], metadata: dict[str, Any], request: Request
) -> dict[str, Any]:
    wires = [converted(info, each.wire) for each in page]
    if "as=PartialObjectMetadata" in request.accept:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        if not metadata.get("continue"):
            metadata.pop("continue", None)
        return {**head, "metadata": metadata, "items": [partial(each) for each in wires]}
    head = {"kind": info.list_kind, "apiVersion": info.api_version}
    if not info.is_custom:
        wires = [
            {name: value for name, value in each.items() if name not in ("apiVersion", "kind")}
            for each in wires
        ]
    return {**head, "metadata": metadata, "items": wires}


def _place(stored: Stored) -> str:
    metadata = stored.wire["metadata"]
    return f"{metadata.get('namespace') or ''}/{metadata['name']}"


def _token(version: int, place: str) -> str:
    wire = {"v": "meta.k8s.io/v1", "rv": version, "start": f"{place}\0"}
    return base64.urlsafe_b64encode(msgspec.json.encode(wire)).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, str]:
    try:
        wire = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return int(wire["rv"]), str(wire["start"]).rstrip("\0")
    except (ValueError, LookupError, TypeError) as problem:
        raise bad_request(f"invalid continue token: continue key is not valid: {problem}") from problem


def _number(text: str) -> int:
    if not text:
        return 0
    if not text.isdecimal():
        raise bad_request(
            f'invalid resource version: resourceVersion: Invalid value: "{text}": '
            f'strconv.ParseUint: parsing "{text}": invalid syntax'
        )
    return int(text)
