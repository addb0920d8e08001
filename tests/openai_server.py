# SPDX-License-Identifier: Apache-2.0
"""A stand-in for a server of a language model: OpenAI's interface, streamed, without a model, and with faults on request.

`Standin()` serves on a free port of this machine until `close()`. It keeps a record of each request: when it came and when
each chunk was about to be sent, by the clock that clients on the same machine have, too.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    prompt: str
    path: str
    asked: dict[str, Any]
    came_ns: int
    sent_ns: list[int] = field(default_factory=list)


class Standin:
    def __init__(
        self,
        first_s: float = 0.004,
        token_s: float = 0.001,
        tokens: int = 6,
        chats_only: bool = False,
        counts: bool = True,
        fails_every: int = 0,
        together: bool = False,
        key: str = "",
    ) -> None:
        """`together`: two tokens come in one chunk. `key`: that each request must bring."""
        self.key = key
        self.first_s, self.token_s, self.tokens, self.chats_only = first_s, token_s, tokens, chats_only
        self.counts, self.fails_every, self.together = counts, fails_every, together
        self.seen: list[Seen] = []
        self.lock = threading.Lock()
        standin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def may_not(self) -> bool:
                other = bool(standin.key) and self.headers["Authorization"] != f"Bearer {standin.key}"
                if other:
                    self.rfile.read(int(self.headers["Content-Length"] or 0))
                    standin.answer(self, 401, {"error": {"message": f"{self.headers['Authorization']} is no key"}})
                return other

            def do_GET(self) -> None:
                if self.may_not():
                    return
                standin.answer(self, 200, {"data": [{"id": "standin"}, {"id": "other"}]})

            def do_POST(self) -> None:
                if self.may_not():
                    return
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a client may cut an answer off
                    standin.post(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def post(self, handler: BaseHTTPRequestHandler) -> None:
        came_ns = time.monotonic_ns()
        asked = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        chats = handler.path.endswith("/chat/completions")
        if self.chats_only and not chats:
            self.answer(handler, 404, {"error": {"message": "no such path"}})
            return
        prompt = asked["messages"][-1]["content"] if chats else asked["prompt"]
        seen = Seen(prompt, handler.path, asked, came_ns)
        with self.lock:
            self.seen.append(seen)
            fails = self.fails_every and len(self.seen) % self.fails_every == 0
        if fails:
            self.answer(handler, 503, {"error": {"message": "the queue is full"}})
            return
        self.stream(handler, seen, chats)

    def stream(self, handler: BaseHTTPRequestHandler, seen: Seen, chats: bool) -> None:
        def event(data: str) -> None:
            line = f": a comment\ndata: {data}\n\n".encode()
            handler.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")

        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        if chats:
            event(json.dumps({"choices": [{"delta": {"role": "assistant", "content": ""}}]}))
        tokens = min(self.tokens, seen.asked["max_tokens"])
        for number in range(0, tokens, 2 if self.together else 1):
            time.sleep(self.token_s if number else self.first_s)
            seen.sent_ns.append(time.monotonic_ns())
            text = " word" * (min(2, tokens - number) if self.together else 1)
            event(json.dumps({"choices": [{"delta": {"content": text}} if chats else {"text": text}]}))
        if self.counts:
            counted = {"prompt_tokens": len(seen.prompt.split()), "completion_tokens": tokens}
            event(json.dumps({"choices": [], "usage": counted}))
        event("[DONE]")
        handler.wfile.write(b"0\r\n\r\n")


def recording_of(document: dict[str, Any], host: str = "") -> dict[str, Any]:
    """Returns what a profiler would have recorded of a server that `gapless bench --url` loaded: of each request an iteration with its
    prompt, from 1 ms to 3 ms after it was sent."""
    base = document["start_unix_ns"] // 1_000_000_000 * 1_000_000_000
    events: list[dict[str, Any]] = []
    for number, one in enumerate(document["each"]):
        start = (document["start_unix_ns"] - base) / 1e3 + one["start_ms"] * 1e3 + 1000
        place = {"ph": "X", "pid": 1, "tid": 1}
        launch = {"correlation": number + 1}
        name = f"execute_context_1({one['prompt_tokens']})_generation_0(0)"
        events += [
            {**place, "cat": "user_annotation", "name": name, "ts": start, "dur": 2000},
            {**place, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 5, "dur": 5, "args": launch},
            {"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "k", "ts": start + 20, "dur": 1900,
             "args": {"device": 0, "stream": 7, **launch}},
        ]  # fmt: skip
    return {"schemaVersion": 1, "baseTimeNanoseconds": base, "host_name": host, "traceEvents": events}
