# SPDX-License-Identifier: Apache-2.0
"""Jobs in the queues of a real Kueue, which runs as a process beside a real API server."""
