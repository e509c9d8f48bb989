# SPDX-License-Identifier: Apache-2.0
"""What runs in the Launcher of a job with launchMode Exec: parts to the Workers, host files, the launch."""
