# SPDX-License-Identifier: Apache-2.0
"""Whether parts, all of them together, are the graph that they were made of."""
