# SPDX-License-Identifier: Apache-2.0
"""`serve`: the parts over HTTP, to whoever has the job's token, until told to stop."""

from __future__ import annotations

import hmac
import json
import os
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, ClassVar, Dict, Mapping, Optional
from urllib.parse import unquote, urlsplit

from . import contract
from .ending import Ending, Refusal, config_refusal
from .env import Env, Identity
from .events import Events, Told
from .manifest import Manifest, ManifestError, PartFile, load_manifest
from .output import Stdout
from .ranges import NOT_SATISFIABLE, parse_range

__all__ = ("PartsHandler", "Shelf", "serve")

_POLL_SECONDS = 0.5
_IDLE_SECONDS = 60.0


class Shelf:
    """The parts in a folder, as far as their manifest vouches for them. For many threads."""

    def __init__(self, folder: str, job_uid: str, token: Callable[[], Optional[str]]) -> None:
        self.folder = folder
        self.token = token
        self._job_uid = job_uid
        self._lock = threading.Lock()
        self._seen: Any = None
        self._manifest: Optional[Manifest] = None
        self.trouble: str = "the parts are not written yet"

    def manifest(self) -> Optional[Manifest]:
        """The manifest of now; None, with a sentence in `trouble`, while not everything can be fetched."""
        try:
            stat = os.stat(os.path.join(self.folder, contract.MANIFEST_FILE))
        except OSError:
            return None
        stamp = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
        with self._lock:
            if stamp != self._seen:
                self._manifest = self._load()
                self._seen = stamp
            return self._manifest

    def _load(self) -> Optional[Manifest]:
        try:
            manifest = load_manifest(self.folder)
            trouble = None if manifest is None else self._unfit(manifest)
        except (ManifestError, OSError) as error:
            manifest, trouble = None, str(error)
        if trouble is not None:
            self.trouble = trouble
            return None
        return manifest

    def _unfit(self, manifest: Manifest) -> Optional[str]:
        if manifest.job_uid != self._job_uid:
            return "the parts are of another job (%s)" % manifest.job_uid
        for file in manifest.files:
            if os.path.getsize(os.path.join(self.folder, file.path)) != file.size:
                return "%s does not have the size that the manifest says" % file.path
        return None

    def find(self, path: str) -> Optional[PartFile]:
        """The file of that name if the manifest has it; no other file is ever opened."""
        manifest = self.manifest()
        return next((file for file in manifest.files if file.path == path), None) if manifest else None


