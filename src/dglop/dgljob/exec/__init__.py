# SPDX-License-Identifier: Apache-2.0
"""launchMode Exec: a Launcher that starts processes on the Workers by `kubectl exec`."""
