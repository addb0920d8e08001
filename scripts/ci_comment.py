#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts a report on the pull request (GitHub) or merge request (GitLab) of this CI job: one comment, which is updated.

The comment begins with the hidden line `<!-- gapless:LABEL -->`. One that begins so and was written by a bot or by the token's
own user is updated; otherwise a comment is made. Nothing happens where there is no pull request.

A comment is never a reason to fail: where the token may not write, as that of a pull request from a fork, or the server does not
answer, the job's log says so and the exit status is 0. The token is read from $GITHUB_TOKEN or $GITLAB_TOKEN, sent to
$GITHUB_API_URL or $CI_API_V4_URL only (redirects are not followed), and not printed.

usage: ci_comment.py --label NAME (--report FILE.md | --json GATE.json)
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci_gate import document_in, escaped, event_document, sentence

LONGEST = 60_000  # characters; GitHub takes 65,536
PAGE = 100
MOST_PAGES = 100
ATTEMPTS = 3
TIMEOUT_S = 30


class Refused(Exception):
    """The server's answer when it is not yes: `status` is 0 when there was none."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass
class Thread:
    """The comments of one pull or merge request."""

    host: str  # "GitHub", "GitLab"
    api: str
    comments: str  # path of the list
    comment: str  # path of one, with {} for its id
    update: str  # the method that replaces a text
    headers: dict[str, str]

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        request = urllib.request.Request(self.api + path, method=method, headers=self.headers)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.build_opener(NoRedirects).open(request, timeout=TIMEOUT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            raise Refused(problem.code, message_of(problem)) from None
        except (OSError, ValueError, http.client.HTTPException) as problem:
            raise Refused(0, str(problem) or type(problem).__name__) from None

    def all(self) -> Iterator[dict[str, Any]]:
        for page in range(1, MOST_PAGES + 1):
            found = self.ask("GET", f"{self.comments}?per_page={PAGE}&page={page}")
            if not isinstance(found, list):
                raise Refused(0, "the list of comments is not a list")
            yield from (one for one in found if isinstance(one, dict))
            if len(found) < PAGE:
                return

    def own_name(self) -> str | None:
        """The token's user; a token of the job itself has none."""
        try:
            user = self.ask("GET", "/user")
        except Refused:
            return None
        return author({"user": user}) if isinstance(user, dict) else None

    def mine(self, marker: str) -> int | None:
        """The comment that is updated. Anybody can write the marker: what a person wrote is left alone."""
        marked = [one for one in self.all() if str(one.get("body") or "").split("\n")[0].strip() == marker]
        own = None if all(is_bot(one) for one in marked) else self.own_name()
        for one in marked:
            if (is_bot(one) or (own and author(one) == own)) and isinstance(one.get("id"), int):
                return int(one["id"])
        return None

    def put(self, marker: str, text: str) -> str:
        """Makes or updates the comment, and says which it did."""
        body = {"body": f"{marker}\n{text}"}
        found = self.mine(marker)
        if found is None:
            self.ask("POST", self.comments, body)
            return "made"
        self.ask(self.update, self.comment.format(found), body)
        return "updated"


def message_of(problem: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(problem).get("message") or problem.reason)
    except (OSError, ValueError, AttributeError, http.client.HTTPException):
        return str(problem.reason)


def author(comment: dict[str, Any]) -> str | None:
    user = comment.get("user") or comment.get("author")
    name = (user.get("login") or user.get("username")) if isinstance(user, dict) else None
    return name if isinstance(name, str) else None


def is_bot(comment: dict[str, Any]) -> bool:
    user = comment.get("user")
    return isinstance(user, dict) and user.get("type") == "Bot"


def github_thread() -> Thread | None:
    document = event_document()
    pull = document.get("pull_request")
    number = pull.get("number") if isinstance(pull, dict) else None
    place = os.environ.get("GITHUB_REPOSITORY", "")
    token = os.environ.get("GITHUB_TOKEN", "")
    if not isinstance(number, int) or not re.fullmatch(r"[\w.-]+/[\w.-]+", place):
        return None
    headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "gapless"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Thread(
        "GitHub",
        os.environ.get("GITHUB_API_URL") or "https://api.github.com",
        f"/repos/{place}/issues/{number}/comments",
        f"/repos/{place}/issues/comments/{{}}",
        "PATCH",
        headers,
    )


def gitlab_thread() -> Thread | None:
    project, request = os.environ.get("CI_PROJECT_ID", ""), os.environ.get("CI_MERGE_REQUEST_IID", "")
    if not project.isdecimal() or not request.isdecimal():
        return None
    notes = f"/projects/{project}/merge_requests/{request}/notes"
    headers = {"PRIVATE-TOKEN": os.environ.get("GITLAB_TOKEN", ""), "User-Agent": "gapless"}
    return Thread("GitLab", os.environ["CI_API_V4_URL"], notes, f"{notes}/{{}}", "PUT", headers)


def markdown(document: dict[str, Any]) -> str:
    """A report from the gate's JSON, for a job that printed another form."""
    if not document:
        return "### Performance: not measured\n"
    lines = [f"### Performance: {str(document.get('verdict')).replace('_', ' ')}", ""]
    if document.get("against"):
        lines += [f"Against {document['against']}.", ""]
    lines += [f"- {sentence(metric)}" for metric in document.get("metrics", []) if isinstance(metric, dict)]
    if document.get("recommendation"):
        lines += ["", f"{document['recommendation']}."]
    return "\n".join(lines) + "\n"


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "\n\n… the rest is in the job\n"


def post(thread: Thread, marker: str, text: str) -> str:
    """Tries again when the server fails; every attempt looks first whether the one before it arrived."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return f"comment {thread.put(marker, text)}"
        except Refused as problem:
            if 0 < problem.status < 500:
                hint = " (a pull request from a fork has a token that only reads)" if problem.status == 403 else ""
                return f"no comment: {thread.host} answered {problem.status}, {problem}{hint}"
            if attempt == ATTEMPTS:
                return f"no comment: {thread.host} cannot be reached, {problem}"
            time.sleep(attempt)
    return "no comment"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--label", default="benchmark")
    parser.add_argument("--report", type=Path, help="Markdown")
    parser.add_argument("--json", type=Path, help="what `gapless gate --json` wrote, when there is no Markdown")
    given = parser.parse_args()
    thread = gitlab_thread() if os.environ.get("CI_API_V4_URL") else github_thread()
    if thread is None:
        print("no comment: this job is of no pull request")
        return 0
    if given.report is None and given.json is None:
        parser.error("give --report or --json")
    text = given.report.read_text(encoding="utf-8") if given.report else markdown(document_in(given.json))
    marker = f"<!-- gapless:{re.sub('[^A-Za-z0-9_.]', '-', given.label) or 'benchmark'} -->"
    said = post(thread, marker, shortened(text))
    remark = said.startswith("no comment") and os.environ.get("GITHUB_ACTIONS")
    print(f"::notice title=gapless::{escaped(said)}" if remark else said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
