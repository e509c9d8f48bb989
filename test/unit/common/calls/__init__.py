# SPDX-License-Identifier: Apache-2.0
"""Whole lives of jobs in which something happens at one API call of the operator's."""
