# SPDX-License-Identifier: Apache-2.0
"""`kubectl exec` and `kubectl cp` in the words of kubectl, for programs that call it in a Launcher."""

from __future__ import annotations

import os
import sys
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ..ending import Refusal
from .apiserver import ApiServer, Denied
from .copying import Copier, CopyError
from .session import Pod, run
from .websocket import Broken

__all__ = ("kubectl",)

USAGE = """this kubectl is the operator's own and knows:
  kubectl exec [-i] [-n NAMESPACE] [-c CONTAINER] POD -- COMMAND...
  kubectl cp [-n NAMESPACE] [-c CONTAINER] [--retries=N] SOURCE TARGET   (one is [NAMESPACE/]POD:PATH)"""

_TAKES_VALUE = {"-n": "namespace", "--namespace": "namespace", "-c": "container", "--container": "container"}
_COPY_VALUES = {**_TAKES_VALUE, "--retries": "retries"}
_FLAGS = {
    "-i": "stdin",
    "--stdin": "stdin",
    "-t": "",
    "--tty": "",
    "-it": "stdin",
    "-ti": "stdin",
    "-q": "",
    "--quiet": "",
    "--no-preserve": "",
}
_FAILED = 1


class _UsageError(Exception):
    pass


def kubectl(argv: Sequence[str], variables: Mapping[str, str]) -> int:
    """Run one command of kubectl; the exit code is the remote command's, else 1."""
    try:
        verb, words = _verb(argv)
        if verb == "exec":
            return _exec(ApiServer.of_pod(variables), words)
        return _cp(ApiServer.of_pod(variables), words)
    except _UsageError as error:
        return _fail("%s\n%s" % (error, USAGE))
    except Refusal as refusal:
        return _fail(refusal.sentence)
    except (Denied, Broken, CopyError) as error:
        return _fail(str(error))


def _verb(argv: Sequence[str]) -> Tuple[str, List[str]]:
    """The verb, and the rest with what stands before the verb, as kubectl allows."""
    for place, word in enumerate(argv):
        if word in ("exec", "cp"):
            return word, [*argv[:place], *argv[place + 1 :]]
        if word == "--":
            break
    raise _UsageError("kubectl %s is not known here" % " ".join(argv))


def _exec(api: ApiServer, words: List[str]) -> int:
    mine, command = words, []
    if "--" in words:
        place = words.index("--")
        mine, command = words[:place], words[place + 1 :]
    options, names = _options(mine, _TAKES_VALUE)
    if not command and len(names) > 1:
        command, names = names[1:], names[:1]  # older scripts leave out the --
    if len(names) != 1 or not command:
        raise _UsageError("exec takes one pod and a command behind --")
    pod = Pod(
        names[0].split("/", 1)[1] if names[0].startswith(("pod/", "pods/")) else names[0],
        options.get("namespace", ""),
        options.get("container", ""),
    )
    stdin_fd = 0 if "stdin" in options else None
    return run(api, pod, command, on_out=_writer(1), on_err=_writer(2), stdin_fd=stdin_fd)


def _cp(api: ApiServer, words: List[str]) -> int:
    options, names = _options(words, _COPY_VALUES)
    if len(names) != 2:
        raise _UsageError("cp takes a source and a target")
    retries = options.get("retries", "4")
    if not retries.lstrip("-").isdigit():
        raise _UsageError("--retries=%s is no number" % retries)
    copier = Copier(
        api, max(1, 1 + int(retries)), say=lambda sentence: _writer(2)((sentence + "\n").encode())
    )
    ends = [_place(each, options) for each in names]
    source, target = ends
    if source[0] is None and target[0] is not None:
        copier.upload(source[1], target[0], target[1])
    elif source[0] is not None and target[0] is None:
        copier.download(source[0], source[1], target[1])
    else:
        raise _UsageError("one of source and target is POD:PATH, the other a path here")
    return 0


def _place(word: str, options: Mapping[str, str]) -> Tuple[Optional[Pod], str]:
    head, mark, path = word.partition(":")
    if not mark or head.startswith((".", "/")):
        return None, word
    namespace, slash, name = head.rpartition("/")
    return Pod(name, namespace if slash else options.get("namespace", ""), options.get("container", "")), path


def _options(words: List[str], takes_value: Mapping[str, str]) -> Tuple[Dict[str, str], List[str]]:
    options: Dict[str, str] = {}
    names: List[str] = []
    left = iter(words)
    for word in left:
        name, mark, value = word.partition("=")
        if name in takes_value:
            stated = value if mark else next(left, None)
            if stated is None:
                raise _UsageError("%s needs a value" % name)
            options[takes_value[name]] = stated
        elif name in _FLAGS:
            if value != "false":
                options[_FLAGS[name]] = ""
        elif word.startswith("-"):
            raise _UsageError("the option %s is not known here" % word)
        else:
            names.append(word)
    return options, names


def _writer(fd: int) -> Callable[[bytes], None]:
    def write(block: bytes) -> None:
        left = memoryview(bytes(block))
        while left:
            left = left[os.write(fd, left) :]

    return write


def _fail(sentence: str) -> int:
    print("kubectl: " + sentence, file=sys.stderr, flush=True)
    return _FAILED
