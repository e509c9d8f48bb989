# SPDX-License-Identifier: Apache-2.0
"""Means for tests of operators: servers that misbehave, a real API server, clocks, builders."""
