# SPDX-License-Identifier: Apache-2.0
"""Conditions: metav1.Condition and the pure functions that change a list of them."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from dglop.runtime.api.times import Time

__all__ = (
    "Condition",
    "ConditionStatus",
    "check_words",
    "find_condition",
    "is_condition_true",
    "reason_of_type",
    "remove_condition",
    "set_condition",
)

# Those of metav1.Condition, which the API server's own types are held to.
_TYPE = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")

ConditionStatus = Literal["True", "False", "Unknown"]
"""What a condition may say."""


class Condition(BaseModel):
    """One aspect of an object's state."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        extra="allow",
        # What others put there is kept, but the schemas of kinds name what is written here and no more.
        json_schema_extra={"additionalProperties": False},
    )

    type: str = Field(max_length=316)
    """Type of the condition, in CamelCase."""
    status: ConditionStatus
    """Status of the condition: True, False or Unknown."""
    reason: str = Field(default="", max_length=1024)
    """Reason for the last transition, one word in CamelCase."""
    message: str = Field(default="", max_length=32768)
    """Message with the details, for people."""
    last_transition_time: Time | None = None
    """Last time the status changed."""
    last_update_time: Time | None = None
    """Last time anything in the condition changed."""
    observed_generation: int | None = None
    """Generation of the spec that the condition is about."""


def check_words(type_: str, reason: str) -> None:
    """Raise ValueError for a type or a reason of a condition that tools could not rely on."""
    for name, word, pattern in (("type", type_, _TYPE), ("reason", reason, _REASON)):
        if not (isinstance(word, str) and pattern.fullmatch(word)):
            raise ValueError(f"a condition's {name} is one word in CamelCase, such as Ready, not {word!r}")


def reason_of_type(type_: str) -> str:
    """The reason that a condition of this type has if none is given."""
    return re.sub(r"[^A-Za-z0-9_]", "", str(type_).rpartition("/")[2])


def find_condition(conditions: Sequence[Condition], type_: str) -> Condition | None:
    """The condition of a type, or None."""
    return next((each for each in conditions if each.type == type_), None)


def is_condition_true(conditions: Sequence[Condition], type_: str) -> bool:
    """Whether the condition of a type is there and True."""
    found = find_condition(conditions, type_)
    return found is not None and found.status == "True"


def set_condition(
    conditions: Sequence[Condition], new: Condition, *, now: datetime | None = None
) -> list[Condition]:
    """`conditions` with `new` in the place of the one of its type, or at the end.

    lastTransitionTime changes only with the status: `now` is taken for it then. An equal condition
    leaves the list as it was, so that no write follows from it.
    """
    old = find_condition(conditions, new.type)
    if old is None:
        return [*conditions, _at(new, new.last_transition_time or now)]
    moved = old.status != new.status
    placed = _at(new, (new.last_transition_time or now) if moved else old.last_transition_time)
    if not placed.last_update_time:
        placed.last_update_time = old.last_update_time
    return [placed if each is old else each for each in conditions]


def remove_condition(conditions: Sequence[Condition], type_: str) -> list[Condition]:
    """`conditions` without the one of a type.

    Readers take a missing condition for Unknown, so one that may come back is better set to that.
    """
    return [each for each in conditions if each.type != type_]


def _at(condition: Condition, moment: datetime | None) -> Condition:
    cut = moment.replace(microsecond=0) if moment else None
    return condition.model_copy(update={"last_transition_time": cut})
