# SPDX-License-Identifier: Apache-2.0
"""The base job controller against a real API server."""
