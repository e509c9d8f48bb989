# SPDX-License-Identifier: Apache-2.0
"""The changes of our code that bring back bugs of others, and the run that sees each one caught."""
