# SPDX-License-Identifier: Apache-2.0
"""A graph of two node types and three edge types, made from numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Tuple

from .arrays import ArraysSource

if TYPE_CHECKING:
    from .source import Array, Etype, Kind

__all__ = ("synthetic_hetero",)

_FOLLOWS: Etype = ("user", "follows", "user")
_BUYS: Etype = ("user", "buys", "item")
_BOUGHT: Etype = ("item", "bought-by", "user")


def synthetic_hetero(
    users: int = 2000, classes: int = 4, seed: int = 0, name: str = "synthetic-hetero"
) -> ArraysSource:
    """Users of some classes who mostly follow, and buy items of, their own; half as many items as users.

    Directed, with parallel edges; every twentieth user and item is isolated. The features of users hint at
    their class weakly. The same on every machine.
    """
    import numpy as np  # noqa: PLC0415

    random = np.random.default_rng(seed)
    items = users // 2
    user_class, item_class = random.integers(0, classes, users), random.integers(0, classes, items)
    follows = _tied(random, user_class, user_class, 8, classes)
    buys = _tied(random, user_class, item_class, 4, classes)
    feat = random.normal(size=(users, 16)).astype("float32")
    feat[np.arange(users), user_class] += 1.0
    lot = random.random(users)
    features: Dict[Tuple[Kind, str], Array] = {
        ("user", "feat"): feat,
        ("user", "label"): user_class,
        ("user", "train_mask"): lot < 0.6,
        ("user", "val_mask"): (lot >= 0.6) & (lot < 0.8),
        ("user", "test_mask"): lot >= 0.8,
        ("item", "price"): random.random(items),
        ("item", "feat"): random.normal(size=(items, 8)).astype("float32"),
        (_BUYS, "count"): random.integers(1, 10, len(buys[0])).astype("int32"),
        (_BUYS, "rating"): random.random((len(buys[0]), 2)).astype("float32"),
    }
    edges = {_FOLLOWS: follows, _BUYS: buys, _BOUGHT: (buys[1].copy(), buys[0].copy())}
    return ArraysSource(name, {"user": users, "item": items}, edges, features)


def _tied(random: Any, ones: Array, others: Array, degree: int, classes: int) -> Tuple[Array, Array]:
    """Four fifths of the edges go to the same class; some are there twice."""
    import numpy as np  # noqa: PLC0415

    sources = np.repeat(np.flatnonzero(np.arange(len(ones)) % 20), degree)
    by_class = np.argsort(others, kind="stable")
    by_class = by_class[by_class % 20 != 0]
    first = np.searchsorted(others[by_class], np.arange(classes))
    count = np.maximum(np.bincount(others[by_class], minlength=classes), 1)
    own = ones[sources]
    place = np.minimum(
        first[own] + (random.random(len(sources)) * count[own]).astype(np.int64), len(by_class) - 1
    )
    stray = by_class[random.integers(0, len(by_class), len(sources))]
    targets = np.where(random.random(len(sources)) < 0.8, by_class[place], stray)
    again = random.random(len(sources)) < 0.05
    return np.concatenate([sources, sources[again]]), np.concatenate([targets, targets[again]])
