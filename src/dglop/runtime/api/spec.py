# SPDX-License-Identifier: Apache-2.0
"""Spec and Status: what an object of one's own kind says and what is known of it, as typed Python classes."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from dglop.runtime.api.condition import (
    Condition,
    check_words,
    find_condition,
    is_condition_true,
    reason_of_type,
    set_condition,
)
from dglop.runtime.api.keywords import checked_rules
from dglop.runtime.api.markers import CEL, ListMap
from dglop.runtime.api.modelclass import SpecClass
from dglop.runtime.api.wirevalues import wire_of_model, with_wire_values

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

__all__ = ("FROM_WIRE", "Spec", "Status", "without_nulls")

FROM_WIRE = "from the wire"
"""The context of a validation whose data come from the API server."""


def without_nulls(data: Any, info: ValidationInfo) -> Any:
    """The data as the server takes them: it prunes nulls before it sets defaults. In Python None is meant."""
    if info.context == FROM_WIRE and isinstance(data, dict) and None in data.values():
        return {key: value for key, value in data.items() if value is not None}
    return data


class Spec(BaseModel, metaclass=SpecClass):
    """The base of a spec and of every object in it.

    Names are snake_case here and camelCase on the wire. The string after a field is its description
    in the CRD. Unknown fields are ignored. `class X(Spec, rules=(CEL(...),))` adds rules.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
        extra="ignore",
    )

    __cel_rules__: ClassVar[tuple[CEL, ...]] = ()

    def __init_subclass__(cls, *, rules: tuple[CEL, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__cel_rules__ = (*cls.__cel_rules__, *checked_rules(cls.__name__, rules))

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any, info: ValidationInfo) -> Any:
        return without_nulls(data, info)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        found: CoreSchema = with_wire_values(handler(source))
        return found

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> "JsonSchemaValue":
        found = handler.resolve_ref_schema(handler(schema))
        if cls.__cel_rules__:
            found["x-kubernetes-validations"] = [rule.to_wire() for rule in cls.__cel_rules__]
        return found

    def to_wire(self) -> dict[str, Any]:
        """The object in camelCase, without nulls. Raises SchemaError for what JSON cannot say."""
        return wire_of_model(self, type(self).__name__)


class Status(Spec):
    """The base of a status: conditions and the generation they are about."""

    conditions: Annotated[list[Condition], ListMap("type")] = Field(default_factory=list)
    """What is known of the object's state, one entry a type."""
    observed_generation: int | None = None
    """The generation of the spec that the controller last acted on."""

    def set(
        self,
        type_: str,
        status: bool | str,
        *,
        reason: str = "",
        message: str = "",
        now: datetime | None = None,
    ) -> None:
        """Sets one condition; its lastTransitionTime moves only when its status does.

        A reconciler passes `now=ctx.now()` where a test must own the clock. The reason is the type if there
        is none. Raises ValueError for a type or a reason that is not one word in CamelCase.
        """
        reason = reason or reason_of_type(type_)
        check_words(type_, reason)
        word = ("True" if status else "False") if isinstance(status, bool) else status
        new = Condition.model_validate(
            {
                "type": type_,
                "status": word,
                "reason": reason,
                "message": message,
                "observedGeneration": self.observed_generation,
            }
        )
        self.conditions = set_condition(self.conditions, new, now=now or datetime.now(UTC))

    def get(self, type_: str) -> Condition | None:
        return find_condition(self.conditions, type_)

    def is_true(self, type_: str) -> bool:
        return is_condition_true(self.conditions, type_)
