# SPDX-License-Identifier: Apache-2.0
"""What a log line looks like."""

from __future__ import annotations

import io
import json

from dglop.runtime.log import make_log


def test_a_line_is_json_with_message_level_time_and_what_was_bound():
    out = io.StringIO()
    make_log(stream=out).bind(controller="jobs").info("Created pod", pod="p-0")
    line = json.loads(out.getvalue())
    assert line.pop("ts").endswith("Z")
    assert line == {"msg": "Created pod", "level": "info", "controller": "jobs", "pod": "p-0"}


def test_an_error_is_told_with_its_place_and_not_with_what_its_variables_held():
    out, secret = io.StringIO(), "token-1234"
    try:
        int("many")
    except ValueError:
        make_log(stream=out).exception("Reconciler failed")
    line = json.loads(out.getvalue())
    assert line["error"] == "ValueError: invalid literal for int() with base 10: 'many'"
    assert "test_log_lines.py" in line["stack"][0]
    assert secret not in out.getvalue()


def test_what_is_below_the_level_is_not_written():
    out = io.StringIO()
    make_log(stream=out, level="warning").info("Created pod")
    assert out.getvalue() == ""
