# SPDX-License-Identifier: Apache-2.0
"""The in-memory API server held against a real one, answer by answer."""
