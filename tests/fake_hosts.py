# SPDX-License-Identifier: Apache-2.0
"""The comments of a pull request at GitHub, or the notes of a merge request at GitLab, kept by a server on the loopback address."""

from __future__ import annotations

import http.server
import json
import re
import threading
from typing import Any
from urllib.parse import parse_qs, urlsplit

LIST = re.compile(r"/repos/me/project/issues/7/comments|/projects/5/merge_requests/7/notes")
ONE = re.compile(r"/repos/me/project/issues/comments/(\d+)|/projects/5/merge_requests/7/notes/(\d+)")


class Host:
    """Answers as the real ones do to what is asked of them here; everything else is 404."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.tokens: set[str] = set()
        self.read_only = False
        self.failures: list[int] = []  # statuses of the next answers
        self.user: str | None = None  # whose token it is; a token of the job itself has no user
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                host.tokens.add(self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or "")
                status, answer = host.answer(self.command, self.path, body)
                text = json.dumps(answer).encode()
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", f"{host.url}/elsewhere")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_PUT = do

            def log_message(self, *_: Any) -> None:
                return

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def add(self, body: str, user: str, kind: str = "User") -> dict[str, Any]:
        who = {"login": user, "username": user, "type": kind}
        self.comments.append({"id": 100 + len(self.comments), "body": body, "user": who, "author": who})
        return self.comments[-1]

    def by_bot(self) -> list[str]:
        return [comment["body"] for comment in self.comments if comment["user"]["login"] == "bot"]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.requests.append(f"{method} {path}")
        where = urlsplit(path)
        if self.failures:
            return self.failures.pop(0), {"message": "it failed\nas planned"}
        if path == "/user":
            return (200, {"login": self.user, "username": self.user}) if self.user else (403, {"message": "no user"})
        if method != "GET" and self.read_only:
            return 403, {"message": "Resource not accessible by integration"}
        if LIST.fullmatch(where.path) and method == "GET":
            asked = {key: int(value[0]) for key, value in parse_qs(where.query).items()}
            size, page = min(asked.get("per_page", 30), 100), asked.get("page", 1)
            return 200, self.comments[(page - 1) * size : page * size]
        if LIST.fullmatch(where.path) and method == "POST":
            return 201, self.add(body["body"], self.user or "bot", "User" if self.user else "Bot")
        if (found := ONE.fullmatch(where.path)) and method == ("PATCH" if found[1] else "PUT"):
            number = int(found[1] or found[2])
            for comment in self.comments:
                if comment["id"] == number:
                    comment["body"] = body["body"]
                    return 200, comment
        return 404, {"message": "Not Found"}
