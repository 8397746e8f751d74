"""An OpenAI-compatible server on the loopback that answers as a script says.

The client under test is the real one; only what comes over the wire is made up.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """An answer; streamed in pieces where the request wants a stream."""

    text: str = ""
    reasoning: str = ""
    finish: str = "stop"
    usage: tuple[int, int] | None = (100, 50)
    delay_s: float = 0.0
    """Before the first byte."""
    cut_after: int | None = None
    """Characters after which the connection breaks, without an end."""
    ends_without_reason: bool = False
    """The stream ends properly, but nobody said that the answer had."""


@dataclass(frozen=True)
class Error:
    """A refusal."""

    status: int = 500
    message: str = "internal error"
    headers: tuple[tuple[str, str], ...] = ()
    code: str | None = None


Step = Answer | Error
Script = Callable[[dict[str, Any], int], Step]
"""Gets a request and its number from 0."""


@dataclass
class ScriptedServer:
    """Use as ``with serve(script) as server``."""

    script: Script
    requests: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]


@contextmanager
def serve(script: Script | list[Step], port: int = 0) -> Iterator[ScriptedServer]:
    """A server for as long as the block lasts; a list is answered in order, its last for ever."""
    steps = script

    def listed(_: dict[str, Any], number: int) -> Step:
        assert isinstance(steps, list)
        return steps[min(number, len(steps) - 1)]

    scripted = ScriptedServer(listed if isinstance(script, list) else script)
    http = ThreadingHTTPServer(
        ("127.0.0.1", port), type("Handler", (_Handler,), {"scripted": scripted})
    )
    http.daemon_threads = True
    scripted.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield scripted
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


class _Handler(BaseHTTPRequestHandler):
    scripted: ScriptedServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.scripted.lock:
            number = len(self.scripted.requests)
            self.scripted.requests.append(request)
            self.scripted.times.append(time.monotonic())
            self.scripted.keys.append(self.headers.get("Authorization", ""))
            self.scripted.at_once += 1
            self.scripted.most_at_once = max(self.scripted.most_at_once, self.scripted.at_once)
        try:
            assert self.path == "/v1/chat/completions"
            step = self.scripted.script(request, number)
            if isinstance(step, Error):
                self.refuse(step)
            else:
                time.sleep(step.delay_s)
                (self.stream if request.get("stream") else self.whole)(step, request)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with self.scripted.lock:
                self.scripted.at_once -= 1

    def refuse(self, error: Error) -> None:
        body = {"message": error.message, "type": "scripted", "code": error.code}
        self.send(error.status, {"error": body}, error.headers)

    def whole(self, answer: Answer, request: dict[str, Any]) -> None:
        message = {"role": "assistant", "content": answer.text}
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        choice = {"index": 0, "finish_reason": answer.finish, "message": message}
        body = _envelope(request, "chat.completion") | {"choices": [choice]}
        if answer.usage is not None:
            body["usage"] = _usage(answer.usage)
        self.send(200, body)

    def send(
        self, status: int, body: dict[str, Any], headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), *headers):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, answer: Answer, request: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in _events(answer, request):
            if event is None:
                self.wfile.flush()
                self.connection.close()
                self.close_connection = True
                return
            self.piece(f"data: {json.dumps(event)}\n\n")
        self.piece("data: [DONE]\n\n")
        self.piece("")

    def piece(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _events(answer: Answer, request: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    if answer.reasoning:
        yield _chunk(request, {"reasoning_content": answer.reasoning})
    end = len(answer.text) if answer.cut_after is None else answer.cut_after
    for start in range(0, end, 40):
        yield _chunk(request, {"content": answer.text[start : min(start + 40, end)]})
    if answer.cut_after is not None:
        yield None
        return
    if not answer.ends_without_reason:
        yield _chunk(request, {}, answer.finish)
    if answer.usage is not None and request.get("stream_options", {}).get("include_usage"):
        empty = _envelope(request, "chat.completion.chunk") | {"choices": []}
        yield empty | {"usage": _usage(answer.usage)}


def _chunk(
    request: dict[str, Any], delta: dict[str, Any], finish: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _envelope(request, "chat.completion.chunk") | {"choices": [choice]}


def _envelope(request: dict[str, Any], kind: str) -> dict[str, Any]:
    model = f"{request['model']}-0613"
    return {"id": "scripted", "object": kind, "created": 1, "model": model}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {
        "prompt_tokens": usage[0],
        "completion_tokens": usage[1],
        "total_tokens": sum(usage),
    }
