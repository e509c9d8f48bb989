# SPDX-License-Identifier: Apache-2.0
"""`fetch`: this pod's part from the Partitioner, whole and verified."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Mapping, Optional

from . import contract
from .ending import Ending, Refusal
from .env import Env, Identity
from .layout import check_latched, clear_parts
from .manifest import Manifest, ManifestError, PartFile, load_manifest, save_manifest, verify_files
from .output import Stdout
from .transfer import Corrupt, Cut, PartsServer, ServerChanged, download, no_space

__all__ = ("Fetcher", "fetch")

_CORRUPT_TRIES = 3
_CHANGED_TRIES = 5
_LONGEST_PAUSE = 15.0


def fetch(variables: Mapping[str, str]) -> Ending:
    """Leave this pod's verified part in the parts' folder. Raises Refusal."""
    env, say = Env(variables), Stdout().say
    identity, folder = Identity(env), env.text(contract.ENV_PARTS_DIR)
    fetcher = Fetcher(
        PartsServer(env.text(contract.ENV_PARTS_URL), lambda: env.secret(contract.ENV_PARTS_TOKEN_FILE)),
        folder,
        part=_part(env, identity),
        job_uid=identity.job_uid,
        latched=env.maybe(contract.ENV_MANIFEST_HASH),
        deadline=time.monotonic() + env.seconds(contract.ENV_FETCH_TIMEOUT_SECONDS, 3600.0),
        retries=env.integer(contract.ENV_FETCH_RETRIES, 5),
        say=say,
    )
    try:
        return Ending(0, fetcher.run())
    except OSError as error:
        raise no_space(folder, error) from error


@dataclass
class Fetcher:
    """One fetch; `run` may take until `deadline` (of time.monotonic) to find the server."""

    server: PartsServer
    folder: str
    part: Optional[int]
    job_uid: str
    latched: Optional[str]
    deadline: float
    retries: int
    say: Callable[[str], None]
    pause: Callable[[float], None] = time.sleep  # between tries, not instead of waiting for something
    resumed: int = field(default=0, init=False)

    def run(self) -> Dict[str, Any]:
        """Raises Refusal, OSError."""
        os.makedirs(self.folder, exist_ok=True)
        for _ in range(_CHANGED_TRIES):
            manifest = self._manifest()
            reused = self._keep_or_clear(manifest)
            try:
                if not reused:
                    self._bring(manifest)
                    save_manifest(self.folder, manifest)
            except ServerChanged:
                self.say("the Partitioner has made new parts meanwhile: starting over")
                continue
            size = sum(file.size for file in manifest.of_part(self.part))
            what = "what all need" if self.part is None else "part %d" % self.part
            self.say("%s: %d bytes verified, manifest %s" % (what, size, manifest.hash))
            return {"manifest": manifest.hash, "bytes": size, "resumed": self.resumed, "reused": reused}
        sentence = "%s changed its parts %d times during one fetch" % (self.server.url, _CHANGED_TRIES)
        raise Refusal("PartsChanged", contract.EXIT_RETRYABLE, sentence)

    def _manifest(self) -> Manifest:
        tries = 0
        while True:
            try:
                manifest = self._ask_manifest()
                break
            except Cut as cut:
                self._wait(tries, str(cut), limit=None)
                tries += 1
        check_latched(manifest.hash, self.latched)
        if self.part is not None and self.part >= manifest.num_parts:
            sentence = "there are %d parts, this pod needs part %d" % (manifest.num_parts, self.part)
            raise Refusal("PartsChanged", contract.EXIT_RETRYABLE, sentence)
        return manifest

    def _ask_manifest(self) -> Manifest:
        answer = self.server.get("/manifest")
        try:
            with contextlib.closing(answer):
                manifest = Manifest.from_json(json.loads(answer.body.read().decode("utf-8")))
        except (ValueError, OSError) as error:
            raise Cut("%s/manifest: %s" % (self.server.url, error)) from error
        if manifest.job_uid != self.job_uid:
            # an address that was the Partitioner's once may be another job's now
            raise Cut("%s serves the parts of another job (%s)" % (self.server.url, manifest.job_uid))
        return manifest

    def _keep_or_clear(self, manifest: Manifest) -> bool:
        """True when the folder holds these very parts; clears those of another partitioning."""
        try:
            held = load_manifest(self.folder)
            if held is not None and held.hash == manifest.hash:
                verify_files(self.folder, manifest.of_part(self.part))
                return True
        except ManifestError as error:
            self.say("what lies in %s cannot be used: %s" % (self.folder, error))
            clear_parts(self.folder)
            return False
        if held is not None:
            clear_parts(self.folder)
        return False

    def _bring(self, manifest: Manifest) -> None:
        for wanted in manifest.of_part(self.part):
            if not _whole(self.folder, wanted):
                self._bring_file(wanted, manifest.hash)

    def _bring_file(self, wanted: PartFile, manifest_hash: str) -> None:
        idle = spoilt = 0
        while True:
            try:
                self.resumed += download(self.server, self.folder, wanted, manifest_hash)
            except Corrupt as error:
                spoilt += 1
                if spoilt >= _CORRUPT_TRIES:
                    sentence = "%s is refused after %d transfers: %s" % (wanted.path, spoilt, error)
                    raise Refusal("PartsCorrupt", contract.EXIT_CORRUPT, sentence) from error
                self.say("%s: fetching it again from its beginning" % error)
            except Cut as cut:
                idle = 0 if cut.got else idle + 1
                self._wait(idle, str(cut), limit=self.retries)
            else:
                return

    def _wait(self, tries: int, why: str, limit: Optional[int]) -> None:
        """Pause before the next try, ever longer; raises Refusal when patience is at its end."""
        pause = min(_LONGEST_PAUSE, 0.5 * 2 ** min(tries, 6)) * random.uniform(0.5, 1.0)
        over = time.monotonic() + pause > self.deadline
        if over or (limit is not None and tries > limit):
            sentence = "the parts could not be fetched from %s: %s" % (self.server.url, why)
            raise Refusal("PartsUnreachable", contract.EXIT_RETRYABLE, sentence)
        self.say("%s; next try in %.1f s" % (why, pause))
        self.pause(pause)


def _part(env: Env, identity: Identity) -> Optional[int]:
    """Which part this pod needs. Raises Refusal."""
    if env.maybe(contract.ENV_PART) == contract.NO_PART:
        return None
    return env.integer(contract.ENV_PART, identity.index)


def _whole(folder: str, wanted: PartFile) -> bool:
    path = os.path.join(folder, wanted.path)
    if not os.path.exists(path):
        return False
    try:
        verify_files(folder, [wanted])
    except ManifestError:
        _remove(path)
        return False
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