class PartsHandler(BaseHTTPRequestHandler):
    """GET /readyz, /manifest and /files/<path>."""

    protocol_version = "HTTP/1.1"
    server_version = "dglrun"
    sys_version = ""
    timeout: ClassVar[Optional[float]] = _IDLE_SECONDS
    shelf: Shelf
    say: Callable[[str], None]

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == "/readyz":
            self._answer_readiness()
        elif not self._allowed():
            self._text(HTTPStatus.UNAUTHORIZED, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
        elif path == "/manifest":
            self._answer_manifest()
        elif path.startswith("/files/"):
            self._answer_file(path[len("/files/") :])
        else:
            self._text(HTTPStatus.NOT_FOUND, "there is /readyz, /manifest and /files/<path>")

    def _allowed(self) -> bool:
        try:
            token = self.shelf.token()
        except Refusal as refusal:
            self.say(refusal.sentence)
            return False
        given = self.headers.get("Authorization", "")
        return token is None or hmac.compare_digest(
            given.encode("utf-8"), ("Bearer " + token).encode("utf-8")
        )

    def _answer_readiness(self) -> None:
        ready = self.shelf.manifest() is not None
        if ready:
            self._text(HTTPStatus.OK, "ready")
        else:
            self._text(HTTPStatus.SERVICE_UNAVAILABLE, self.shelf.trouble)

    def _answer_manifest(self) -> None:
        manifest = self.shelf.manifest()
        if manifest is None:
            self._text(HTTPStatus.SERVICE_UNAVAILABLE, self.shelf.trouble, {"Retry-After": "1"})
            return
        body = json.dumps(manifest.to_json()).encode("utf-8")
        headers = {contract.MANIFEST_HASH_HEADER: manifest.hash, "Content-Type": "application/json"}
        self._head(HTTPStatus.OK, len(body), headers)
        self.wfile.write(body)

    def _answer_file(self, path: str) -> None:
        manifest, wanted = self.shelf.manifest(), self.shelf.find(path)
        if manifest is None:
            self._text(HTTPStatus.SERVICE_UNAVAILABLE, self.shelf.trouble, {"Retry-After": "1"})
            return
        if wanted is None:
            self._text(HTTPStatus.NOT_FOUND, "the manifest names no such file")
            return
        tag = '"%s"' % wanted.sha256
        span = parse_range(self.headers.get("Range"), wanted.size)
        if self.headers.get("If-Range", tag) != tag:
            span = None
        headers = {
            contract.MANIFEST_HASH_HEADER: manifest.hash,
            "Content-Type": "application/octet-stream",
            "Accept-Ranges": "bytes",
            "ETag": tag,
        }
        if span == NOT_SATISFIABLE:
            self._head(416, 0, dict(headers, **{"Content-Range": "bytes */%d" % wanted.size}))
            return
        begin, end = span or (0, wanted.size)
        if span is not None:
            headers["Content-Range"] = "bytes %d-%d/%d" % (begin, end - 1, wanted.size)
        with open(os.path.join(self.shelf.folder, wanted.path), "rb") as file:
            self._head(HTTPStatus.OK if span is None else HTTPStatus.PARTIAL_CONTENT, end - begin, headers)
            self.wfile.flush()
            if end > begin:
                self.connection.sendfile(file, begin, end - begin)

    def _head(self, status: int, length: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _text(self, status: int, text: str, headers: Optional[Dict[str, str]] = None) -> None:
        body = (text + "\n").encode("utf-8")
        self._head(status, len(body), dict(headers or {}, **{"Content-Type": "text/plain; charset=utf-8"}))
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Say what was fetched and refused; probes come every few seconds and tell nothing."""
        del size
        if not self.path.startswith("/readyz"):
            self.say("%s %s %s" % (self.client_address[0], self.path, int(code)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        self.say("%s %s" % (self.client_address[0], format % args))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is its own business: it resumes. No stack trace for it."""
        del request
        self.say("%s: the transfer was cut" % client_address[0])

    say: Callable[[str], None]


def serve(variables: Mapping[str, str]) -> Ending:
    """Serve until SIGTERM, then exit 0. Raises Refusal when the port cannot be had."""
    env, say, events = Env(variables), Stdout().say, Events()
    events.listen_to_signals()
    folder, port = env.text(contract.ENV_PARTS_DIR), env.integer(contract.ENV_PARTS_PORT, contract.PARTS_PORT)
    shelf = Shelf(folder, Identity(env).job_uid, lambda: env.secret(contract.ENV_PARTS_TOKEN_FILE))
    handler = type("Handler", (PartsHandler,), {"shelf": shelf, "say": staticmethod(say)})
    try:
        server = type("Server", (_Server,), {"say": staticmethod(say)})(("0.0.0.0", port), handler)
    except OSError as error:
        raise config_refusal("cannot listen on port %d: %s" % (port, error)) from error
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say("listening on port %d, waiting for the parts in %s" % (server.server_address[1], folder))
    ready = os.path.join(env.text(contract.ENV_RUN_DIR, contract.RUN_DIR), contract.READY_NAME)
    was: Optional[str] = None
    _mark(ready, there=False, say=say)  # a container that was started again finds the file of the one before
    while True:
        if isinstance(events.get(_POLL_SECONDS), Told):
            return Ending(0)
        manifest = shelf.manifest()
        now = manifest.hash if manifest else None
        if now != was:
            say("all parts can be fetched: manifest %s" % now if now else shelf.trouble)
            _mark(ready, there=now is not None, say=say)
            was = now


def _mark(path: str, *, there: bool, say: Callable[[str], None]) -> None:
    """The ready file, for which the startup probe waits."""
    try:
        if there:
            with open(path, "w", encoding="utf-8"):
                pass
        elif os.path.exists(path):
            os.unlink(path)
    except OSError as error:
        say("nobody will know whether this is ready: %s" % error)
