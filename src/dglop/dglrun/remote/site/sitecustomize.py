# SPDX-License-Identifier: Apache-2.0
"""Python imports this by itself at its start: it prepares `dgl.distributed` for a process without a server.

The folder stands first in PYTHONPATH of trainers and samplers alone. A sitecustomize of the image's own is
run too, as it would be without this one.
"""

from __future__ import annotations

from dglrun.remote.hook import install, run_next_site

install()
run_next_site(__file__)
