# SPDX-License-Identifier: Apache-2.0
"""The runtime beside others that do the same work: kopf, plain loops, controller-runtime."""
