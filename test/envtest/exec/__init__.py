# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec on a real API server: what a Launcher may do, and who may let it."""
