# SPDX-License-Identifier: Apache-2.0
"""Programs that tests run inside of jobs' pods, where there is DGL."""
