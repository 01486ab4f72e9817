"""The other decompilers that ours is measured beside, each in a virtual environment of its own.

    python -m benchmarks.peers      make the environments in .peers: depyf 0.20 and depyo on Python 3.11,
                                    PyChD on 3.14, uncompyle6 and decompyle3 on 3.8, where those Pythons are found

Benchmarks look for them in the folders of DEPYF_PEERS, separated as in PATH, and in .peers; what is missing is skipped.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.interpreters import find as find_python

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".peers"
FOLDERS = "DEPYF_PEERS"


@dataclass(frozen=True)
class Peer:
    """Another decompiler: the adapter of the round trip for it, its Python, and what to install."""

    name: str
    adapter: str
    version: tuple[int, int]
    packages: tuple[str, ...]


PEERS = (
    Peer("depyf-0.20", "depyf_peer", (3, 11), ("depyf==0.20.0", "filelock")),
    Peer("uncompyle6", "uncompyle6_peer", (3, 8), ("uncompyle6==3.9.3",)),
    Peer("depyo", "depyo_peer", (3, 11), ("depyo==1.3.0",)),
    Peer("pychd", "pychd_peer", (3, 14), ("pychd==1.3.0", "xdis==6.1.8")),
    Peer("decompyle3", "decompyle3_peer", (3, 8), ("decompyle3==3.9.3",)),
)


def find(peer: Peer) -> str | None:
    """Return the interpreter of a peer's environment, or None."""
    folders = [*filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)), str(FOLDER)]
    for folder in folders:
        python = Path(folder) / peer.name / "bin" / "python"
        if python.exists():
            return str(python)
    return None


def missing(peer: Peer) -> str:
    """Say that a peer is not there, and how to get it."""
    return f"skipped: no environment of {peer.name} (python -m benchmarks.peers makes it)"


def make(peer: Peer) -> str:
    """Make the environment of a peer; return what happened."""
    if find(peer) is not None:
        return "is there"
    python = find_python(peer.version)
    if python is None:
        return "no CPython {}.{} on this machine".format(*peer.version)
    home = FOLDER / peer.name
    subprocess.run([python, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run([*pip, *peer.packages], check=False)
    return "made" if done.returncode == 0 else "could not be installed"


if __name__ == "__main__":
    for peer in PEERS:
        print(f"{peer.name}: {make(peer)}")
    sys.exit(0)
