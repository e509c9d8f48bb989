# SPDX-License-Identifier: Apache-2.0
"""What the operator and the programs inside a job's pods agree on: names, ports, files and exit codes.

Containers (`Z` is ``python3 /opt/dglrun/dglrun.pyz``)
------------------------------------------------------
=============  ==========================  ==============================================================
pod            container                   command
=============  ==========================  ==============================================================
Partitioner    main                        ``Z partition [-- <user command>]``; ends with the parts written
Partitioner    ``serve`` (second; only     ``Z serve``; never ends by itself, exits 0 on SIGTERM. Same image,
               without a claim)            same parts volume
Launcher       ``dglop-partition`` (init;  ``Z partition [-- <user command>]``, in the Partitioner's place
               where it partitions)
Worker-0       main (where it partitions)  ``Z partition [-- <user command>]``; when that has ended, the pod
                                           is made again as a Worker's
Worker         ``fetch`` (init; only       ``Z fetch``
               without a claim)
Worker         ``dglop-assemble`` (init;   ``Z assemble``
               only with MSP)
Worker         main                        ``Z worker -- <user command>``
=============  ==========================  ==============================================================

``serve`` and ``worker`` are ready once READY_FILE is there: a startup probe waits for it in the container.

Environment
-----------
Each of these may also stand in the command line, as ``NAME=VALUE`` before ``--``; there it goes before the
container's own and is in the environment of all that dglrun starts. The operator says so whatever the
template does not speak of.

Needed by all: ENV_JOB_UID, ENV_PARTS_DIR. By all main containers, and by what they start: ENV_JOB_NAME,
ENV_JOB_NAMESPACE, ENV_ATTEMPT, ENV_REPLICA_TYPE, ENV_REPLICA_INDEX (fetch too), ENV_POD_NAME, ENV_NUM_PARTS
(= Workers).

assemble: what worker needs of the job's shape, rendezvous and patience; ENV_ASSEMBLE_PORT (29402; the
Workers' data goes over the port after it), and what partition needs without a command.
partition: ENV_DATASET_NAME or ENV_DATASET_URL when no command is given (ENV_DATASET_FORMAT,
ENV_DATASET_NODES, ENV_PART_METHOD, ENV_PART_IDS, ENV_BALANCE_NTYPES, ENV_BALANCE_EDGES and ENV_GRAPH_NAME
refine it); with ENV_PARTITION_MODE=SMP several processes make them: ENV_PARTITION_PROCESSES (default: CPUs),
never more than parts. Both: with ENV_RETAIN_PARTS=0 parts of an earlier attempt are not kept.
serve: ENV_PARTS_TOKEN_FILE; ENV_PARTS_PORT (default 29401).
fetch: ENV_PARTS_URL and ENV_PARTS_TOKEN_FILE; ENV_MANIFEST_HASH when a hash is latched in the job's status;
ENV_FETCH_TIMEOUT_SECONDS (3600), ENV_FETCH_RETRIES (5 without any progress).
worker: ENV_VERIFY_PARTS (on a claim, where no fetch goes before); ENV_MANIFEST_HASH; ENV_POD_IP (status.podIP
or status.podIPs: the first IPv4 of a comma list is taken), ENV_NUM_WORKERS,
ENV_NUM_TRAINERS (1), ENV_NUM_SERVERS (1), ENV_NUM_SAMPLERS (0), ENV_RENDEZVOUS_HOST, ENV_RENDEZVOUS_PORT
(29400), ENV_PORT_BASE (30050), ENV_MASTER_PORT (29500), ENV_OUTPUT_DIR, ENV_PARTS_TOKEN_FILE (peers prove
that they know it; without it they do not prove anything), ENV_STATUS_URL and ENV_STATUS_TOKEN_FILE
(worker-0 posts progress; unset: nobody does), ENV_HEARTBEAT_SECONDS (2), ENV_LOST_SECONDS (5 heartbeats),
ENV_VERDICT_SECONDS (5), ENV_RENDEZVOUS_TIMEOUT_SECONDS (600), ENV_SERVER_EXIT_SECONDS (30),
ENV_KILL_SECONDS (5: SIGTERM to SIGKILL of children; keep terminationGracePeriodSeconds above it).
The emptyDir of ip_config, ready and progress file is mounted at RUN_DIR (ENV_RUN_DIR moves it).

Progress, worker-0 to the operator
----------------------------------
``POST <ENV_STATUS_URL>``, ``Authorization: Bearer <content of ENV_STATUS_TOKEN_FILE>``, JSON
``{"jobUID", "attempt": int, "progressPercentage": int, "estimatedRemainingSeconds": int,
"metrics": [{"name": str, "value": str}], "reportTime": RFC 3339, "final": bool}``; percentage and remaining
time only where known; at most once in 10 s, the final one of a success always. reportTime is worker-0's own
and never runs backwards: of two reports of an attempt it tells the later one, in whatever order they arrive.
Any 2xx is success; failures are logged once and never fatal.

Termination messages
--------------------
One JSON object on one line, under 4096 bytes, in TERMINATION_LOG (ENV_TERMINATION_LOG moves it).

Success (exit 0):

- partition: ``{"manifest": hash, "parts": int, "bytes": int, "nodes": int, "edges": int, "edgeCut": int,
  "reused": bool}``; edgeCut (edges between parts) only where known, reused where parts were found ready;
  seconds and peakBytes (the most memory that one process had) where what partitioned left word of them.
- assemble: the same as partition, with one manifest in all Workers.
- fetch: ``{"manifest": hash, "bytes": int, "resumed": int, "reused": bool}``: bytes of the own part, how
  often a transfer was resumed, and whether all was there already.
- worker: ``{"result": {"progressPercentage": int, "metrics": [...], "reportTime": RFC 3339}}`` of worker-0:
  the trainer's last report, of which the last metrics go where there are too many; the operator shows it
  even if no report ever reached it. ``{}`` of the others.

Failure: ``{"cause": ..., "process": ..., "exitCode": int, "lines": [str, ...], ...}``

- ``cause: "self"``: the failure began here; this one decides the attempt. ``process`` is ``trainer-0``,
  ``trainer-0/sampler`` (one that its trainer did not notice), ``server-0``, ``partition``, ``assemble``,
  ``fetch``, ``rendezvous`` or ``config``; ``exitCode`` is the code of the container too;
  ``signal`` (int) where a signal ended it, then exitCode is 128 + signal; ``oom: true`` where
  the kernel killed it for memory; ``reason`` is one CamelCase word where dglrun itself judged (see
  REASONS); ``lines`` are the process's last lines, or one sentence of dglrun's own.
- ``cause: "peer"``: ended because of another pod, exit EXIT_PEER. ``pod`` names it, ``process`` what
  failed there (``pod`` where the whole pod was lost or told to stop), ``exitCode`` its code where known,
  ``reason`` ``PeerFailed``, ``PeerLost`` or ``PeerStopped``.
- ``cause: "stop"``: told to stop (SIGTERM, SIGINT), exit EXIT_PEER.

Exit codes: a child's own code, 128 + n for its signal n, 126/127 where it could not be started, or one of
EXIT_* below. Of an attempt's Workers at most one writes ``cause: "self"`` as long as worker-0 lives.
"""

