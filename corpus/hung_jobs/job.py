"""What the jobs of this folder share: a process group, and what a watchdog leaves when it looks at a rank."""

import faulthandler
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


def leave_files():
    with open(f"{FOLDER}/stack_{RANK}.txt", "w", encoding="utf-8") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    as_json = os.environ.get("JOB_JSON")
    data = _distributed_c10d._dump_fr_trace_json() if as_json else _distributed_c10d._dump_fr_trace()
    with open(f"{FOLDER}/recorder_{RANK}{'.json' if as_json else ''}", "wb") as file:
        file.write(data.encode() if isinstance(data, str) else data)


def look_later(seconds, leaves):
    time.sleep(seconds)
    leave_files()
    if leaves:
        # The job hangs: nothing but this ends it.
        time.sleep(0.5)
        os._exit(0)


def start():
    """Join the job. A watchdog writes its files after some seconds, or when an exception ends the rank."""
    dist.init_process_group("gloo")
    dist.barrier()
    usual = sys.excepthook

    def failed(*arguments):
        usual(*arguments)
        leave_files()
        sys.stderr.flush()
        os._exit(1)

    sys.excepthook = failed
    moments = [float(each) for each in os.environ["JOB_MOMENTS"].split(",")]
    is_hung = os.environ.get("JOB_HANGS") == "1"
    threading.Thread(target=look_later, args=(moments[RANK % len(moments)], is_hung), daemon=True).start()
    torch.manual_seed(0)
    torch.set_num_threads(1)


def end():
    dist.barrier()
    dist.destroy_process_group()
