# SPDX-License-Identifier: Apache-2.0
"""The runtime: controller-runtime's place; knows nothing of jobs."""