from __future__ import annotations

__all__ = (
    "ASSEMBLE_DATA_PORT",
    "ASSEMBLE_PORT",
    "ENV_ASSEMBLE_PORT",
    "ENV_ATTEMPT",
    "ENV_BALANCE_EDGES",
    "ENV_BALANCE_NTYPES",
    "ENV_DATASET_FORMAT",
    "ENV_DATASET_NAME",
    "ENV_DATASET_NODES",
    "ENV_DATASET_URL",
    "ENV_FETCH_RETRIES",
    "ENV_FETCH_TIMEOUT_SECONDS",
    "ENV_GRAPH_NAME",
    "ENV_HEARTBEAT_SECONDS",
    "ENV_JOB_NAME",
    "ENV_JOB_NAMESPACE",
    "ENV_JOB_UID",
    "ENV_KILL_SECONDS",
    "ENV_LOST_SECONDS",
    "ENV_MANIFEST_HASH",
    "ENV_MASTER_PORT",
    "ENV_NUM_PARTS",
    "ENV_NUM_SAMPLERS",
    "ENV_NUM_SERVERS",
    "ENV_NUM_TRAINERS",
    "ENV_NUM_WORKERS",
    "ENV_OUTPUT_DIR",
    "ENV_PARTITION_MODE",
    "ENV_PARTITION_PROCESSES",
    "ENV_PARTS_DIR",
    "ENV_PARTS_PORT",
    "ENV_PARTS_TOKEN_FILE",
    "ENV_PARTS_URL",
    "ENV_PART_IDS",
    "ENV_PART_METHOD",
    "ENV_POD_IP",
    "ENV_POD_NAME",
    "ENV_PORT_BASE",
    "ENV_RENDEZVOUS_HOST",
    "ENV_RENDEZVOUS_PORT",
    "ENV_RENDEZVOUS_TIMEOUT_SECONDS",
    "ENV_REPLICA_INDEX",
    "ENV_REPLICA_TYPE",
    "ENV_RETAIN_PARTS",
    "ENV_RUN_DIR",
    "ENV_SERVER_EXIT_SECONDS",
    "ENV_STATUS_TOKEN_FILE",
    "ENV_STATUS_URL",
    "ENV_TERMINATION_LOG",
    "ENV_VERDICT_SECONDS",
    "ENV_VERIFY_PARTS",
    "ENV_WORKSPACE",
    "EXIT_CONFIG",
    "EXIT_CORRUPT",
    "EXIT_PEER",
    "EXIT_RETRYABLE",
    "IP_CONFIG_FILE",
    "IP_CONFIG_NAME",
    "MANIFEST_FILE",
    "MANIFEST_HASH_HEADER",
    "PARTS_PORT",
    "PROGRESS_FILE_ENV",
    "PROGRESS_NAME",
    "READY_FILE",
    "READY_NAME",
    "REASONS",
    "RENDEZVOUS_PORT",
    "RUN_DIR",
    "STATS_FILE",
    "TERMINATION_LOG",
    "ZIPAPP_NAME",
)

