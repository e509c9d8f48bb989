# SPDX-License-Identifier: Apache-2.0
"""What pods ask for, as the scheduler reckons it."""

from __future__ import annotations

import pytest

from dglop.common.gang.resources import amounts_text, least_resources, pod_requests
from dglop.errors import SchemaError


def container(requests=None, limits=None, **more):
    return {"name": "c", "resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def asked(**spec):
    return amounts_text(pod_requests(spec))


def test_containers_add_up_and_a_limit_stands_for_a_request_of_each_resource():
    first, second = container({"cpu": "1"}, {"cpu": "2", "memory": "1Ki"}), container({"cpu": "250m"})
    assert asked(containers=[first, second]) == {"cpu": "1250m", "memory": "1024"}


def test_the_largest_init_container_counts_where_it_asks_for_more():
    inits = [container({"cpu": "3"}), container({"cpu": "2", "memory": "5"})]
    assert asked(initContainers=inits, containers=[container({"cpu": "1"})]) == {"cpu": "3", "memory": "5"}


def test_a_sidecar_runs_beside_the_later_init_containers_and_the_containers():
    sidecar = container({"cpu": "1"}, restartPolicy="Always")
    before, after = container({"cpu": "4"}), container({"cpu": "3"})
    assert asked(initContainers=[before, sidecar], containers=[container({"cpu": "2"})]) == {"cpu": "4"}
    assert asked(initContainers=[sidecar, after], containers=[container({"cpu": "1"})]) == {"cpu": "4"}
    assert asked(initContainers=[sidecar], containers=[container({"cpu": "2"})]) == {"cpu": "3"}


def test_overhead_is_added():
    assert asked(containers=[container({"cpu": "1"})], overhead={"cpu": "0.1"}) == {"cpu": "1100m"}


def test_a_pod_that_asks_for_nothing_adds_nothing():
    assert asked(containers=[{"name": "c"}]) == {}


def test_what_is_no_quantity_is_told_with_its_container():
    with pytest.raises(SchemaError, match="c: 'much' is no resource quantity"):
        asked(containers=[container({"cpu": "much"})])


def test_fractions_are_rounded_up_to_thousandths():
    assert asked(containers=[container({"cpu": "100u"})]) == {"cpu": "1m"}


def test_only_the_first_so_many_pods_are_reckoned():
    one, two = {"containers": [container({"cpu": "1"})]}, {"containers": [container({"cpu": "2"})]}
    assert least_resources([(0, 2, one), (9, 2, two)], 3) == {"cpu": "5"}
    assert least_resources([(0, 2, one), (0, 2, two)], 3) == {"cpu": "4"}
