# SPDX-License-Identifier: Apache-2.0
"""A small server of a language model on the CPU: OpenAI's interface, streamed, with continuous batching.

    python examples/serving/server.py --port 8000 &
    gapless bench --inference --url http://localhost:8000 --slo ttft=200ms,tpot=20ms
    gapless profile -o run -- python examples/serving/server.py --requests 200     # ends after so many

The model has random weights, and keeps a state of each request as a transformer keeps keys and values. One thread computes:
an iteration reads the prompts of new requests and gives each running one its next token. It is annotated as vLLM annotates
its own, so that `gapless analyze run` tells prefill from decode.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch
from torch import nn

LETTERS = "abcdefghijklmnopqrstuvwxyz ,.\n"


class Model(nn.Module):  # type: ignore[misc,unused-ignore]
    """Bytes in, the logits of the next letter out."""

    def __init__(self, width: int = 256, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(256, width)
        self.layers = nn.GRU(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, len(LETTERS))

    def forward(self, tokens: torch.Tensor, state: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        hidden, state = self.layers(self.embedding(tokens), state)
        return self.head(hidden[:, -1]), state


class Request:
    def __init__(self, prompt: str, most: int) -> None:
        self.prompt, self.most, self.made = list(prompt.encode()) or [0], most, 0
        self.text: queue.Queue[str | None] = queue.Queue()  # None: the end
        self.state, self.last = torch.empty(0), 0

    def take(self, logits: torch.Tensor, state: torch.Tensor) -> None:
        self.state, self.last, self.made = state, ord(LETTERS[int(logits.argmax())]), self.made + 1
        self.text.put(chr(self.last))
        if self.made >= self.most:
            self.text.put(None)


class Engine(threading.Thread):
    def __init__(self, most_requests: int) -> None:
        super().__init__(daemon=True)
        torch.manual_seed(0)
        self.model, self.most_requests = Model().eval(), most_requests
        self.waiting: queue.Queue[Request] = queue.Queue()
        self.running: list[Request] = []

    def admit(self) -> list[Request]:
        new: list[Request] = []
        with contextlib.suppress(queue.Empty):
            while len(self.running) + len(new) < self.most_requests:
                new.append(self.waiting.get(block=not self.running and not new))
        return new

    def iterate(self, new: list[Request]) -> None:
        tokens, batch = sum(len(request.prompt) for request in new), len(self.running)
        with torch.profiler.record_function(f"execute_context_{len(new)}({tokens})_generation_{batch}({batch})"):
            for request in new:
                logits, state = self.model(torch.tensor([request.prompt]), None)
                request.take(logits[0], state)
            if self.running:
                states = torch.cat([request.state for request in self.running], dim=1)
                logits, states = self.model(torch.tensor([[request.last] for request in self.running]), states)
                for row, request in enumerate(self.running):
                    request.take(logits[row], states[:, row : row + 1])
        self.running = [request for request in [*self.running, *new] if request.made < request.most]

    def run(self) -> None:
        with torch.inference_mode():
            while True:
                self.iterate(self.admit())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine: Engine
    answered = threading.Semaphore(0)

    def log_message(self, *_: object) -> None:
        """Says nothing: requests are many."""

    def answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:  # /v1/models
        self.answer(200, {"data": [{"id": "bytes-gru"}]})

    def event(self, data: str) -> None:
        line = f"data: {data}\n\n".encode()
        self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path not in ("/v1/completions", "/v1/chat/completions") or not asked.get("stream"):
            return self.answer(404, {"error": {"message": "only streamed completions are served"}})
        chats = self.path.endswith("/chat/completions")
        request = Request(asked["messages"][-1]["content"] if chats else asked["prompt"], asked.get("max_tokens", 16))
        self.engine.waiting.put(request)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while (text := request.text.get()) is not None:
            self.event(json.dumps({"choices": [{"delta": {"content": text}} if chats else {"text": text}]}))
        counted = {"prompt_tokens": len(request.prompt), "completion_tokens": request.made}
        self.event(json.dumps({"choices": [], "usage": counted}))
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")
        self.answered.release()


def main() -> None:
    arguments = argparse.ArgumentParser(description="serves a small language model on the CPU")
    arguments.add_argument("--port", type=int, default=8000, help="0: a free one")
    arguments.add_argument("--batch", type=int, default=32, help="most requests at once")
    arguments.add_argument("--requests", type=int, help="end after so many")
    options = arguments.parse_args()
    Handler.engine = Engine(options.batch)
    Handler.engine.start()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"serving bytes-gru on http://127.0.0.1:{server.server_address[1]}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in range(options.requests or 10**12):
        Handler.answered.acquire()


if __name__ == "__main__":
    main()
