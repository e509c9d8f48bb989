# SPDX-License-Identifier: Apache-2.0
"""The API server as a pod reaches it: by the token of its service account."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import os
import socket
import ssl
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple
from urllib.parse import quote, urlencode

from ..ending import config_refusal
from .websocket import Broken, WebSocket

__all__ = ("ApiServer", "Denied")

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PATIENCE = 30.0
_HEAD = 1 << 16


class Denied(Exception):  # noqa: N818
    """The API server answered, and not with what was asked for; `status` is the HTTP status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status

    @property
    def is_passing(self) -> bool:
        """Whether the same may be answered otherwise later."""
        return self.status >= 500 or self.status in (404, 408, 409, 429)


@dataclass(frozen=True)
class ApiServer:
    """
    Where it is and who asks; the token is read anew each time, as the kubelet renews it.

    Without `context` the connection is not encrypted, which no real server takes.
    """

    host: str
    port: int
    namespace: str
    token: Callable[[], str]
    context: Optional[ssl.SSLContext] = None

    @classmethod
    def of_pod(cls, variables: Mapping[str, str], account: str = ACCOUNT) -> ApiServer:
        """Raises Refusal (ConfigInvalid) where the pod has no account."""
        host, port = variables.get("KUBERNETES_SERVICE_HOST"), variables.get("KUBERNETES_SERVICE_PORT", "443")
        try:
            if not host:
                raise FileNotFoundError(2, "KUBERNETES_SERVICE_HOST is not set")
            context = ssl.create_default_context(cafile=os.path.join(account, "ca.crt"))
            namespace = _read(os.path.join(account, "namespace"))
        except OSError as error:
            raise config_refusal(
                "this pod cannot ask the API server (%s): a Launcher needs a service account whose token is "
                "mounted" % error
            ) from error
        return cls(host, int(port), namespace, lambda: _read(os.path.join(account, "token")), context)

    def get(self, path: str) -> Dict[str, Any]:
        """Raises Denied, Broken."""
        if self.context is None:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=_PATIENCE)
        else:
            connection = http.client.HTTPSConnection(
                self.host, self.port, timeout=_PATIENCE, context=self.context
            )
        with contextlib.closing(connection):
            try:
                connection.request("GET", path, headers={"Authorization": "Bearer " + self.token()})
                answer = connection.getresponse()
                status, body = answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                raise Broken("the API server cannot be reached: %s" % error) from error
        if status != 200:
            raise Denied(status, "%s: %s" % (path, said(status, body)))
        found = json.loads(body.decode("utf-8"))
        assert isinstance(found, dict)
        return found

    def pod(self, name: str, namespace: str = "") -> Dict[str, Any]:
        """Raises Denied, Broken."""
        return self.get(_pod_path(namespace or self.namespace, name))

    def open_exec(
        self, pod: str, command: List[str], *, namespace: str, container: str, stdin: bool
    ) -> Tuple[WebSocket, str]:
        """The open connection to a process in a container, and the protocol of its channels.

        Raises Denied, Broken.
        """
        asked: List[Tuple[str, str]] = [("container", container)] if container else []
        asked += [("stdout", "true"), ("stderr", "true"), *([("stdin", "true")] if stdin else [])]
        asked += [("command", word) for word in command]
        path = "%s/exec?%s" % (_pod_path(namespace or self.namespace, pod), urlencode(asked))
        try:
            sock: Any = socket.create_connection((self.host, self.port), timeout=_PATIENCE)
        except OSError as error:
            raise Broken("the API server cannot be reached: %s" % error) from error
        try:
            if self.context is not None:
                sock = self.context.wrap_socket(sock, server_hostname=self.host)
            return self._shake_hands(sock, path)
        except OSError as error:
            sock.close()
            raise Broken("the connection to the API server broke: %s" % error) from error
        except (Denied, Broken):
            sock.close()
            raise

    def _shake_hands(self, sock: Any, path: str) -> Tuple[WebSocket, str]:
        key = base64.b64encode(os.urandom(16))
        lines = [
            "GET %s HTTP/1.1" % path,
            "Host: %s:%d" % (self.host, self.port),
            "Authorization: Bearer " + self.token(),
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: " + key.decode(),
            "Sec-WebSocket-Protocol: " + ", ".join(PROTOCOLS),
        ]
        sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status, headers, rest = _answer(sock)
        if status != 101:
            raise Denied(status, "exec: %s" % said(status, rest))
        wanted = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        protocol = headers.get("sec-websocket-protocol", "")
        if headers.get("sec-websocket-accept") != wanted or protocol not in PROTOCOLS:
            raise Broken("the API server does not speak exec over WebSockets (%r)" % protocol)
        return WebSocket(sock, rest), protocol


def said(status: int, body: bytes) -> str:
    """The server's own words where its body is a Status, else the number."""
    try:
        words = json.loads(body.decode("utf-8"))["message"]
    except (ValueError, KeyError, TypeError):
        words = body[:200].decode("utf-8", "replace").strip()
    return "%s (%d)" % (words or "no words", status)


def _answer(sock: Any) -> Tuple[int, Dict[str, str], bytes]:
    """Status and headers of the answer, and what came after them; of a refusal, its body."""
    got = b""
    while b"\r\n\r\n" not in got:
        block = sock.recv(4096)
        got += block
        if not block or len(got) > _HEAD:
            raise Broken("the API server ended the connection in the middle of its answer")
    head, _, rest = got.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)
    }
    length = headers.get("content-length", "0")
    while status != 101 and len(rest) < min(int(length) if length.isdigit() else 0, _HEAD):
        block = sock.recv(4096)
        if not block:
            break
        rest += block
    return status, headers, rest


def _pod_path(namespace: str, name: str) -> str:
    return "/api/v1/namespaces/%s/pods/%s" % (quote(namespace, safe=""), quote(name, safe=""))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()
