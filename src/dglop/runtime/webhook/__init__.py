# SPDX-License-Identifier: Apache-2.0
"""Admission webhooks and conversion between versions, served over TLS."""

from __future__ import annotations

from dglop.runtime.webhook.admission import (
    Defaulter,
    ValidatesCreate,
    ValidatesDelete,
    ValidatesUpdate,
    Validator,
)
from dglop.runtime.webhook.authentication import Authenticator
from dglop.runtime.webhook.call import AdmissionContext
from dglop.runtime.webhook.conversion import Spoke
from dglop.runtime.webhook.denied import Cause, DeniedError
from dglop.runtime.webhook.install import install_webhooks, write_ca_bundle
from dglop.runtime.webhook.jsonpatch import json_patch
from dglop.runtime.webhook.manifests import (
    ServiceTarget,
    Target,
    UrlTarget,
    parse_target,
    with_ca_bundle,
    with_conversion,
)
from dglop.runtime.webhook.options import HookOptions, HookRule
from dglop.runtime.webhook.registry import Hook, Webhooks
from dglop.runtime.webhook.review import AdmissionRequest, AdmissionResponse, UserInfo
from dglop.runtime.webhook.server import WebhookServer

__all__ = (
    "AdmissionContext",
    "AdmissionRequest",
    "AdmissionResponse",
    "Authenticator",
    "Cause",
    "Defaulter",
    "DeniedError",
    "Hook",
    "HookOptions",
    "HookRule",
    "ServiceTarget",
    "Spoke",
    "Target",
    "UrlTarget",
    "UserInfo",
    "ValidatesCreate",
    "ValidatesDelete",
    "ValidatesUpdate",
    "Validator",
    "WebhookServer",
    "Webhooks",
    "install_webhooks",
    "json_patch",
    "parse_target",
    "with_ca_bundle",
    "with_conversion",
    "write_ca_bundle",
)
