# SPDX-License-Identifier: Apache-2.0
"""A line of a watch says the same, however it is written."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from dglop.errors import GoneError
from dglop.runtime.api import Resource
from dglop.runtime.cache.watchline import Bookmark, Change, read_line

POD = Resource("", "v1", "Pod", "pods")
MANAGED = [{"manager": "kubectl", "fieldsV1": {"f:metadata": {}}}]


def pod(**metadata: Any) -> dict[str, Any]:
    known = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "5"}
    return {"kind": "Pod", "metadata": {**known, **metadata}, "spec": {"nodeName": "}}x"}}


def tight(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def change(line: bytes) -> Change:
    found = read_line(line, POD)
    assert not isinstance(found, Bookmark)
    return found


@pytest.mark.parametrize(
    "line",
    [
        tight({"type": "MODIFIED", "object": pod(managedFields=MANAGED)}),
        tight({"type": "MODIFIED", "object": pod(managedFields=MANAGED)}) + b" ",
        json.dumps({"type": "MODIFIED", "object": pod(managedFields=MANAGED)}).encode(),
        tight({"object": pod(managedFields=MANAGED), "type": "MODIFIED"}),
        tight({"type": "MODIFIED", "object": pod(managedFields=MANAGED), "more": {}}),
    ],
    ids=["as servers write it", "space behind", "space inside", "other order", "more members"],
)
def test_the_object_is_what_the_line_holds_of_it(line) -> None:
    type_, obj, kind = change(line)
    assert (type_, kind, obj.key, obj.meta.resource_version) == ("MODIFIED", "Pod", ("n", "a"), "5")
    assert msgspec.json.decode(obj.raw) == pod()


def test_metadata_that_does_not_fit_costs_no_object() -> None:
    type_, obj, _ = change(tight({"type": "ADDED", "object": pod(generation="many", labels=7)}))
    assert (type_, obj.name, obj.meta.generation, obj.meta.labels) == ("ADDED", "a", 0, {})


def test_a_bookmark_is_its_metadata() -> None:
    mark = read_line(tight({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}), POD)
    assert isinstance(mark, Bookmark)
    assert mark.resource_version == "9"


def test_an_error_event_is_raised() -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    with pytest.raises(GoneError, match="too old"):
        read_line(tight({"type": "ERROR", "object": gone}), POD)


@pytest.mark.parametrize("line", [b"<html>", b'{"type":"ADDED"', b'{"type":"ADDED","object":{"metadata":{}}'])
def test_what_is_no_event_is_refused(line) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_line(line, POD)
