# SPDX-License-Identifier: Apache-2.0
"""Small graphs in every format, and what a source of them must give back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from dglop.dglrun.inputs.open import open_source

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.dglrun.inputs.source import Source

BUYS = ("user", "buys", "item")
KNOWS = ("user", "knows", "user")


def opened(path: Path, **more: Any) -> Source:
    return open_source("file://" + str(path), more.pop("form", None), **more)


def csv(path: Path, *rows: str) -> Path:
    path.write_text("".join(row + "\n" for row in rows))
    return path


class Hetero:
    """Users who know each other, some twice, and buy items; item 3 is bought by nobody."""

    knows = np.array([[0, 1], [1, 0], [0, 1], [2, 2], [3, 0]])
    buys = np.array([[0, 2], [4, 0], [1, 1]])
    feat = np.arange(15, dtype="float32").reshape(5, 3)
    train_mask = np.array([True, False, True, True, False])
    price = np.array([5, 7, 11, 13])
    weight = np.array([0.5, 0.25, 0.125], dtype="float32")

    def write(self, folder: Path, form: str, chunks: int = 1, **changes: Any) -> Path:
        """A folder with metadata.json, each table in so many chunks."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._form, self._chunks = folder, form, chunks
        data = {
            "graph_name": "shop",
            "node_type": ["user", "item"],
            "num_nodes_per_chunk": [self._counts(5), self._counts(4)],
            "edge_type": [":".join(KNOWS), ":".join(BUYS)],
            "num_edges_per_chunk": [self._counts(5), self._counts(3)],
            "edges": {
                ":".join(KNOWS): self._put("knows", self.knows),
                ":".join(BUYS): self._put("buys", self.buys),
            },
            "node_data": {
                "user": {
                    "feat": self._put("feat", self.feat),
                    "train_mask": self._put("mask", self.train_mask),
                },
                "item": {"price": self._put("price", self.price)},
            },
            "edge_data": {":".join(BUYS): {"weight": self._put("weight", self.weight)}},
            **changes,
        }
        (folder / "metadata.json").write_text(json.dumps(data))
        return folder

    def _counts(self, rows: int) -> list[int]:
        return [len(part) for part in np.array_split(np.arange(rows), self._chunks)]

    def _put(self, name: str, array: Any) -> dict[str, Any]:
        files = []
        for number, part in enumerate(np.array_split(array, self._chunks)):
            files.append(f"{name}-{number}.{self._form}")
            write_table(self._folder / files[-1], part, self._form)
        form = {"name": self._form, "delimiter": " "} if self._form == "csv" else {"name": self._form}
        return {"format": form, "data": files}


def write_table(path: Path, array: Any, form: str) -> None:
    if form == "numpy":
        with path.open("wb") as file:
            np.save(file, array)
    elif form == "csv":
        rows = array.reshape(len(array), -1).tolist()
        path.write_text("".join(" ".join(str(cell) for cell in row) + "\n" for row in rows))
    else:
        import pyarrow as pa
        from pyarrow import parquet

        columns = [array] if array.ndim == 1 else list(array.T)
        named = {f"c{number}": pa.array(column) for number, column in enumerate(columns)}
        parquet.write_table(pa.table(named), path, row_group_size=2)
