# SPDX-License-Identifier: Apache-2.0
"""Graphs that are brought: files of NumPy, CSV, Parquet and DGL, of which any share can be read by itself."""
