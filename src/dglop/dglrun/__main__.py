# SPDX-License-Identifier: Apache-2.0
"""Entry of the zipapp; everything is in cli, as nothing that may be pickled can live in `__main__`."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
