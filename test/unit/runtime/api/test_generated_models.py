# SPDX-License-Identifier: Apache-2.0
"""Of models made at random: their own schema takes what they write, and they read what they wrote."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings

from dglop.runtime.api import structural_schema
from dglop.testing.memory.schema import Schemas
from dglop.testing.memory.schemacheck import unusable_parts
from dglop.testing.memory.validate import validate
from test.genmodels import Made, made_models


@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(made_models())
def test_what_a_model_writes_its_schema_takes_and_the_model_reads(made: Made) -> None:
    schema, wire = structural_schema(made.cls), json.loads(json.dumps(made.value.to_wire()))
    assert list(unusable_parts(schema, "schema")) == []
    schemas = Schemas({})
    kept: dict[str, Any]
    kept, gone = schemas.prune(schema, wire)
    assert gone == []
    assert validate(schemas, schema, schemas.complete(schema, kept)) == []
    assert schemas.complete(schema, kept) == wire
    assert made.cls.model_validate(wire) == made.value
