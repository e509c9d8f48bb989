# SPDX-License-Identifier: Apache-2.0
"""What the trainer in the first Worker reports, read from there by exec while the Launcher runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional

from .. import contract
from ..env import Env, Identity
from ..kube.apiserver import ApiServer, Denied
from ..kube.session import Pod, capture
from ..kube.websocket import Broken
from ..poster import LEAST_SECONDS, Poster, Throttle, http_post
from ..progress import ProgressFile

if TYPE_CHECKING:
    from ..output import Stdout

__all__ = ("RemoteProgress", "Reports")

_FINISH_SECONDS = 5.0
_REST = 'if [ -f "$1" ]; then exec tail -c "+$2" "$1"; fi'


class RemoteProgress(ProgressFile):
    """A trainer's file in another pod; looked at now and then only, as each look is an exec."""

    def __init__(self, api: ApiServer, pod: Pod, path: str, say: Callable[[str], None]) -> None:
        super().__init__(path)
        self._api = api
        self._pod = pod
        self._say = say
        self._throttle = Throttle(LEAST_SECONDS)
        self._is_last = False
        self._complained = False

    def hurry(self) -> None:
        """The next look is the last one, and is not put off."""
        self._is_last = True

    def read(self) -> bool:
        if not self._throttle.may(time.monotonic(), final=self._is_last):
            return False
        try:
            command = ["sh", "-c", _REST, "sh", self._path, str(self._at + 1)]
            done = capture(self._api, self._pod, command)
        except (Broken, Denied) as error:
            return self._complain(str(error))
        if done.code:
            return self._complain("tail ended with %d: %s" % (done.code, done.trouble))
        return self._take(bytes(done.out))

    def _complain(self, why: str) -> bool:
        if not self._complained:
            self._say("%s: its reports cannot be read, training goes on: %s" % (self._pod.name, why))
            self._complained = True
        return False

    def reread(self) -> Optional[Dict[str, Any]]:
        """What was read last: another look would take as long as the one that nobody waits for."""
        return self.latest


class Reports:
    """Posts the reports of the first Worker to the operator."""

    def __init__(self, file: RemoteProgress, poster: Poster) -> None:
        self._file = file
        self._poster = poster

    @classmethod
    def begin(cls, variables: Mapping[str, str], worker: str, path: str, out: Stdout) -> Optional[Reports]:
        """None where nobody wants to know. Raises Refusal."""
        env = Env(variables)
        url = env.maybe(contract.ENV_STATUS_URL)
        if url is None:
            return None
        identity = Identity(env)
        post = http_post(
            url,
            lambda: env.secret(contract.ENV_STATUS_TOKEN_FILE),
            {"jobUID": identity.job_uid, "attempt": identity.attempt},
        )
        pod = Pod(worker, container=env.maybe(contract.ENV_EXEC_CONTAINER) or "")
        file = RemoteProgress(ApiServer.of_pod(variables), pod, path, out.say)
        made = cls(file, Poster(file, post, out.say))
        made._poster.start()
        return made

    def finish(self) -> Dict[str, Any]:
        """Last words with the last report in them; none where nothing was reported."""
        self._file.hurry()
        latest = self._poster.finish(_FINISH_SECONDS)
        return {"result": latest} if latest else {}
