# SPDX-License-Identifier: Apache-2.0
"""Tools of the repository that are run from its root."""
