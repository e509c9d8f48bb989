# SPDX-License-Identifier: Apache-2.0
"""Each trainer's share of the seeds, for any number of trainers and parts."""

from __future__ import annotations

from typing import Any, Callable, Optional

from .placement import even_offsets, owners_of, parts_of

__all__ = ("make_split",)

_ROWS = 1 << 20


def make_split(stock: Callable[..., Any], *, nodes: bool) -> Callable[..., Any]:
    """DGL's node_split or edge_split, which knows only multiples of the parts, for other numbers, too."""

    def split(  # noqa: PLR0913 - DGL's own signature, by position or by name
        elements: Any = None,
        partition_book: Any = None,
        kind: Any = None,
        rank: Optional[int] = None,
        force_even: bool = True,  # noqa: FBT001, FBT002
        trainer_ids: Any = None,
        **named: Any,
    ) -> Any:
        from dgl.distributed import role  # noqa: PLC0415

        elements = named.get("nodes", named.get("edges", elements))
        kind = named.get("ntype", named.get("etype", kind)) or ("_N" if nodes else "_E")
        trainer_ids = named.get("node_trainer_ids", named.get("edge_trainer_ids", trainer_ids))
        book = elements.part_policy.partition_book if partition_book is None else partition_book
        trainers, parts = role.get_num_trainers(), book.num_partitions()
        if trainers % parts == 0:
            return stock(elements, book, kind, rank, force_even, trainer_ids)
        if trainer_ids is not None:
            raise ValueError("trainer ids need trainers that are a multiple of the %d parts" % parts)
        own = role.get_trainer_rank() if rank is None else rank
        if force_even:
            return _even(elements, own, trainers)
        of_part = book.partid2nids if nodes else book.partid2eids
        return _of_parts(elements, lambda part: of_part(part, kind), own, trainers, parts)

    return split


def _even(mask: Any, rank: int, trainers: int) -> Any:
    """The rank's run of the chosen ids; ids of a part follow each other, so most are of its home."""
    import torch  # noqa: PLC0415

    spans = range(0, len(mask), _ROWS)
    counts = [int(mask[begin : min(begin + _ROWS, len(mask))].count_nonzero()) for begin in spans]
    offsets = even_offsets(sum(counts), trainers)
    first, last = offsets[rank], offsets[rank + 1]
    found, seen = [torch.zeros(0, dtype=torch.int64)], 0
    for begin, count in zip(spans, counts):
        if seen < last and seen + count > first:
            chosen = mask[begin : min(begin + _ROWS, len(mask))].nonzero().flatten() + begin
            found.append(chosen[max(first - seen, 0) : last - seen])
        seen += count
    return torch.cat(found)


def _of_parts(mask: Any, ids_of: Callable[[int], Any], rank: int, trainers: int, parts: int) -> Any:
    """The rank's share of the chosen ids of the parts that it answers for."""
    import torch  # noqa: PLC0415

    found = [torch.zeros(0, dtype=torch.int64)]
    for part in parts_of(rank, trainers, parts):
        local = ids_of(part)
        chosen = local[mask[local].bool()]
        owners = owners_of(part, trainers, parts)
        offsets, place = even_offsets(len(chosen), len(owners)), owners.index(rank)
        found.append(chosen[offsets[place] : offsets[place + 1]])
    return torch.cat(found)
