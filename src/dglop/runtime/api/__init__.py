# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects as data: kinds, metadata, conditions, raw pods, schemas, manifests; no I/O, no clock."""

from __future__ import annotations

from dglop.runtime.api.condition import (
    Condition,
    ConditionStatus,
    find_condition,
    is_condition_true,
    set_condition,
)
from dglop.runtime.api.crd import crd_manifest
from dglop.runtime.api.custom import CustomResource, Spec, Status
from dglop.runtime.api.definition import Column, Definition
from dglop.runtime.api.markers import CEL, Extension, IntOrString, ListMap, Quantity, Raw, RawList
from dglop.runtime.api.meta import ObjectMeta, OwnerReference, owner_reference
from dglop.runtime.api.quantity import parse_quantity
from dglop.runtime.api.rawcontainer import RawContainer, RawEnv
from dglop.runtime.api.rawpod import RawPod
from dglop.runtime.api.rbac import Rule, role_binding_manifest, role_manifest
from dglop.runtime.api.resource import Kind, Resource, resource_of
from dglop.runtime.api.schema import structural_schema
from dglop.runtime.api.times import MicroTime, Time, format_micro_time, format_time, parse_time

__all__ = (
    "CEL",
    "Column",
    "Condition",
    "ConditionStatus",
    "CustomResource",
    "Definition",
    "Extension",
    "IntOrString",
    "Kind",
    "ListMap",
    "MicroTime",
    "ObjectMeta",
    "OwnerReference",
    "Quantity",
    "Raw",
    "RawContainer",
    "RawEnv",
    "RawList",
    "RawPod",
    "Resource",
    "Rule",
    "Spec",
    "Status",
    "Time",
    "crd_manifest",
    "find_condition",
    "format_micro_time",
    "format_time",
    "is_condition_true",
    "owner_reference",
    "parse_quantity",
    "parse_time",
    "resource_of",
    "role_binding_manifest",
    "role_manifest",
    "set_condition",
    "structural_schema",
)
