"""A program under debugpy, and an editor that talks to it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from benchmarks.dap import DapClient

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "debugging.md"
SECONDS = 180


class Debugged:
    """A program that runs under debugpy, from its first line where `port` is told, else from when it says where."""

    def __init__(self, *arguments: str, port: int = 0, **attach: Any) -> None:
        self.told = ""
        self.process = self._start(*arguments)
        port = port or int(self._read_line("listening").split()[1])
        self._watchdog = threading.Timer(SECONDS, self.process.kill)
        self._watchdog.start()
        self.client = self._connected(port)
        number = self._attach(attach)
        self.client.ask("configurationDone")
        self.client.answer(number)

    @staticmethod
    def _start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-X", "frozen_modules=off", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _read_line(self, word: str) -> str:
        """Return the next line of the program's that has a word in it."""
        assert self.process.stdout is not None
        while True:
            line = self.process.stdout.readline()
            assert line, "the program ended"
            self.told += line
            if word in line:
                return line

    def _connected(self, port: int) -> DapClient:
        for _ in range(SECONDS * 10):
            try:
                return DapClient(port, SECONDS)
            except ConnectionRefusedError:
                assert self.process.poll() is None, "the program ended before a client could connect"
                threading.Event().wait(0.1)
        raise AssertionError("debugpy does not listen")

    def _attach(self, different: dict[str, Any]) -> int:
        self.client.ask("initialize", adapterID="depyf-tests", linesStartAt1=True, pathFormat="path")
        number = self.client.send("attach", **{**attach_configuration(), **different})
        self.client.event("initialized")
        return number

    def until_pause(self) -> None:
        """Read what the program prints until it waits for the return key."""
        assert self.process.stdout is not None
        self.told = ""
        while "press return to continue" not in self.told:
            read = self.process.stdout.read(1)
            assert read, self.told
            self.told += read

    def go_on(self) -> None:
        """Press the return key."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def set_breakpoints(self, places: list[tuple[Path, int]]) -> None:
        """Set breakpoints; all of them must bind."""
        for path, line in places:
            answer = self.client.ask("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": line}])
            assert [point["verified"] for point in answer["breakpoints"]] == [True]

    def stopped(self) -> tuple[int, dict[str, Any]]:
        """Wait until the program stops; return its thread and the innermost frame."""
        return next_stop(self.client)

    def step(self, command: str, thread: int) -> dict[str, Any]:
        """Step, and return the innermost frame where it stops."""
        self.client.ask(command, threadId=thread)
        return self.stopped()[1]

    def finish(self) -> str:
        """Return what the program prints at the end of what is debugged."""
        self.told = ""
        self._read_line("entries")
        return self.told

    def end(self) -> None:
        """End the program; debugpy's adapter, which has its output too, ends when the client is gone."""
        self._watchdog.cancel()
        self.client.close()
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


def next_stop(client: DapClient) -> tuple[int, dict[str, Any]]:
    """Wait until the program of a session stops; return its thread and the innermost frame."""
    event = client.event("stopped", "terminated")
    assert event["event"] == "stopped", "the program ended"
    thread = event["body"]["threadId"]
    return thread, client.ask("stackTrace", threadId=thread, levels=1)["stackFrames"][0]


def attach_configuration() -> dict[str, Any]:
    """Return the configuration that the documentation tells users to attach with."""
    text = DOCUMENT.read_text(encoding="utf-8")
    launch = json.loads(text.split("```json\n", 1)[1].split("```", 1)[0])
    configuration: dict[str, Any] = next(
        candidate for candidate in launch["configurations"] if candidate["request"] == "attach"
    )
    return configuration


def place_of(frame: dict[str, Any]) -> tuple[Path, int]:
    """Return the file and the line of a frame."""
    return Path(frame["source"]["path"]), frame["line"]


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def under_debugpy(port: int) -> list[str]:
    """Return Python's arguments for a program that waits for an editor; children of it are no sessions of their own."""
    listening = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    return [*listening, "--configure-subProcess", "False", "--wait-for-client"]
