# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects as data: kinds, metadata, conditions, raw pods, schemas, manifests; no I/O, no clock."""

from __future__ import annotations

from dglop.runtime.api.condition import (
    Condition,
    ConditionStatus,
    find_condition,
    is_condition_true,
    remove_condition,
    set_condition,
)
from dglop.runtime.api.crd import crd_manifest
from dglop.runtime.api.custom import CustomResource
from dglop.runtime.api.definition import Column, Conversion, Definition, Scale
from dglop.runtime.api.durations import format_duration, parse_duration
from dglop.runtime.api.markers import (
    CEL,
    AtomicList,
    AtomicMap,
    Embedded,
    Extension,
    Format,
    GranularMap,
    IntOrString,
    ListMap,
    ListSet,
    Nullable,
    Preserved,
    Quantity,
    Raw,
    RawList,
)
from dglop.runtime.api.meta import ObjectMeta, OwnerReference, owner_reference
from dglop.runtime.api.ownership import (
    controller_of,
    has_controller,
    has_owner,
    is_controlled_by,
    owner_references,
    remove_controller_reference,
    remove_owner_reference,
    set_controller_reference,
    set_owner_reference,
)
from dglop.runtime.api.quantity import parse_quantity
from dglop.runtime.api.rawcontainer import RawContainer, RawEnv
from dglop.runtime.api.rawpod import RawPod
from dglop.runtime.api.rbac import Rule, merge_rules, role_binding_manifest, role_manifest
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.api.schema import structural_schema
from dglop.runtime.api.spec import Spec, Status
from dglop.runtime.api.times import MicroTime, Time, format_micro_time, format_time, parse_time

__all__ = (
    "CEL",
    "AtomicList",
    "AtomicMap",
    "Column",
    "Condition",
    "ConditionStatus",
    "Conversion",
    "CustomResource",
    "Definition",
    "Embedded",
    "Extension",
    "Format",
    "GranularMap",
    "IntOrString",
    "Kind",
    "ListMap",
    "ListSet",
    "MicroTime",
    "Nullable",
    "ObjectMeta",
    "OwnerReference",
    "Preserved",
    "Quantity",
    "Raw",
    "RawContainer",
    "RawEnv",
    "RawList",
    "RawPod",
    "Resource",
    "Rule",
    "Scale",
    "Spec",
    "Status",
    "Time",
    "controller_of",
    "crd_manifest",
    "find_condition",
    "format_duration",
    "format_micro_time",
    "format_time",
    "has_controller",
    "has_owner",
    "is_condition_true",
    "is_controlled_by",
    "merge_rules",
    "owner_reference",
    "owner_references",
    "parse_duration",
    "parse_quantity",
    "parse_time",
    "remove_condition",
    "remove_controller_reference",
    "remove_owner_reference",
    "resource_of",
    "role_binding_manifest",
    "role_manifest",
    "set_condition",
    "set_controller_reference",
    "set_owner_reference",
    "structural_schema",
)
