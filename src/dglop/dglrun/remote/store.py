# SPDX-License-Identifier: Apache-2.0
"""DGL's KVClient for a process on a machine without servers: requests in the place of shared memory."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Sequence, Set, Tuple

from .placement import owners_of, parts_of

if TYPE_CHECKING:
    _Base = Any
else:
    _Base = object

__all__ = ("RemoteStore",)

_NOWHERE = -1
_ROWS = 1 << 16


class RemoteStore(_Base):  # type: ignore[misc]
    """What of KVClient must be another; stands before it among the bases of the class that DGL makes.

    No part is local. `_data_store` holds a row of each tensor's type and width, which DGL asks for both. All
    that creates or deletes a tensor is done by every trainer together, as ever; of the parts each trainer
    treats those that it answers for, so that every part is treated, however many trainers there are.
    A push returns when the servers have stored it: what a trainer wrote, all trainers read from then on, as
    those do that share a server's memory.
    """

    _data_store: Dict[str, Any]
    _part_policy: Dict[str, Any]
    _all_possible_part_policy: Dict[str, Any]
    _pull_handlers: Dict[str, Any]
    _push_handlers: Dict[str, Any]
    _full_data_shape: Dict[str, Tuple[int, ...]]
    _data_name_list: Set[str]
    _gdata_name_list: Set[str]
    _group_count: int
    _machine_count: int
    _role: str

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._machine_id = _NOWHERE
        self._rank = int(os.environ.get("RANK", "0"))
        self._trainers = int(os.environ.get("WORLD_SIZE", "1"))

    @property
    def own_parts(self) -> List[int]:
        """The parts that this trainer answers for; a sampler for none."""
        if self._role != "default":
            return []
        return parts_of(self._rank, self._trainers, self._machine_count)

    def owner_ranks(self, part: int) -> List[int]:
        """The ranks that answer for a part."""
        return owners_of(part, self._trainers, self._machine_count)

    def map_shared_data(self, partition_book: Any) -> None:
        """Learn of the tensors that the servers hold."""
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        for ntype in partition_book.ntypes:
            self._allow(kvstore.NodePartitionPolicy(partition_book, ntype))
        for etype in partition_book.canonical_etypes:
            self._allow(kvstore.EdgePartitionPolicy(partition_book, etype))
        self._meet()
        rpc.send_request(
            self._main(partition_book.partid), kvstore.GetSharedDataRequest(kvstore.GET_SHARED_MSG)
        )
        found = rpc.recv_response().meta
        for name, (shape, dtype, policy) in found.items():
            if name not in self._data_name_list:
                self._know(name, shape, dtype, self._all_possible_part_policy[policy])
                rows = sum(self._part_shape(name, part)[0] for part in range(self._machine_count))
                self._full_data_shape[name] = (rows, *shape[1:])
        for part in self.own_parts:
            for name, (_, dtype, policy) in found.items():
                self._tell_backups(part, name, dtype, self._part_shape(name, part), policy)
        self._data_name_list.update(found)
        self._gdata_name_list.update(found)
        self._meet()

    def init_data(
        self,
        name: str,
        shape: Sequence[int],
        dtype: Any,
        part_policy: Any,
        init_func: Any,
        is_gdata: bool = True,  # noqa: FBT001, FBT002 - DGL's own signature
    ) -> None:
        """Have the servers make a tensor."""
        import dgl.backend as F  # noqa: N812, PLC0415
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        if not name or name in self._data_name_list:
            raise ValueError("a tensor needs a name that no other has, not %r" % name)
        kind, policy = F.reverse_data_type_dict[dtype], part_policy.policy_str
        self._meet()
        for part in self.own_parts:
            rows = _rows(part_policy, part)
            request = kvstore.InitDataRequest(name, (rows, *shape[1:]), kind, policy, init_func)
            for server in self._servers(part):
                rpc.send_request(server, request)
                rpc.recv_response()
        self._meet()
        self._allow(part_policy)
        self._know(name, shape, kind, part_policy)
        self._full_data_shape[name] = tuple(shape)
        self._data_name_list.add(name)
        if is_gdata:
            self._gdata_name_list.add(name)
        for part in self.own_parts:
            self._tell_backups(part, name, kind, (_rows(part_policy, part), *shape[1:]), policy)
        self._meet()

    def delete_data(self, name: str) -> None:
        """Have the servers forget a tensor."""
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        self._meet()
        for part in self.own_parts:
            for server in self._servers(part):
                rpc.send_request(server, kvstore.DeleteDataRequest(name))
                rpc.recv_response()
        self._meet()
        self._data_name_list.discard(name)
        self._gdata_name_list.discard(name)
        for table in (self._data_store, self._full_data_shape, self._part_policy):
            table.pop(name)
        self._pull_handlers.pop(name)
        self._push_handlers.pop(name)
        self._meet()

    def push(self, name: str, id_tensor: Any, data_tensor: Any) -> None:
        """Write rows, and wait until they are written."""
        from dgl import utils  # noqa: PLC0415
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        ids = utils.toindex(id_tensor).tousertensor()
        if len(ids) != len(data_tensor):
            raise ValueError("%d rows for %d ids of %s" % (len(data_tensor), len(ids), name))
        parts, asked = self._part_policy[name].to_partid(ids), 0
        for part in parts.unique().tolist():
            mine = parts == part
            server = random.choice(self._servers(part))  # they share what is written
            rpc.send_request(server, kvstore.PushRequest(name, ids[mine], data_tensor[mine]))
            # a server treats what one client asks in its order: this is answered when the rows are there
            rpc.send_request(server, kvstore.GetPartShapeRequest(name))
            asked += 1
        for _ in range(asked):
            rpc.recv_response()

    def union(self, operand1_name: str, operand2_name: str, output_name: str) -> None:
        """Write the union of two masks, for the parts that this trainer answers for."""
        policy = self._part_policy[output_name]
        for part in self.own_parts:
            for ids in _slices(_ids(policy, part)):
                both = self.pull(operand1_name, ids) | self.pull(operand2_name, ids)
                self.push(output_name, ids, both)

    def _allow(self, policy: Any) -> None:
        self._all_possible_part_policy[policy.policy_str] = policy

    def _know(self, name: str, shape: Sequence[int], dtype: str, policy: Any) -> None:
        import dgl.backend as F  # noqa: N812, PLC0415
        import torch  # noqa: PLC0415
        from dgl.distributed import kvstore  # noqa: PLC0415

        self._data_store[name] = torch.zeros((1, *shape[1:]), dtype=F.data_type_dict[dtype])
        self._part_policy[name] = policy
        self._pull_handlers[name] = kvstore.default_pull_handler
        self._push_handlers[name] = kvstore.default_push_handler

    def _part_shape(self, name: str, part: int) -> Tuple[int, ...]:
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        rpc.send_request(self._main(part), kvstore.GetPartShapeRequest(name))
        return tuple(rpc.recv_response().shape)

    def _tell_backups(self, part: int, name: str, dtype: str, shape: Tuple[int, ...], policy: str) -> None:
        """The further servers of a part map the tensor that its first one has made."""
        from dgl.distributed import kvstore, rpc  # noqa: PLC0415

        handlers = self._pull_handlers[name], self._push_handlers[name]
        for server in self._servers(part)[1:]:
            rpc.send_request(server, kvstore.SendMetaToBackupRequest(name, dtype, shape, policy, *handlers))
            rpc.recv_response()

    def _meet(self) -> None:
        """Trainers do all this together; samplers only read, each when its trainers send it work."""
        if self._role == "default":
            self.barrier()

    def _main(self, part: int) -> int:
        return part * self._group_count

    def _servers(self, part: int) -> List[int]:
        return list(range(self._main(part), self._main(part + 1)))


def _ids(policy: Any, part: int) -> Any:
    """The ids of a policy's type that lie in a part."""
    book = policy.partition_book
    of_part = book.partid2nids if policy.policy_str.startswith("node") else book.partid2eids
    return of_part(part, policy.type_name)


def _rows(policy: Any, part: int) -> int:
    return len(_ids(policy, part))


def _slices(ids: Any) -> Iterator[Any]:
    spans: Iterable[int] = range(0, len(ids), _ROWS)
    return (ids[begin : begin + _ROWS] for begin in spans)
