# SPDX-License-Identifier: Apache-2.0
"""Posts worker-0's progress to the operator: the latest at most once in a while, the final one always."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

if TYPE_CHECKING:
    from .progress import ProgressFile

__all__ = ("Poster", "Throttle", "http_post")

LEAST_SECONDS = 10.0
_READ_SECONDS = 1.0
_POST_SECONDS = 5.0
_FINAL_TRIES = 3
_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


class Throttle:
    """When a report may be posted: at once, then not before `least` seconds after the last one."""

    def __init__(self, least: float) -> None:
        self._least = least
        self._last: Optional[float] = None

    def may(self, now: float, *, final: bool = False) -> bool:
        """Whether to post now; yes counts as posted."""
        if not final and self._last is not None and now - self._last < self._least:
            return False
        self._last = now
        return True


class Poster:
    """Reads the trainer's file and posts, in a thread of its own, so that a slow operator delays nobody."""

    def __init__(
        self,
        file: ProgressFile,
        post: Optional[Callable[[Mapping[str, Any]], None]],
        say: Callable[[str], None],
        least_seconds: float = LEAST_SECONDS,
    ) -> None:
        """`post` raises OSError when it fails; None: reports are only read."""
        self._file = file
        self._post = post
        self._say = say
        self._throttle = Throttle(least_seconds)
        self._stop = threading.Event()
        self._complained = False
        self._began = datetime.now(timezone.utc) - timedelta(seconds=time.monotonic())
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self, patience: float) -> Optional[Dict[str, Any]]:
        """Post the last report as final; returns it, of a time after all that were posted.

        Takes no longer than `patience` seconds; a post that hangs does not keep the last lines from it.
        """
        self._stop.set()
        self._thread.join(patience)
        latest = self._file.reread() if self._thread.is_alive() else self._file.latest
        return dict(latest, reportTime=self._now()) if latest else None

    def _run(self) -> None:
        pending = False
        while not self._stop.wait(_READ_SECONDS):
            pending = self._file.read() or pending
            if pending and self._throttle.may(time.monotonic()):
                self._try_post(final=False)
                pending = False
        self._file.read()
        for _ in range(_FINAL_TRIES):
            if self._file.latest is None or self._try_post(final=True):
                return

    def _now(self) -> str:
        """The time, never earlier than it was: by it the operator knows the later of two reports."""
        return (self._began + timedelta(seconds=time.monotonic())).strftime(_TIME)

    def _try_post(self, *, final: bool) -> bool:
        if self._post is None:
            return True
        try:
            self._post(dict(self._file.latest or {}, reportTime=self._now(), final=final))
        except (OSError, ValueError) as error:
            if not self._complained:
                self._say("progress cannot be posted, training goes on: %s" % error)
                self._complained = True
            return False
        return True


def http_post(
    url: str, token: Callable[[], Optional[str]], identity: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], None]:
    """A function that posts one report, `identity` added, with the token as it is at that time."""

    def post(said: Mapping[str, Any]) -> None:
        headers = {"Content-Type": "application/json"}
        secret = token()
        if secret is not None:
            headers["Authorization"] = "Bearer " + secret
        body = json.dumps(dict(identity, **said)).encode("utf-8")
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")
        # no proxy of the environment: the operator is a Service of the cluster
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=_POST_SECONDS):
            return

    return post
