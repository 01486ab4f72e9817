"""What the jobs of this folder share: a process group, and what a watchdog leaves when it looks at a rank."""

import faulthandler
import json
import os
import sys
import threading
import time

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d

RANK = int(os.environ["RANK"])
RANKS = int(os.environ["WORLD_SIZE"])
CULPRIT = int(os.environ["CULPRIT"])
"""The rank that behaves in another way, or -1."""
FOLDER = os.environ["JOB_FOLDER"]
LONGEST = 120.0
"""Seconds after which a rank leaves its files, whether or not it waits."""


left = threading.Lock()


def leave_files():
    if not left.acquire(blocking=False):
        return  # The end of the other ranks is no cause.
    with open(f"{FOLDER}/stack_{RANK}.txt", "w", encoding="utf-8") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    as_json = os.environ.get("JOB_JSON")
    data = _distributed_c10d._dump_fr_trace_json() if as_json else _distributed_c10d._dump_fr_trace()
    with open(f"{FOLDER}/recorder_{RANK}{'.json' if as_json else ''}", "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def look_later(seconds):
    time.sleep(seconds)
    leave_files()


def longest_wait():
    """Return for how many seconds this rank has waited at a collective, at most."""
    entries = json.loads(_distributed_c10d._dump_fr_trace_json()).get("entries", [])
    pending = [entry["time_created_ns"] for entry in entries if entry["state"] != "completed" and not entry["retired"]]
    return time.time() - min(pending) / 1e9 if pending else 0.0


def look_when_hung(seconds):
    """Do as torch's watchdog at a timeout: when a rank has waited for too long, all ranks leave their files."""
    began = time.monotonic()
    sign = f"{FOLDER}/hung"
    while not os.path.exists(sign) and time.monotonic() - began < LONGEST:
        time.sleep(0.2)
        if longest_wait() > seconds:
            open(sign, "w").close()
    leave_files()
    open(f"{FOLDER}/left_{RANK}", "w").close()
    # The job hangs: nothing but this ends it. A rank that ends earlier looks dead to the others.
    began = time.monotonic()
    while not all(os.path.exists(f"{FOLDER}/left_{rank}") for rank in range(RANKS)) and time.monotonic() - began < 5:
        time.sleep(0.1)
    os._exit(0)


def start():
    """Join the job. A watchdog writes its files when a rank waits for too long, or when an exception ends the rank."""
    dist.init_process_group("gloo")
    dist.barrier()
    usual = sys.excepthook

    def failed(*arguments):
        usual(*arguments)
        leave_files()
        sys.stderr.flush()
        os._exit(1)

    sys.excepthook = failed
    moments = [float(moment) for moment in os.environ["JOB_MOMENTS"].split(",")]
    look = look_when_hung if os.environ.get("JOB_HANGS") == "1" else look_later
    threading.Thread(target=look, args=(moments[RANK % len(moments)],), daemon=True).start()
    torch.manual_seed(0)
    torch.set_num_threads(1)


def end():
    dist.barrier()
    dist.destroy_process_group()
