# SPDX-License-Identifier: Apache-2.0
"""`dispatch`: each Worker's part, from the Partitioner into that Worker by exec, as `kubectl cp` does."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass
from functools import partial
from typing import Callable, Iterator, List, Mapping, Optional, Tuple
from urllib.parse import quote

from .. import contract
from ..ending import Ending, Refusal
from ..env import Env, Identity
from ..kube.apiserver import ApiServer, Denied
from ..kube.session import Pod
from ..kube.websocket import Broken
from ..layout import check_latched
from ..manifest import Manifest, ManifestError, PartFile
from ..output import Stdout
from ..transfer import Cut, PartsServer, read_block
from .hostfile import read_hosts
from .pushing import Pusher, Spoilt
from .together import together

__all__ = ("Dispatcher", "dispatch")

_AT_ONCE = 4
_SPOILT_TRIES = 3
_BLOCK = 1 << 18
_LONGEST_PAUSE = 15.0


def dispatch(variables: Mapping[str, str]) -> Ending:
    """Leave every Worker's verified part in its folder of the parts. Raises Refusal."""
    env, say = Env(variables), Stdout().say
    server = PartsServer(env.text(contract.ENV_PARTS_URL), lambda: env.secret(contract.ENV_PARTS_TOKEN_FILE))
    hosts = read_hosts(env.text(contract.ENV_EXEC_CONFIG_DIR))
    dispatcher = Dispatcher(
        server,
        env.text(contract.ENV_PARTS_DIR),
        deadline=time.monotonic() + env.seconds(contract.ENV_FETCH_TIMEOUT_SECONDS, 3600.0),
        retries=env.integer(contract.ENV_FETCH_RETRIES, 5),
        say=say,
    )
    manifest = dispatcher.manifest(Identity(env).job_uid, env.maybe(contract.ENV_MANIFEST_HASH))
    if manifest.num_parts != len(hosts):
        sentence = "there are %d parts for %d Workers" % (manifest.num_parts, len(hosts))
        raise Refusal("PartsChanged", contract.EXIT_RETRYABLE, sentence)
    api = ApiServer.of_pod(variables)
    container = env.maybe(contract.ENV_EXEC_CONTAINER) or ""
    pushers = [Pusher(api, Pod(host.name, container=container)) for host in hosts]
    work = [partial(dispatcher.bring, pusher, manifest, part) for part, pusher in enumerate(pushers)]
    done = together(work, _AT_ONCE)
    size, resumed = sum(each[0] for each in done), sum(each[1] for each in done)
    say("%d Workers have their part: %d bytes, manifest %s" % (len(hosts), size, manifest.hash))
    return Ending(0, {"manifest": manifest.hash, "bytes": size, "resumed": resumed})


