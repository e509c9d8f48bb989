# SPDX-License-Identifier: Apache-2.0
"""The fixtures cluster and manager, and the option --cluster."""

pytest_plugins = ["dglop.testing.plugin"]
