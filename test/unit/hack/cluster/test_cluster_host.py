# SPDX-License-Identifier: Apache-2.0
"""What is read from the kernel before a cluster is begun and after it has ended."""

from __future__ import annotations

import os
import sys
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from hack.cluster.errors import ClusterError
from hack.cluster.host import mounts_below
from hack.cluster.preflight import (
    Listener,
    check_disk,
    check_length,
    check_machine,
    occupied,
    parse_listeners,
    parse_routes,
)
from hack.cluster.process import Daemons, parse_stat

ROUTES = """\
Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
eth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0
dglop0 0000F40A 00000000 0001 0 0 0 00FFFFFF 0 0 0
"""
TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:192B 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1
   1: 0100007F:192C 0100007F:CC2E 01 00000000:00000000 00:00000000 00000000     0        0 4712 1
"""
MOUNTS = r"""
22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 254:0 /c /c/cluster/kubelet rw - ext4 /dev/vda rw
31 30 0:40 / /c/cluster/kubelet/pods/a\040b rw - tmpfs tmpfs rw
32 22 0:41 / /c/cluster2 rw - tmpfs tmpfs rw
"""


def test_only_listening_sockets_hold_a_port() -> None:
    assert parse_listeners(TCP) == [Listener(6443, 4711)]


def test_an_occupied_port_is_named_by_its_part() -> None:
    taken = occupied({"apiserver": 6443, "etcd": 6444}, parse_listeners(TCP))
    assert taken == {"apiserver": Listener(6443, 4711)}


def test_routes_to_networks_are_read_and_the_one_to_everywhere_is_not() -> None:
    assert parse_routes(ROUTES) == [("dglop0", IPv4Network("10.244.0.0/24"))]


def test_a_path_too_long_for_a_socket_is_told_with_the_way_to_a_shorter_one() -> None:
    with pytest.raises(ClusterError, match="set DGLOP_CACHE"):
        check_length(Path("/" + 100 * "x" + ".sock"))


def test_mounts_come_innermost_first_and_neighbours_are_left_alone() -> None:
    assert mounts_below(MOUNTS, "/c/cluster") == ["/c/cluster/kubelet/pods/a b", "/c/cluster/kubelet"]


@pytest.mark.parametrize(
    ("machine", "says"),
    [
        (("Darwin", "arm64", 0), "needs Linux"),
        (("Linux", "riscv64", 0), "riscv64"),
        (("Linux", "x86_64", 1000), "sudo"),
    ],
)
def test_each_lack_of_this_machine_says_what_to_do(machine: tuple[str, str, int], says: str) -> None:
    with pytest.raises(ClusterError, match=says) as raised:
        check_machine(*machine)
    assert "DGLOP_KUBECONFIG" in str(raised.value)


def test_linux_as_root_is_good() -> None:
    check_machine("Linux", "x86_64", 0)


def test_a_full_disk_is_told_with_the_way_to_another(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="set DGLOP_CACHE"):
        check_disk(tmp_path / "not" / "yet", 2**60)


def test_a_process_name_with_brackets_and_blanks_does_not_shift_its_fields() -> None:
    fields = " ".join(["S", *(str(number) for number in range(4, 23))])
    assert parse_stat(f"12 (a) b (c) {fields}") == ("S", 22)


def test_a_daemon_is_known_until_it_is_stopped(tmp_path: Path) -> None:
    daemons = Daemons(tmp_path / "pids", tmp_path / "logs")
    begun = daemons.start("idle", [sys.executable, "-c", "import signal; signal.pause()"])
    assert daemons.alive("idle") == begun
    assert daemons.start("idle", ["/no/such/program"]) == begun
    daemons.stop("idle")
    assert daemons.alive("idle") is None
    assert daemons.known() == []


def test_a_number_that_was_given_to_another_process_is_not_the_daemon(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(
        f'{{"name": "other", "pid": {os.getpid()}, "started": 1, "argv": []}}'
    )
    daemons = Daemons(tmp_path, tmp_path)
    assert daemons.alive("other") is None
    daemons.stop("other")  # would end this very test if it were mistaken


def test_a_daemon_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    daemons = Daemons(tmp_path / "pids", tmp_path / "logs")
    daemons.start("short", [sys.executable, "-c", "print('no such flag')"])
    with pytest.raises(ClusterError, match="no such flag"):
        daemons.ready("short", lambda: False)


def test_half_a_file_of_a_daemon_is_no_daemon(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"name": "ha')
    assert Daemons(tmp_path, tmp_path).alive("half") is None
