# SPDX-License-Identifier: Apache-2.0
"""`python -m dglop`."""

from __future__ import annotations

import sys

from dglop.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
