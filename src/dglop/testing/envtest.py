# SPDX-License-Identifier: Apache-2.0
"""A real etcd and a real kube-apiserver for one test run, without a kubelet."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import aiohttp
import trustme
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from dglop.errors import ConfigError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ("Envtest", "EnvtestAssets")

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_ADMIN_TOKEN = "envtest-admin"  # noqa: S105 - guards a server that lives on loopback for one test run


@dataclass(frozen=True, slots=True)
class EnvtestAssets:
    """
    Where the two binaries are.

    Raises:
        ConfigError: a binary is missing; the message names it and says how to get it.
    """

    etcd: Path
    kube_apiserver: Path

    @classmethod
    def find(cls) -> EnvtestAssets:
        """Look in ``KUBEBUILDER_ASSETS``, then on ``PATH``: the places setup-envtest users know."""
        found: dict[str, Path] = {}
        folder = os.environ.get("KUBEBUILDER_ASSETS")
        for name in ("etcd", "kube-apiserver"):
            path = shutil.which(name, path=folder) if folder else shutil.which(name)
            if path is None:
                where = folder or "PATH"
                raise ConfigError(
                    f"envtest needs {name}, and there is none in {where}: set KUBEBUILDER_ASSETS to a folder "
                    "that holds etcd and kube-apiserver; controller-runtime's `setup-envtest use -p path` "
                    "fetches them and prints it"
                )
            found[name] = Path(path)
        return cls(etcd=found["etcd"], kube_apiserver=found["kube-apiserver"])


@dataclass(slots=True)
class Envtest:
    """
    An API server on loopback with an admin kubeconfig, for ``async with``.

    Guarantees: ready to serve when entered; every process ended and every file removed when left.
    Assumptions: ports are free ones chosen by the kernel, so several can run side by side.

    Raises:
        ConfigError: binaries are missing or a process ended early; the message has its last lines.
    """

    assets: EnvtestAssets = field(default_factory=EnvtestAssets.find)
    extra_args: tuple[str, ...] = ()
    _folder: Path | None = None
    _processes: list[asyncio.subprocess.Process] = field(default_factory=list)
    _port: int = 0
    _ca: trustme.CA = field(default_factory=trustme.CA)
    _etcd_url: str = ""

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    @property
    def folder(self) -> Path:
        if self._folder is None:
            raise ConfigError("this Envtest is not running: use it with `async with`")
        return self._folder

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    async def __aenter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="dglop-envtest-"))
        try:
            await asyncio.wait_for(self._start(), _START_SECONDS)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stop()

    @property
    def etcd_url(self) -> str:
        """Where etcd listens, for what the API server does not offer, such as a compaction."""
        return self._etcd_url

    async def restart_apiserver(self, *, kill: bool = False) -> None:
        """
        End the API server and start it again on the same port and etcd, as an upgrade does.

        With *kill* it gets no time to end its watches, as when its machine is lost.
        """
        process = self._processes.pop()
        if kill and process.returncode is None:
            process.kill()
            await process.wait()
        await _end(process)
        await asyncio.wait_for(self._start_apiserver(), _START_SECONDS)

    async def _start(self) -> None:
        self._write_files()
        etcd_port, peer_port, self._port = _free_ports(3)
        self._etcd_url = f"http://127.0.0.1:{etcd_port}"
        peer = f"http://127.0.0.1:{peer_port}"
        await self._spawn(
            "etcd",
            self.assets.etcd,
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={self._etcd_url}",
            f"--advertise-client-urls={self._etcd_url}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=error",
        )
        await self._start_apiserver()

    async def _start_apiserver(self) -> None:
        await self._spawn(
            "kube-apiserver",
            self.assets.kube_apiserver,
            f"--etcd-servers={self._etcd_url}",
            f"--secure-port={self._port}",
            "--bind-address=127.0.0.1",
            f"--tls-cert-file={self.folder / 'server.pem'}",
            f"--tls-private-key-file={self.folder / 'server.key'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            f"--service-account-key-file={self.folder / 'sa.pub'}",
            f"--service-account-signing-key-file={self.folder / 'sa.key'}",
            f"--service-account-issuer={self.url}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none",
            *self.extra_args,
        )
        await self._wait_ready()

    def _write_files(self) -> None:
        server = self._ca.issue_cert("127.0.0.1", "localhost")
        self._ca.cert_pem.write_to_path(self.folder / "ca.pem")
        server.private_key_pem.write_to_path(self.folder / "server.key")
        (self.folder / "server.pem").write_bytes(b"".join(pem.bytes() for pem in server.cert_chain_pems))
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        (self.folder / "sa.key").write_bytes(secret)
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (self.folder / "sa.pub").write_bytes(public)
        (self.folder / "tokens.csv").write_text(f"{_ADMIN_TOKEN},admin,admin,system:masters\n")

    def kubeconfig_in(self, namespace: str) -> Path:
        """Write the admin's kubeconfig for a namespace, and return its path."""
        return self.kubeconfig_for(_ADMIN_TOKEN, f"in-{namespace}", namespace)

    def kubeconfig_for(self, token: str, name: str = "user", namespace: str = "default") -> Path:
        """Write a kubeconfig for a bearer token, such as a service account's, and return its path."""
        path = self.folder / f"kubeconfig-{name}"
        path.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: envtest\n"
            f"clusters: [{{name: envtest, cluster: {{server: '{self.url}', "
            f"certificate-authority: '{self.folder / 'ca.pem'}'}}}}]\n"
            f"users: [{{name: user, user: {{token: '{token}'}}}}]\n"
            "contexts: [{name: envtest, "
            f"context: {{cluster: envtest, user: user, namespace: {namespace}}}}}]\n"
        )
        return path

    async def _spawn(self, name: str, *command: str | Path) -> None:
        # The process holds its own descriptor of the log; ours is closed at once.
        with (self.folder / f"{name}.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(*map(str, command), stdout=log, stderr=log)
        self._processes.append(process)

    async def _wait_ready(self) -> None:
        context = ssl.create_default_context(cafile=str(self.folder / "ca.pem"))
        headers = {"Authorization": f"Bearer {_ADMIN_TOKEN}"}
        async with aiohttp.ClientSession(headers=headers, trust_env=False) as session:
            while not await self._is_ready(session, context):
                self._check_processes()
                await asyncio.sleep(0.05)
        self.kubeconfig_for(_ADMIN_TOKEN).rename(self.kubeconfig)

    async def _is_ready(self, session: aiohttp.ClientSession, context: ssl.SSLContext) -> bool:
        with contextlib.suppress(aiohttp.ClientError):
            async with session.get(f"{self.url}/readyz", ssl=context) as response:
                if response.status != 200:
                    return False
            # /readyz turns true before the default namespace exists, and the first create would fail.
            async with session.get(f"{self.url}/api/v1/namespaces/default", ssl=context) as response:
                return response.status == 200
        return False

    def _check_processes(self) -> None:
        for name, process in zip(("etcd", "kube-apiserver"), self._processes, strict=False):
            if process.returncode is not None:
                lines = (self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
                raise ConfigError(f"{name} ended with {process.returncode} at start-up:\n" + "\n".join(lines))

    async def _stop(self) -> None:
        while self._processes:
            await _end(self._processes.pop())
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask with SIGTERM, insist with SIGKILL."""
    if process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
