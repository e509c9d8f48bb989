# SPDX-License-Identifier: Apache-2.0
"""Tokens and the operator's key."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, cast

import pytest

from dglop.common.key import operator_key
from dglop.dgljob import Tokens
from dglop.errors import AlreadyExistsError, ConfigError

if TYPE_CHECKING:
    from dglop.runtime.client import Client


def test_tokens_differ_by_purpose_job_and_key():
    tokens, others = Tokens(b"a" * 32), Tokens(b"b" * 32)
    made = {tokens.parts("u"), tokens.status("u"), tokens.parts("v"), others.parts("u")}
    assert len(made) == 4
    assert tokens.status("u") == Tokens(b"a" * 32).status("u")


def test_only_the_right_token_is_right():
    tokens = Tokens(b"a" * 32)
    assert tokens.is_status(tokens.status("u"), "u")
    for wrong in ("", "é", tokens.parts("u"), tokens.status("v")):
        assert not tokens.is_status(wrong, "u")


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="it needs 32"):
        Tokens(b"short")


def test_the_key_is_not_shown():
    assert "secret" not in repr(Tokens(b"secret" * 6))


class Api:
    """Knows one Secret, or none."""

    def __init__(self, data=None):
        self.data = data

    async def create(self, manifest):
        if self.data is not None:
            raise AlreadyExistsError(409, "AlreadyExists", "there")
        self.data = manifest["data"]

    async def get(self, kind, name, namespace):
        return {"data": self.data}


async def test_the_first_replica_makes_the_key_and_the_others_read_it():
    api = Api()
    assert await operator_key(cast("Client", api), "ns", b"first" * 8) == b"first" * 8
    assert await operator_key(cast("Client", api), "ns", b"other" * 8) == b"first" * 8


@pytest.mark.parametrize("data", [{}, {"key": "not base64!"}, {"other": base64.b64encode(b"x").decode()}])
async def test_a_secret_without_a_key_says_what_to_do(data):
    with pytest.raises(ConfigError, match="delete it and restart"):
        await operator_key(cast("Client", Api(data)), "ns", b"x" * 32)