# --- identity: always set by the operator, the user's own value of these never wins -------------------
ENV_JOB_NAME = "DGLJOB_NAME"
ENV_JOB_NAMESPACE = "DGLJOB_NAMESPACE"
ENV_JOB_UID = "DGLJOB_UID"
ENV_ATTEMPT = "DGLJOB_ATTEMPT"  # 1, 2, …: one life of the gang
ENV_REPLICA_TYPE = "DGLJOB_REPLICA_TYPE"  # Launcher, Worker, Partitioner
ENV_REPLICA_INDEX = "DGLJOB_REPLICA_INDEX"
ENV_POD_NAME = "DGLJOB_POD_NAME"
ENV_POD_IP = "DGLJOB_POD_IP"  # downward API status.podIP

# --- shape of the job ---------------------------------------------------------------------------------
ENV_NUM_WORKERS = "DGLJOB_NUM_WORKERS"
ENV_NUM_PARTS = "DGLJOB_NUM_PARTS"
ENV_NUM_TRAINERS = "DGLJOB_NUM_TRAINERS"  # per Worker (slotsPerWorker)
ENV_NUM_SERVERS = "DGLJOB_NUM_SERVERS"  # per Worker
ENV_NUM_SAMPLERS = "DGLJOB_NUM_SAMPLERS"  # per trainer

# --- where things are ---------------------------------------------------------------------------------
ENV_PARTS_DIR = "DGLJOB_PARTS_DIR"  # the Partitioner leaves <graph>.json and part*/ here; fetch fills it
ENV_OUTPUT_DIR = "DGLJOB_OUTPUT_DIR"  # trained files
ENV_WORKSPACE = "DGLJOB_WORKSPACE"
ENV_PARTS_URL = "DGLJOB_PARTS_URL"  # http://<partitioner pod dns>:PARTS_PORT; unset where all mount a claim
ENV_PARTS_TOKEN_FILE = "DGLJOB_PARTS_TOKEN_FILE"  # bearer token of the parts server
ENV_RENDEZVOUS_HOST = "DGLJOB_RENDEZVOUS_HOST"  # dns name of worker-0
ENV_RENDEZVOUS_PORT = "DGLJOB_RENDEZVOUS_PORT"
ENV_PORT_BASE = "DGLJOB_PORT_BASE"  # server k of a Worker listens on PORT_BASE + k
ENV_MASTER_PORT = "MASTER_PORT"
ENV_STATUS_URL = "DGLJOB_STATUS_URL"  # where progress is posted; unset: nothing is posted
ENV_STATUS_TOKEN_FILE = "DGLJOB_STATUS_TOKEN_FILE"
PROGRESS_FILE_ENV = "DGLJOB_PROGRESS_FILE"  # the trainer appends JSON lines here, the supervisor reads them

# --- built-in partition (no user command) -------------------------------------------------------------
ENV_DATASET_NAME = "DGLJOB_DATASET_NAME"  # digits, synthetic or synthetic-hetero
ENV_DATASET_URL = "DGLJOB_DATASET_URL"  # file:///…, a file or a folder
ENV_DATASET_FORMAT = "DGLJOB_DATASET_FORMAT"  # dgl, csv, numpy, parquet or chunked; default: by the name
ENV_DATASET_NODES = "DGLJOB_DATASET_NODES"  # how many: of a synthetic graph (2000), of a plain list of edges
ENV_GRAPH_NAME = "DGLJOB_GRAPH_NAME"  # default: the dataset's name
ENV_PART_METHOD = "DGLJOB_PART_METHOD"  # SSP: metis (default) or random; SMP and MSP: assemble/choose.py
ENV_PART_IDS = "DGLJOB_PART_IDS"  # method given: a file, or a folder with one a node type
ENV_BALANCE_NTYPES = "DGLJOB_BALANCE_NTYPES"  # a feature of nodes: as many of each value in every part; none
ENV_BALANCE_EDGES = "DGLJOB_BALANCE_EDGES"  # 1 (default) or 0: as many edges in every part

