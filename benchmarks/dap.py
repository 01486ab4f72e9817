"""A client of the Debug Adapter Protocol: what an editor such as VS Code says to debugpy."""

from __future__ import annotations

import json
import queue
import socket
import threading
from typing import Any


class DapClient:
    """One debugging session over a socket."""

    def __init__(self, port: int, seconds: float) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self._seconds = seconds
        self._count = 0
        self._events: queue.Queue[dict[str, Any]] = queue.Queue()
        self._responses: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request without waiting for the answer; return its number."""
        self._count += 1
        message = {"seq": self._count, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._count

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the answer to a request.

        Raises:
            RuntimeError: the adapter says that it failed.
        """
        while True:
            response = self._responses.get(timeout=self._seconds)
            if response["request_seq"] == number:
                if not response["success"]:
                    raise RuntimeError(f"{response['command']}: {response.get('message')}")
                body: dict[str, Any] = response.get("body") or {}
                return body

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return the body of the answer."""
        return self.answer(self.send(command, **arguments))

    def event(self, *names: str) -> dict[str, Any]:
        """Wait for the next event of one of some names."""
        while True:
            event = self._events.get(timeout=self._seconds)
            if event["event"] in names:
                return event

    def close(self) -> None:
        """End the session."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _listen(self) -> None:
        stream = self._socket.makefile("rb")
        try:
            while header := stream.readline():
                length = int(header.split(b":")[1])
                stream.readline()
                message = json.loads(stream.read(length))
                (self._events if message["type"] == "event" else self._responses).put(message)
        except (OSError, ValueError):
            return  # The session is over.
