# SPDX-License-Identifier: Apache-2.0
"""Which versions of the official client `make contracts` tries."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from hack.contracts.versions import chosen, pinned, released

_SAID = "kubernetes (38.1.0)\nAvailable versions: 38.1.0, 38.0.0, 38.0.0b1, 37.10.0, 37.2.0, 37.0.2, 37.0.1\n"


def test_all_versions_in_the_range_are_tried_and_the_first_one_beyond() -> None:
    inside, beyond = chosen(released(_SAID), Requirement("kubernetes>=37.0.2,<38"))
    assert [str(each) for each in inside] == ["37.0.2", "37.2.0", "37.10.0"]
    assert beyond == Version("38.0.0")


def test_where_nothing_newer_is_released_nothing_beyond_is_tried() -> None:
    assert chosen([Version("36.0"), Version("37.0.2")], Requirement("kubernetes>=37"))[1] is None


def test_a_pip_that_lists_nothing_is_told() -> None:
    with pytest.raises(ValueError, match="no versions"):
        released("ERROR: nothing\n")


def test_the_range_is_pyprojects() -> None:
    assert Version("37.0.2") in pinned().specifier
    assert Version("36.0.3") not in pinned().specifier
