# SPDX-License-Identifier: Apache-2.0
"""Builders of the pods of a DGLJob, one concept a file."""
