# SPDX-License-Identifier: Apache-2.0
"""Defaulting and validating, from the request to the answer."""

from __future__ import annotations

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from dglop import Resource
from dglop.errors import CacheNotSyncedError, SchemaError
from dglop.runtime.log import make_log
from dglop.runtime.webhook import AdmissionContext, Cause, DeniedError, UserInfo
from dglop.runtime.webhook.admission import admit, default_step, validate_step, validated_operations
from dglop.runtime.webhook.call import Surroundings
from dglop.runtime.webhook.review import read_review, write_review
from dglop.testing.clock import ManualClock

from .admission_kinds import Greeting, Item, make_request, wire

POD = Resource("", "v1", "Pod", "pods")


def no_client() -> Any:
    raise CacheNotSyncedError("not yet")


@pytest.fixture
def around():
    with ThreadPoolExecutor(2) as threads:
        yield Surroundings(no_client, ManualClock(), make_log(level="error"), threads)


async def test_a_default_is_a_patch_of_what_it_changed_and_nothing_else(around):
    def default(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        obj.spec.tone = "kind"
        obj.labels["a/b"] = "c"

    request = make_request(obj=wire(unknown={"kept": True}, items=[{"name": "a"}]))
    response = await admit([default_step(Greeting, default)], request, around)
    assert response.allowed
    assert response.patch == [
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}},
        {"op": "add", "path": "/spec/tone", "value": "kind"},
    ]


async def test_each_default_sees_what_those_before_it_made(around):
    def first(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        obj.spec.items.append(Item(name="new", size=3))

    async def second(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        obj.spec.tone = f"{len(obj.spec.items)} items"

    steps = [default_step(Greeting, first), default_step(Greeting, second)]
    response = await admit(steps, make_request(obj=wire(items=[{"name": "a", "unknown": 1}])), around)
    assert response.patch == [
        {"op": "add", "path": "/spec/items/-", "value": {"name": "new", "size": 3}},
        {"op": "add", "path": "/spec/tone", "value": "2 items"},
    ]


async def test_a_built_in_kind_can_be_changed_as_the_dict_that_it_is(around):
    def default(pod: dict[str, Any], ctx: AdmissionContext[dict[str, Any]]) -> None:
        pod["metadata"].setdefault("labels", {})["injected"] = "true"

    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "managedFields": []},
        "spec": {"x": 1},
    }
    response = await admit([default_step(POD, default)], make_request(obj=pod), around)
    assert response.patch == [{"op": "add", "path": "/metadata/labels", "value": {"injected": "true"}}]


