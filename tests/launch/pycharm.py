"""As much of PyCharm as its debugger needs: it listens, starts `pydevd` as PyCharm does, and talks to it.

`pydevd-pycharm` on PyPI is the debugger that PyCharm starts; its protocol is a line a message, tab-separated: a number
that says what it is about, a number of the message, the rest.
"""

from __future__ import annotations

import queue
import re
import socket
import threading
from pathlib import Path
from urllib.parse import unquote

VERSION, RUN, STOPPED, GO_ON, SET_BREAKPOINT = 501, 101, 105, 106, 111


class PyCharm:
    """Listens for the debugger of each process of a program; `with` closes it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._count = -1
        self._stops: queue.Queue[tuple[socket.socket, str]] = queue.Queue()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> PyCharm:
        return self

    def __exit__(self, *error: object) -> None:
        self._listening.close()
        for connection in self._connections:
            connection.close()

    def arguments(self) -> list[str]:
        """Return what PyCharm puts before the module of a run configuration that is debugged."""
        _, port = self._listening.getsockname()
        return ["-m", "pydevd", "--multiprocess", "--client", "127.0.0.1", "--port", str(port), "--module", "--file"]

    def stopped(self) -> tuple[socket.socket, str, str, int]:
        """Wait until a program stops; return its debugger, thread, file and line."""
        connection, text = self._stops.get(timeout=self._seconds)
        thread = re.search(r'thread id="([^"]+)"', text)
        frame = re.search(r'file="([^"]+)" line="(\d+)"', text)
        assert thread and frame, text
        return connection, thread[1], frame[1], int(frame[2])

    def break_at(self, connection: socket.socket, path: Path, line: int) -> None:
        """Set a breakpoint in a file."""
        self._send(connection, SET_BREAKPOINT, "1", "python-line", path, line, *["None"] * 4, "False", "THREAD")

    def go_on(self, connection: socket.socket, thread: str) -> None:
        """Let a thread that has stopped run."""
        self._send(connection, GO_ON, thread)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._listen, args=(connection,), daemon=True).start()

    def _listen(self, connection: socket.socket) -> None:
        self._send(connection, VERSION, "1.1", "UNIX", "ID")
        self._send(connection, RUN, "")
        try:
            for line in connection.makefile("r", encoding="utf-8"):
                if line.startswith(f"{STOPPED}\t"):
                    self._stops.put((connection, unquote(line.split("\t")[2])))
        except (OSError, ValueError):
            return  # The program is over.

    def _send(self, connection: socket.socket, what: int, *rest: object) -> None:
        self._count += 2
        connection.sendall(("\t".join(map(str, (what, self._count, *rest))) + "\n").encode())