# --- how the parts are made ---------------------------------------------------------------------------
ENV_PARTITION_MODE = "DGLJOB_PARTITION_MODE"  # SSP, SMP or MSP
ENV_PARTITION_PROCESSES = "DGLJOB_PARTITION_PROCESSES"  # SMP: how many processes
ENV_RETAIN_PARTS = "DGLJOB_RETAIN_PARTS"  # 0: parts of an earlier attempt are made anew
ENV_ASSEMBLE_PORT = "DGLJOB_ASSEMBLE_PORT"  # MSP: where worker-0 is met by those that make their parts

# --- patience, in seconds (defaults in the docstring above) -------------------------------------------
ENV_HEARTBEAT_SECONDS = "DGLJOB_HEARTBEAT_SECONDS"
ENV_LOST_SECONDS = "DGLJOB_LOST_SECONDS"  # silence after which a peer counts as lost
ENV_VERDICT_SECONDS = "DGLJOB_VERDICT_SECONDS"  # wait for word of an earlier failure elsewhere
ENV_RENDEZVOUS_TIMEOUT_SECONDS = "DGLJOB_RENDEZVOUS_TIMEOUT_SECONDS"
ENV_SERVER_EXIT_SECONDS = "DGLJOB_SERVER_EXIT_SECONDS"
ENV_KILL_SECONDS = "DGLJOB_KILL_SECONDS"
ENV_FETCH_TIMEOUT_SECONDS = "DGLJOB_FETCH_TIMEOUT_SECONDS"
ENV_FETCH_RETRIES = "DGLJOB_FETCH_RETRIES"  # tries in a row that brought not one byte

# --- what else the operator may say -------------------------------------------------------------------
ENV_MANIFEST_HASH = "DGLJOB_MANIFEST_HASH"  # the hash latched in status.partition; other parts are refused
ENV_VERIFY_PARTS = "DGLJOB_VERIFY_PARTS"  # 1: no fetch went before, the worker checks its part by itself
ENV_PARTS_PORT = "DGLJOB_PARTS_PORT"
ENV_RUN_DIR = "DGLJOB_RUN_DIR"
ENV_TERMINATION_LOG = "DGLJOB_TERMINATION_LOG"

RENDEZVOUS_PORT = 29400
PARTS_PORT = 29401
ASSEMBLE_PORT = 29402
ASSEMBLE_DATA_PORT = ASSEMBLE_PORT + 1  # in every Worker; always the one after the port of the meeting
MANIFEST_FILE = "dglrun-manifest.json"  # in PARTS_DIR: written last, so it vouches for all parts
MANIFEST_HASH_HEADER = "X-DGLJob-Manifest"
STATS_FILE = (
    "dglrun-stats.json"  # a partition command may leave {"edgeCut", "seconds", "peakBytes"} in PARTS_DIR
)
RUN_DIR = "/etc/dgl"
IP_CONFIG_NAME = "ip_config"
READY_NAME = "ready"
PROGRESS_NAME = "progress.jsonl"
IP_CONFIG_FILE = "/etc/dgl/ip_config"  # in an emptyDir, written by dglrun only after the Workers have met
READY_FILE = "/etc/dgl/ready"  # worker: met and all children started; serve: all can be fetched
TERMINATION_LOG = "/dev/termination-log"
ZIPAPP_NAME = "dglrun.pyz"

# --- exit codes of dglrun's own making; a child's code is passed on, a signal n as 128 + n -------------
EXIT_CONFIG = 2  # something in the job is wrong and stays wrong: permanent
EXIT_CORRUPT = 3  # parts refused: checksum or manifest does not match after all retries: permanent
EXIT_PEER = 143  # ended because a peer failed or because it was told to stop: retryable, cause "peer"
EXIT_RETRYABLE = 144  # infrastructure (peers never came, parts server lost): retryable

REASONS = (
    "PartitionInvalid",  # the partition command left no usable parts: EXIT_CONFIG
    "ConfigInvalid",  # the environment is wrong: EXIT_CONFIG
    "PartsCorrupt",  # EXIT_CORRUPT
    "PartsChanged",  # not the latched manifest, or peers hold different parts: EXIT_RETRYABLE
    "PartsUnreachable",  # EXIT_RETRYABLE
    "NoSpace",  # the volume of the parts is full: EXIT_RETRYABLE
    "PeersMissing",  # rendezvous timed out: EXIT_RETRYABLE
    "AttemptOver",  # a newer attempt meets already: EXIT_PEER, cause "peer"
)
