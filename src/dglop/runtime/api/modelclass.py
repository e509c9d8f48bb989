# SPDX-License-Identifier: Apache-2.0
"""The metaclasses of specs and kinds: an error at the class names the field that it is about."""

import re
from typing import TYPE_CHECKING, Any, dataclass_transform

from pydantic import BaseModel, Field, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic_core import SchemaError as UnfitError

from dglop.errors import SchemaError
from dglop.runtime.api.modelschema import check_names

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # only type checkers need its private name

__all__ = ("ModelClass", "SpecClass")

_VALUES = 1  # of Python 3.14's annotation formats the one with real objects


class ModelClass(ModelMetaclass):
    """Makes model classes as pydantic does. SchemaError: a field has no schema or no name of its own."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        try:
            made: Any = super().__new__(cls, name, bases, namespace, **kwargs)
        except PydanticSchemaGenerationError as problem:
            field = _failing(_annotations(namespace))
            place = f"{name}.{field}" if field else name
            reason = str(problem).partition(". ")[0]
            raise SchemaError(f"{place}: this type has no schema: {reason}") from problem
        except UnfitError as problem:
            raise SchemaError(f"{name}{_unfit(str(problem))}") from problem
        check_names(made)
        return made


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class SpecClass(ModelClass):
    """For models whose constructor takes just their fields: type checkers then know it.

    A kind's own takes name and namespace too, so it is left to them unchecked.
    """


def _unfit(report: str) -> str:
    """The field and the reason, of a report that has every step on the way there as a line of its own."""
    field = "".join(f".{found}" for found in re.findall(r'Field "([^"]+)"', report))
    reason = report.strip().splitlines()[-1].strip().partition(": ")[2]
    return f"{field}: what is said of this field does not fit its type: {reason}"


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    annotate = namespace.get("__annotate_func__") or namespace.get("__annotate__")
    found: dict[str, Any] = annotate(_VALUES) if callable(annotate) else namespace.get("__annotations__", {})
    return found


def _failing(annotations: dict[str, Any]) -> str:
    """The first field whose type alone fails as well; what else may be wrong with it is said elsewhere."""
    for field, annotation in annotations.items():
        try:
            TypeAdapter(annotation)
        except PydanticSchemaGenerationError:
            return field
        except PydanticUserError:
            continue
    return ""
