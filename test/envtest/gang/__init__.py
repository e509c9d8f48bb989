# SPDX-License-Identifier: Apache-2.0
"""Gang scheduling on a real API server, with the PodGroup CRDs that Volcano and scheduler-plugins ship."""
