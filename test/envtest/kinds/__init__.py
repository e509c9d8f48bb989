# SPDX-License-Identifier: Apache-2.0
"""The three job kinds in one Manager, and the CRDs of those beside DGLJob."""
