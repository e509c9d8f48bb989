# SPDX-License-Identifier: Apache-2.0
"""Which part a node goes to: spread evenly, by neighbourhood, by the user's file, by a program."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from dglop.dglrun import contract
from dglop.dglrun.assemble.choose import Method, choose_parts, method_of
from dglop.dglrun.assemble.groups import balance_groups
from dglop.dglrun.assemble.plan import Plan
from dglop.dglrun.ending import Refusal
from dglop.dglrun.env import Env
from test.unit.dglrun.assemble.assemble_graphs import PEOPLE, arrays, library, people, together

if TYPE_CHECKING:
    from pathlib import Path

    from dglop.dglrun.assemble.mesh import Mesh
    from dglop.dglrun.inputs.arrays import ArraysSource

PM_DGLPART = """#!/bin/sh
# as the real one: processes times the second argument are the parts, a file of nodes for each
set -e
read nodes edges weights < "$1_stats.txt"
test "$weights" = "$(awk 'NR == 1 { print NF - 2 }' "$1_nodes.txt")"
test "$edges" = "$(wc -l < "$1_edges.txt")"
awk -v parts=$((MPI_SIZE * $2)) -v name="$1" '
  { print NR - 1, $0 > ("p" (NR - 1) % parts "-" name "_nodes.txt") }' "$1_nodes.txt"
"""
DGPART = """#!/bin/sh
set -e
cat graph*.dgr > all
awk -v parts=$1 'FNR == 3 && NR == 3 { nodes = $1; print nodes }
  END { for (node = nodes - 1; node >= 0; node--) print node "\\t" node % parts }' all > "$3"
