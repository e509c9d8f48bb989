# SPDX-License-Identifier: Apache-2.0
"""What our code takes for granted of the official client; each failure says what changed and for whom."""
