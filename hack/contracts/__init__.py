# SPDX-License-Identifier: Apache-2.0
"""Runs the contracts with the official client against other versions of it than the locked one."""
