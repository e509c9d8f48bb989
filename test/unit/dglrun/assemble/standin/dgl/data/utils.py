# SPDX-License-Identifier: Apache-2.0
"""Feature files as JSON."""

import json
from pathlib import Path


def save_tensors(path, tensors):
    Path(path).write_text(json.dumps({name: rows.tolist() for name, rows in tensors.items()}))
