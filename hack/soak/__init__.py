# SPDX-License-Identifier: Apache-2.0
"""A soak: a Manager on a real API server behind a network that breaks all the time, and what must hold."""
