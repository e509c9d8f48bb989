# SPDX-License-Identifier: Apache-2.0
"""`make bench`: figures that the docs quote, measured on the cluster of `make demo` and judged by nobody."""
