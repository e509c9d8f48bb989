# SPDX-License-Identifier: Apache-2.0
"""Programs that end-to-end tests run inside pods, with the real DGL and dglrun that are there."""