async def test_a_defaulter_is_not_asked_about_a_deletion(around):
    def default(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        raise AssertionError

    response = await admit([default_step(Greeting, default)], make_request("DELETE", old=wire()), around)
    assert (response.allowed, response.patch) == (True, [])


async def test_a_plain_function_runs_in_a_thread_and_may_wait_for_a_coroutine(around):
    threads = []

    async def ask() -> str:
        threads.append(threading.current_thread())
        return "kind"

    def default(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        threads.append(threading.current_thread())
        obj.spec.tone = ctx.wait(ask())

    response = await admit([default_step(Greeting, default)], make_request(obj=wire()), around)
    assert response.patch == [{"op": "add", "path": "/spec/tone", "value": "kind"}]
    assert threads[0] is not threading.main_thread()
    assert threads[1] is threading.main_thread()


async def test_a_denial_carries_message_code_causes_and_the_warnings_before_it(around):
    async def validate(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        ctx.warn("tone is deprecated")
        raise DeniedError("", Cause("must be polite", "spec.text"), Cause("too many"))

    response = await admit([validate_step(Greeting, validate)], make_request(obj=wire()), around)
    assert (response.allowed, response.code, response.reason) == (False, 422, "Invalid")
    assert response.message == "spec.text: must be polite; too many"
    assert response.warnings == ["tone is deprecated"]
    assert response.details == {
        "name": "hello",
        "group": "example.dev",
        "kind": "Greeting",
        "causes": [
            {"reason": "FieldValueInvalid", "message": "must be polite", "field": "spec.text"},
            {"reason": "FieldValueInvalid", "message": "too many"},
        ],
    }


async def test_the_first_refusal_ends_a_chain_and_a_plain_one_is_forbidden(around):
    asked = []

    def refuse(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        raise DeniedError("not today")

    steps = [validate_step(Greeting, refuse), validate_step(Greeting, lambda obj, ctx: asked.append(obj))]
    response = await admit(steps, make_request(obj=wire()), around)
    assert (response.code, response.reason, response.message) == (403, "Forbidden", "not today")
    assert asked == []


async def test_a_function_that_validates_sees_what_was_stored_before(around):
    seen = []

    def validate(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        seen.append((obj.spec.text, ctx.old.spec.text if ctx.old else None))
        ctx.audit("text", obj.spec.text)

    step = validate_step(Greeting, validate)
    await admit([step], make_request(obj=wire()), around)
    response = await admit([step], make_request("UPDATE", wire(text="new"), wire(text="old")), around)
    await admit([step], make_request("DELETE", old=wire()), around)
    assert seen == [("hi", None), ("new", "old")]
    assert response.audit == {"text": "new"}


class Notes:
    """A validator with all three methods."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, ...]] = []

    def validate_create(self, obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        self.notes.append(("create", obj.spec.text))

    async def validate_update(self, old: Greeting, obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        self.notes.append(("update", old.spec.text, obj.spec.text))

    def validate_delete(self, obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        self.notes.append(("delete", obj.spec.text))


class OnlyDeletion:
    async def validate_delete(self, obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        raise DeniedError("it is needed", code=409, reason="Conflict")


async def test_an_object_is_asked_by_the_method_that_fits(around):
    validator = Notes()
    step = validate_step(Greeting, validator)
    for request in (
        make_request(obj=wire()),
        make_request("UPDATE", wire(text="new"), wire(text="old")),
        make_request("DELETE", old=wire(text="bye")),
    ):
        assert (await admit([step], request, around)).allowed
    assert validator.notes == [("create", "hi"), ("update", "old", "new"), ("delete", "bye")]


async def test_an_object_without_a_method_has_nothing_to_say(around):
    step = validate_step(Greeting, OnlyDeletion())
    assert (await admit([step], make_request(obj=wire()), around)).allowed
    assert (await admit([step], make_request("UPDATE", wire(), wire()), around)).allowed
    response = await admit([step], make_request("DELETE", old=wire()), around)
    assert (response.allowed, response.code, response.reason) == (False, 409, "Conflict")


def test_a_validator_is_registered_for_what_it_has_methods_for():
    assert validated_operations(Notes()) == ("CREATE", "UPDATE", "DELETE")
    assert validated_operations(OnlyDeletion()) == ("DELETE",)
    assert validated_operations(lambda obj, ctx: None) == ("CREATE", "UPDATE")


async def test_what_does_not_fit_the_kind_is_refused_in_the_kinds_words(around):
    step = validate_step(Greeting, lambda obj, ctx: None)
    response = await admit([step], make_request(obj=wire(text="x" * 21)), around)
    assert (response.allowed, response.code, response.reason) == (False, 422, "Invalid")
    assert "Greeting default/hello: spec.text: String should have at most 20 characters" in response.message


async def test_an_object_that_no_longer_fits_can_be_mended_and_deleted(around):
    validator = Notes()
    bad = wire(text="x" * 21)
    step = validate_step(Greeting, validator)
    assert (await admit([step], make_request("UPDATE", wire(text="good"), bad), around)).allowed
    response = await admit([step], make_request("DELETE", old=bad), around)
    assert response.allowed
    assert response.warnings == ["hello does not fit its kind; it was deleted unchecked"]
    assert validator.notes == [("create", "good")]


async def test_a_function_cannot_spoil_the_request_that_the_next_one_sees(around):
    def spoil(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        obj.spec.text = "spoilt"

    validator = Notes()
    steps = [validate_step(Greeting, spoil), validate_step(Greeting, validator)]
    response = await admit(steps, make_request(obj=wire()), around)
    assert (response.patch, validator.notes) == ([], [("create", "hi")])


async def test_what_a_validator_does_to_a_dict_is_no_patch(around):
    def spoil(pod: dict[str, Any], ctx: AdmissionContext[dict[str, Any]]) -> None:
        pod["metadata"]["labels"] = {"spoilt": "true"}

    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    response = await admit([validate_step(POD, spoil)], make_request("UPDATE", pod, pod), around)
    assert (response.allowed, response.patch) == (True, [])
    assert pod["metadata"] == {"name": "a"}


async def test_what_a_function_logs_says_whose_request_it_was_about():
    def validate(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        ctx.log.info("Looked at it")

    out = io.StringIO()
    around = Surroundings(no_client, ManualClock(), make_log(format_="json", stream=out))
    request = msgspec.structs.replace(make_request(obj=wire()), user_info=UserInfo("eve"))
    await admit([validate_step(Greeting, validate)], request, around)
    line = json.loads(out.getvalue())
    assert (line["msg"], line["operation"], line["kind"]) == ("Looked at it", "CREATE", "Greeting")
    assert (line["namespace"], line["name"], line["user"]) == ("default", "hello", "eve")
    assert line["requestID"] == "uid-1"


async def test_a_client_is_there_once_the_manager_has_one(around):
    def validate(obj: Greeting, ctx: AdmissionContext[Greeting]) -> None:
        _ = ctx.client

    with pytest.raises(CacheNotSyncedError):
        await admit([validate_step(Greeting, validate)], make_request(obj=wire()), around)


async def test_a_review_is_answered_in_its_own_version_with_the_patch_encoded(around):
    body = (
        b'{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"u","dryRun":true,'
        b'"kind":{"group":"example.dev","version":"v1","kind":"Greeting"},"operation":"CREATE","object":{"a":1},'
        b'"oldObject":null,"userInfo":{"username":"eve","groups":["g"]},"requestSubResource":"status","new":1}}'
    )
    version, request = read_review(body)
    assert (version, request.uid, request.dry_run, request.object) == (
        "admission.k8s.io/v1beta1", "u", True, {"a": 1},
    )  # fmt: skip
    assert (request.user_info.username, request.request_sub_resource) == ("eve", "status")
    response = await admit([], request, around)
    assert write_review(version, request.uid, response) == (
        b'{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview",'
        b'"response":{"uid":"u","allowed":true,"status":{"code":200}}}'
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"request":{}}', b'{"apiVersion":"v9","request":{"uid":"u"}}', b"\xff"],
)
def test_what_is_no_review_is_refused_with_a_sentence(body):
    with pytest.raises(SchemaError, match="AdmissionReview"):
        read_review(body)