@dataclass(frozen=True)
class Dispatcher:
    """Brings parts; tries that bring not one byte are counted against `retries`, all against `deadline`."""

    server: PartsServer
    folder: str
    deadline: float
    retries: int
    say: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep  # between tries, not instead of waiting for something

    def manifest(self, job_uid: str, latched: Optional[str]) -> Manifest:
        """Raises Refusal."""
        tries = 0
        while True:
            try:
                manifest = self._ask(job_uid)
                break
            except Cut as cut:
                self._wait(tries, str(cut), limit=False)
                tries += 1
        check_latched(manifest.hash, latched)
        return manifest

    def bring(self, pusher: Pusher, manifest: Manifest, part: int) -> Tuple[int, int]:
        """One Worker's part, its manifest last; how many bytes, and how often a transfer was resumed.

        Raises Refusal.
        """
        files = manifest.of_part(part)
        resumed = sum(self._file(pusher, wanted, manifest.hash) for wanted in files)
        content = json.dumps(
            manifest.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode("utf-8")
        vouching = {contract.MANIFEST_FILE: content}
        self._keep(lambda: pusher.put(self.folder, vouching), pusher, contract.MANIFEST_FILE)
        size = sum(wanted.size for wanted in files)
        self.say("%s: part %d, %d bytes verified" % (pusher.pod.name, part, size))
        return size, resumed

    def _file(self, pusher: Pusher, wanted: PartFile, manifest_hash: str) -> int:
        path = os.path.join(self.folder, wanted.path)
        partial = "%s.%s.partial" % (path, wanted.sha256[:16])
        begun: List[int] = []

        def move() -> None:
            have = pusher.size(partial)
            if have == 0 and pusher.has(path, wanted.size, wanted.sha256):
                return
            begun.append(have)
            if have < wanted.size or wanted.size == 0:
                blocks = self._blocks(wanted, have, manifest_hash)
                pusher.append(partial, wanted.size - have, blocks)
            pusher.settle(partial, path, wanted.sha256)

        self._keep(move, pusher, wanted.path, progress=lambda: pusher.size(partial))
        return sum(have > 0 for have in begun[1:])

    def _keep(
        self, work: Callable[[], None], pusher: Pusher, path: str, progress: Callable[[], int] = lambda: 0
    ) -> None:
        """Do it until it is done: what was brought before a cut stays. Raises Refusal."""
        idle = spoilt = before = 0
        while True:
            try:
                return work()
            except Spoilt as error:
                spoilt += 1
                if spoilt >= _SPOILT_TRIES:
                    sentence = "%s is refused after %d transfers: %s" % (path, spoilt, error)
                    raise Refusal("PartsCorrupt", contract.EXIT_CORRUPT, sentence) from error
                self.say("%s: bringing it again from its beginning" % error)
            except (Broken, Cut, Denied) as error:
                if isinstance(error, Denied) and error.status in (401, 403):
                    raise Refusal("ConfigInvalid", contract.EXIT_CONFIG, str(error)) from error
                now = self._size(progress)
                idle, before = (0 if now > before else idle + 1), now
                self._wait(idle, "%s to %s: %s" % (path, pusher.pod.name, error))

    def _size(self, progress: Callable[[], int]) -> int:
        with contextlib.suppress(Broken, Denied):
            return progress()
        return 0

    def _blocks(self, wanted: PartFile, have: int, manifest_hash: str) -> Iterator[bytes]:
        headers = {"Range": "bytes=%d-" % have, "If-Range": '"%s"' % wanted.sha256} if have else {}
        answer = self.server.get("/files/" + quote(wanted.path), headers)
        with contextlib.closing(answer):
            if answer.manifest_hash != manifest_hash:
                sentence = "%s has made new parts meanwhile" % self.server.url
                raise Refusal("PartsChanged", contract.EXIT_RETRYABLE, sentence)
            if have and answer.status != 206:
                raise Cut("%s does not go on where it was cut" % self.server.url)
            left = wanted.size - have
            while left:
                block = read_block(self.server, answer.body, min(_BLOCK, left), wanted.size - have - left)
                left -= len(block)
                yield block

    def _ask(self, job_uid: str) -> Manifest:
        answer = self.server.get("/manifest")
        try:
            with contextlib.closing(answer):
                manifest = Manifest.from_json(json.loads(answer.body.read().decode("utf-8")))
        except (ValueError, OSError, ManifestError) as error:
            raise Cut("%s/manifest: %s" % (self.server.url, error)) from error
        if manifest.job_uid != job_uid:
            raise Cut("%s serves the parts of another job (%s)" % (self.server.url, manifest.job_uid))
        return manifest

    def _wait(self, tries: int, why: str, *, limit: bool = True) -> None:
        pause = min(_LONGEST_PAUSE, 0.5 * 2 ** min(tries, 6))
        if time.monotonic() + pause > self.deadline or (limit and tries > self.retries):
            sentence = "the parts could not be dispatched: %s" % why
            raise Refusal("PartsUnreachable", contract.EXIT_RETRYABLE, sentence)
        self.say("%s; next try in %.1f s" % (why, pause))
        self.pause(pause)
