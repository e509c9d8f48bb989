# SPDX-License-Identifier: Apache-2.0
"""What is measured: one program a side, each of which prints marks."""
