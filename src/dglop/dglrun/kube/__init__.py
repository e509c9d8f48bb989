# SPDX-License-Identifier: Apache-2.0
"""What a Launcher does to the pods of its job through the API server: exec and cp, in kubectl's words."""
