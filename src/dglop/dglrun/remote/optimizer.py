# SPDX-License-Identifier: Apache-2.0
"""DGL's sparse optimizers with any number of trainers: each row of an embedding has one that updates it."""

from __future__ import annotations

from typing import Any, Callable

from .placement import parts_of

__all__ = ("Owners", "make_local_ids", "make_step")


class Owners:
    """A store as the optimizer is to see it: as many servers as trainers, each row at its owner's.

    The optimizer sends a row's gradients to the trainer beside the row's server. There is none here: the
    row's owner is one of those that answer for its part.
    """

    def __init__(self, store: Any, trainers: int) -> None:
        self._store, self.num_servers = store, trainers

    def get_partid(self, name: str, ids: Any) -> Any:
        """The ranks that own the rows."""
        import torch  # noqa: PLC0415

        parts = self._store.get_partid(name, ids)
        owners = torch.zeros_like(parts)
        for part in parts.unique().tolist():
            ranks = torch.tensor(self._store.owner_ranks(part), dtype=parts.dtype)
            mine = parts == part
            owners[mine] = ranks[ids[mine] % len(ranks)]
        return owners

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def make_step(stock: Callable[[Any], None]) -> Callable[[Any], None]:
    """DGL's `step`, which counts on as many trainers at each server."""

    def step(self: Any) -> None:
        tensors = [embedding.weight for embedding in self._params]
        stores = [tensor.kvstore for tensor in tensors]
        try:
            for tensor, store in zip(tensors, stores):
                tensor.kvstore = Owners(store, self._world_size)
            stock(self)
        finally:
            for tensor, store in zip(tensors, stores):
                tensor.kvstore = store

    return step


def make_local_ids() -> Callable[[Any, Any], Any]:
    """The ids whose state a trainer saves: those of all parts that it answers for."""

    def local_ids(self: Any, policy: Any) -> Any:
        import torch  # noqa: PLC0415

        book = policy.partition_book
        of_part = book.partid2nids if policy.is_node else book.partid2eids
        parts = parts_of(self._rank, self._world_size, book.num_partitions())
        return torch.cat([of_part(part, policy.type_name) for part in parts])

    return local_ids
