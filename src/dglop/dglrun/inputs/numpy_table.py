# SPDX-License-Identifier: Apache-2.0
"""Files of NumPy, mapped into memory: pages that are not asked for are never read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Tuple

from ..ending import config_refusal
from .tables import Table, kept_dtype

if TYPE_CHECKING:
    from .source import Array

__all__ = ("NumpyTable",)


class NumpyTable(Table):
    """An array of a `.npy` file; of edges, two columns or two rows."""

    def __init__(self, path: str, *, edges: bool = False) -> None:
        """Raises Refusal (ConfigInvalid) for what is no such array."""
        self._path = path
        array = self._map()
        if edges and array.ndim == 2 and array.shape[0] == 2 != array.shape[1]:
            array = array.T
        if array.ndim == 0:
            raise config_refusal("%s holds a single value: an array with a row for each is needed" % path)
        self._array = array
        self.rows: int = len(array)
        self.dtype: Any = kept_dtype(array.dtype, path)
        self.shape: Tuple[int, ...] = tuple(array.shape[1:])

    def read(self, lo: int, hi: int) -> Array:
        import numpy as np  # noqa: PLC0415

        return np.array(self._array[lo:hi], dtype=self.dtype, order="C")

    def place(self, row: int) -> str:
        return "%s row %d" % (self._path, row)

    def _map(self) -> Array:
        import numpy as np  # noqa: PLC0415

        try:
            found = np.load(self._path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            if os.path.isfile(self._path) and os.path.getsize(self._path) > 0:
                raise config_refusal("%s is no array of NumPy: %s" % (self._path, error)) from error
            raise config_refusal("cannot read %s: %s" % (self._path, error)) from error
        if not isinstance(found, np.ndarray):
            found.close()
            raise config_refusal("%s holds several arrays: save each by itself, with numpy.save" % self._path)
        return found