"""
MPIRUN = """#!/bin/sh
test "$1" = -np; export MPI_SIZE=$2; shift 2; exec "$@"
"""


def circles(count: int = 6, size: int = 40) -> ArraysSource:
    """Circles that hang together by single edges, their nodes in no order; a tenth is for training."""
    order = np.random.default_rng(4).permutation(count * size)
    start = np.arange(count * size)
    near = [(start + step) % size + start // size * size for step in (1, 2, 3)]
    ends = np.stack([np.tile(start, 3), np.concatenate(near)])
    bridges = np.stack([np.arange(count - 1) * size, np.arange(1, count) * size])
    mask = np.random.default_rng(5).random(count * size) < 0.1
    edges = order[np.concatenate([ends, bridges], axis=1)]
    return arrays({"person": count * size}, {PEOPLE: edges}, {("person", "train_mask"): mask})


def chosen(source: ArraysSource, parts: int, size: int, method: Method) -> Any:
    def work(mesh: Mesh) -> Any:
        plan = Plan(source, mesh, parts)
        return choose_parts(plan, method, balance_groups(plan))

    return np.concatenate(together(size, work))


def cut(source: ArraysSource, parts: Any) -> float:
    source_ids, target_ids = source.edges(PEOPLE, 0, source.schema.etypes[PEOPLE])
    return float((parts[source_ids] != parts[target_ids]).mean())


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("parts", [2, 3, 5])
def test_our_own_partitioner_cuts_far_fewer_edges_than_chance_and_keeps_the_balance(
    parts: int, size: int
) -> None:
    source, size = circles(), min(size, parts)
    found = chosen(source, parts, size, Method("parallel"))
    random = chosen(source, parts, size, Method("random"))
    assert cut(source, found) < cut(source, random) / 3
    nodes = np.bincount(found, minlength=parts)
    assert nodes.max() <= 1.1 * nodes.mean()
    assert nodes.min() >= 0.9 * nodes.mean()
    trained = np.bincount(found[source.node_data("person", "train_mask", 0, 240)], minlength=parts)
    assert trained.max() - trained.min() <= 2


def test_a_graph_without_any_structure_is_still_balanced_in_every_type() -> None:
    source = library()
    found = chosen(source, 2, 2, Method("parallel"))
    # paper, person, shelf: the order of the numbers
    sizes = [np.bincount(each, minlength=2).tolist() for each in np.split(found, [3, 25])]
    assert all(abs(one - other) <= 2 for one, other in sizes)


def test_chance_gives_all_parts_as_many_and_does_not_depend_on_the_processes() -> None:
    found = [chosen(people(), 4, size, Method("random")).tolist() for size in (1, 2, 4)]
    assert found[0] == found[1] == found[2]
    assert max(np.bincount(found[0])) - min(np.bincount(found[0])) == 1


def test_the_users_own_parts_are_taken_from_text_or_numpy_files(tmp_path: Path) -> None:
    wanted = np.arange(50) % 3
    np.save(tmp_path / "ids.npy", wanted)
    (tmp_path / "ids.txt").write_text("".join(f"{each}\n" for each in wanted))
    for name in ("ids.npy", "ids.txt"):
        assert chosen(people(), 3, 2, Method("given", str(tmp_path / name))).tolist() == wanted.tolist()


def test_a_graph_with_several_node_types_takes_a_folder_with_a_file_for_each(tmp_path: Path) -> None:
    wanted = {"paper": [0, 1, 0], "person": [each % 2 for each in range(22)], "shelf": [1, 1, 0, 0]}
    for name, parts in wanted.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(map(str, parts)))
    found = chosen(library(), 2, 2, Method("given", str(tmp_path)))
    assert found.tolist() == [*wanted["paper"], *wanted["person"], *wanted["shelf"]]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0\n" * 49, "ids.txt has 49 lines, there are 50 nodes: one line a node"),
        ("0\n" * 51, "ids.txt has 51 lines, there are 50 nodes"),
        ("0\n" * 20 + "one\n" + "0\n" * 29, "ids.txt, line 21: 'one' is not the number of a part"),
        ("0\n" * 30 + "2\n" + "0\n" * 19, "ids.txt gives node 30 the part 2: there are the parts 0 to 1"),
    ],
)
def test_a_bad_file_of_parts_is_refused_with_its_place(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "ids.txt").write_text(text)
    with pytest.raises(Refusal, match=sentence):
        chosen(people(), 2, 1, Method("given", str(tmp_path / "ids.txt")))


def test_a_file_for_several_types_a_missing_one_and_one_of_the_wrong_shape_are_refused(
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "ids.npy", np.zeros((50, 2), int))
    with pytest.raises(Refusal, match=r"has shape \(50, 2\) of int64: 50 whole numbers are needed"):
        chosen(people(), 2, 1, Method("given", str(tmp_path / "ids.npy")))
    with pytest.raises(Refusal, match="the graph has the node types paper, person, shelf: give a folder"):
        chosen(library(), 2, 1, Method("given", str(tmp_path / "ids.npy")))
    with pytest.raises(Refusal, match=r"has neither paper\.npy nor paper\.txt"):
        chosen(library(), 2, 1, Method("given", str(tmp_path)))
    with pytest.raises(Refusal, match="which does not exist"):
        chosen(people(), 2, 1, Method("given", str(tmp_path / "nothing")))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts programs into a folder of their own that is searched first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def put(**texts: str) -> None:
        for name, text in texts.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    return put


@pytest.mark.parametrize(("parts", "size"), [(4, 1), (4, 2), (3, 2), (3, 3)])
def test_a_program_under_mpirun_is_given_the_graph_and_its_parts_are_taken(
    programs: Any, parts: int, size: int
) -> None:
    programs(mpirun=MPIRUN, pm_dglpart=PM_DGLPART, dgpart=DGPART)
    wanted = [each % parts for each in range(29)]
    for name in ("pm_dglpart", "ptscotch"):
        assert chosen(library(), parts, size, Method(name)).tolist() == wanted


def test_a_program_that_fails_or_forgets_nodes_is_refused_with_its_words(programs: Any) -> None:
    programs(mpirun=MPIRUN, dgpart="#!/bin/sh\necho no licence >&2; exit 7\n")
    with pytest.raises(Refusal, match="ended with exit code 7: no licence"):
        chosen(people(), 2, 2, Method("ptscotch"))
    programs(dgpart='#!/bin/sh\nprintf "1\\n0\\t0\\n" > "$3"\n')
    with pytest.raises(Refusal, match="dgpart gave no part of 0 to 1 to 49 nodes"):
        chosen(people(), 2, 2, Method("ptscotch"))


def test_the_method_follows_the_jobs_word_the_mode_and_what_the_image_has(
    programs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def method(name: str | None, *, spread: bool) -> str:
        return method_of(Env({} if name is None else {contract.ENV_PART_METHOD: name}), spread=spread).name

    assert (method(None, spread=False), method(None, spread=True)) == ("parallel", "parallel")
    assert method("parmetis", spread=False) == "parallel"
    with pytest.raises(Refusal, match="needs mpirun and dgpart, the image lacks them"):
        method("ptscotch", spread=False)
    programs(mpirun=MPIRUN, pm_dglpart=PM_DGLPART, dgpart=DGPART)
    assert (method(None, spread=False), method(None, spread=True)) == ("ptscotch", "parallel")
    assert method("parmetis", spread=False) == "pm_dglpart"
    with pytest.raises(Refusal, match="partitioning by metis needs all edges in one pod"):
        method("metis", spread=True)
    with pytest.raises(Refusal, match="several processes know metis, random, given, ptscotch, parallel"):
        method("chance", spread=False)
