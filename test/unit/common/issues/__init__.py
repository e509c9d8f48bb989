# SPDX-License-Identifier: Apache-2.0
"""The issues of docs/issues.md, each with its test."""
