# SPDX-License-Identifier: Apache-2.0
"""A Debian root file system, made by apt from where the host's own packages come from."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from hack.cluster.commands import output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ("DPKG", "SUITE", "apt_options", "debian_sources", "host_sources", "read_packages", "root_command")

SUITE = "bookworm"
POCKETS = ("", "-updates", "-security")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# How packages are reached and trusted; what else apt is told on the host is its own matter.
OPTIONS = re.compile(
    r"Acquire::(http|https|Retries|Check-Date|Check-Valid-Until|Allow\w+Repositories|ForceIPv[46])\b"
    r".* \"[^\"]+\";"
)
# Documentation is half of the files and none of the use; licences stay. A root that was cut off is made anew,
# so nothing is gained by waiting for the disk after each file.
DPKG = (
    "force-unsafe-io",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-exclude=/usr/share/info/*",
    "path-exclude=/usr/share/lintian/*",
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/man/*",
)


def debian_sources(signed: bool) -> str:
    """Debian's public archive in apt's format: what an image says, and the fallback on other hosts."""
    mirror = "Types: deb\nURIs: http://deb.debian.org"
    tail = "Components: main\n" + (f"Signed-By: {KEYRING}\n" if signed else "")
    main = f"{mirror}/debian\nSuites: {SUITE} {SUITE}-updates\n{tail}"
    return f"{main}\n{mirror}/debian-security\nSuites: {SUITE}-security\n{tail}"


def _is_debian(suites: Iterable[str], components: Iterable[str]) -> bool:
    known = {f"{SUITE}{pocket}" for pocket in POCKETS}
    return set(suites) <= known and "main" in components


def _wanted_stanza(stanza: str) -> bool:
    """Whether one paragraph of a .sources file names the Debian release that the images are made of."""
    fields = {
        name.strip().lower(): value.split()
        for name, _, value in (row.partition(":") for row in stanza.splitlines() if not row.startswith("#"))
    }
    if fields.get("enabled") == ["no"] or "deb" not in fields.get("types", []):
        return False
    return _is_debian(fields.get("suites", ["?"]), fields.get("components", []))


def _wanted_line(row: str) -> bool:
    """The same for one line of a .list file."""
    match = re.match(r"deb\s+(?:\[[^\]]*\]\s+)?\S+\s+(\S+)\s+(.+)", row.strip())
    return match is not None and _is_debian([match[1]], match[2].partition("#")[0].split())


def host_sources(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """
    What of apt's sources, as (file name, text), gives the release that the images are made of.

    Other repositories of the host are left out: an image must not depend on who built it.
    """
    found: list[tuple[str, str]] = []
    for name, text in files:
        if name.endswith(".sources"):
            parts = [part.strip() for part in re.split(r"\n\s*\n", text) if _wanted_stanza(part)]
            joined = "\n\n".join(parts)
        else:
            joined = "\n".join(row for row in text.splitlines() if _wanted_line(row))
        if joined:
            found.append((name, joined + "\n"))
    return found


def apt_options(dump: str) -> list[str]:
    """Of `apt-config dump`, the lines on proxies, certificates, retries and trust."""
    return [row for row in dump.splitlines() if OPTIONS.fullmatch(row)]


def read_packages(path: Path) -> list[str]:
    """The names in a packages.txt, one a line."""
    return path.read_text().split()


def _sources_of_host(folder: Path) -> list[Path]:
    """Write the sources to use into `folder`."""
    etc = Path("/etc/apt")
    names = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    texts = [
        (path.name, path.read_text())
        for path in names
        if path.suffix in (".list", ".sources") and path.is_file()
    ]
    chosen = host_sources(texts) or [("debian.sources", debian_sources(KEYRING.exists()))]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in chosen:
        (folder / name).write_text(text)
    return [folder / name for name, _ in chosen]


def root_command(
    packages: Sequence[str], target: Path, scratch: Path, script: Path | None = None
) -> list[str]:
    """The mmdebstrap command that fills the empty folder `target`; it needs root."""
    public = scratch / "public.sources"
    scratch.mkdir(parents=True, exist_ok=True)
    public.write_text(debian_sources(signed=True))
    hooks = [
        f"upload {shlex.quote(str(script))} /tmp/debian.sh",
        'chroot "$1" sh /tmp/debian.sh slim',
        'rm "$1/tmp/debian.sh"',
    ]
    # the host's mirrors, proxies and names are nobody's business but the host's
    tidy = [
        'rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap" "$1"/etc/apt/sources.list.d/*',
        ': > "$1/etc/apt/sources.list"; : > "$1/etc/resolv.conf"; : > "$1/etc/hostname"',
        f"upload {shlex.quote(str(public))} /etc/apt/sources.list.d/debian.sources",
    ]
    options = ['APT::Install-Recommends "false";', *apt_options(output(["apt-config", "dump"]))]
    return [
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        "--format=directory",
        f"--include={','.join(packages)}",
        *(f"--aptopt={option.rstrip(';')}" for option in options),
        *(f"--dpkgopt={option}" for option in DPKG),
        *(f"--customize-hook={hook}" for hook in [*(hooks if script else []), *tidy]),
        SUITE,
        str(target),
        *(str(path) for path in _sources_of_host(scratch / "sources")),
    ]
