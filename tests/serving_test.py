#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`gapless bench --inference --url` against servers on this machine: its figures, what fails, what stops it.

usage: serving_test.py PROGRAM [TEST...]

The figures are computed again here from the times of each request, and those times held to what the server saw. The server
of examples/serving needs PyTorch ($GAPLESS_TORCH, build/torch), and its test is skipped without.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from corpus import ROOT
from openai_server import Standin, recording_of

PROGRAM = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build/gapless"
PYTHON = Path(os.environ.get("GAPLESS_TORCH", ROOT / "build/torch/bin/python"))


def percentile(values: list[float], p: float) -> float:
    """Linear between the two nearest, as numpy's default."""
    ordered = sorted(values)
    at = p * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (at - low)


def per_token(request: dict[str, Any]) -> float:
    return float((request["latency_ms"] - request["text_ms"][0]) / (request["output_tokens"] - 1))


class Serving(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)

    def standin(self, **how: Any) -> Standin:
        server = Standin(**how)
        self.addCleanup(server.close)
        return server

    def gapless(self, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": str(self.work)}
        return subprocess.run(
            [str(PROGRAM), *words], cwd=self.work, env=environment, capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip

    def bench(self, url: str, *words: str, status: int = 0) -> dict[str, Any]:
        done = self.gapless("bench", "--inference", "--url", url, "--json", *words)
        self.assertEqual(done.returncode, status, done.stderr)
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def assert_figures(self, document: dict[str, Any]) -> None:
        """All figures, from the times of each request."""
        each, metrics, seconds = document["each"], document["metrics"], document["duration_s"]
        self.assertEqual(document["requests"], len(each))
        gaps = [b - a for one in each for a, b in zip(one["text_ms"], one["text_ms"][1:])]
        values = {
            "time_to_first_token": [one["text_ms"][0] for one in each],
            "time_per_output_token": [per_token(one) for one in each],
            "inter_token_latency": gaps,
            "latency": [one["latency_ms"] for one in each],
        }
        for name, of in values.items():
            for suffix, p, least in (("p50", 0.5, 1), ("p95", 0.95, 20), ("p99", 0.99, 100)):
                found = metrics.get(f"{name}_{suffix}_ms")
                if len(of) < least:
                    self.assertIsNone(found, name)
                else:
                    self.assertAlmostEqual(found, percentile(of, p), places=6, msg=f"{name} {suffix}")
        span = max(one["start_ms"] + one["latency_ms"] for one in each) - min(one["start_ms"] for one in each)
        self.assertAlmostEqual(seconds, span / 1000, places=6)
        self.assertAlmostEqual(metrics["requests_per_second"], len(each) / seconds, places=6)
        tokens = sum(one["output_tokens"] for one in each)
        self.assertAlmostEqual(metrics["output_tokens_per_second"], tokens / seconds, places=6)

    def recording(self, document: dict[str, Any], host: str = "") -> str:
        path = self.work / "server.json"
        path.write_text(json.dumps(recording_of(document, host)), encoding="utf-8")
        return str(path)

    def test_a_recording_says_why_the_first_token_took_so_long(self) -> None:
        server = self.standin(first_s=0.006)
        document = self.bench(server.url, "--steps", "12", "--concurrency", "1")
        (self.work / "bench.json").write_text(json.dumps(document), encoding="utf-8")
        self.assertLess(abs(document["start_unix_ns"] / 1e9 - time.time()), 60)
        path = self.recording(document)
        done = self.gapless("analyze", "--no-cache", path, "--requests", "bench.json", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["requests"], answer["not_recorded"], answer["host_is_known"]), (12, 0, False))
        for one, request in zip(answer["each"], document["each"]):
            self.assertAlmostEqual(one["queue_ms"], 1, delta=0.05)
            self.assertAlmostEqual(one["prefill_ms"], 2, delta=0.05)
            self.assertEqual(one["others_prefill_ms"], 0)
            self.assertAlmostEqual(one["delivery_ms"], request["text_ms"][0] - 3, delta=0.1)
            self.assertAlmostEqual(one["time_to_first_token_ms"], request["text_ms"][0], delta=0.01)
        text = self.gapless("analyze", "--no-cache", path, "--requests", "bench.json").stdout
        self.assertIn("mean of 12 requests", text)
        self.assertIn("taken to share one clock", text)
        other = self.gapless("analyze", "--no-cache", self.recording(document, "elsewhere"), "--requests", "bench.json")
        self.assertEqual(other.returncode, 3, other.stdout)
        self.assertIn("of two machines", other.stderr)
        (self.work / "none.json").write_text("{}", encoding="utf-8")
        self.assertIn(
            "no requests with times", self.gapless("analyze", "--no-cache", path, "--requests", "none.json").stderr
        )

    def test_the_figures_are_those_of_its_requests_and_the_times_those_that_the_server_saw(self) -> None:
        server = self.standin()
        words = ("--steps", "30", "--warmup", "4", "--concurrency", "3", "--output-tokens", "5")
        document = self.bench(server.url, *words, "--slo", "ttft=1s,latency=2s")
        self.assert_figures(document)
        self.assertEqual((document["model"], document["requests"], document["failed"]), ("standin", 30, 0))
        self.assertEqual(document["url"], f"{server.url}/v1/completions")
        self.assertEqual((document["good_share"], document["metrics"]["good_requests_per_second"]),
                         (1, document["metrics"]["requests_per_second"]))  # fmt: skip
        seen = server.seen[1:]  # before the load one request finds the endpoint
        self.assertEqual(len(seen), 34)
        self.assertEqual(len({one.prompt for one in seen}), 34, "a prompt that comes twice would be found in a cache")
        self.assertEqual({one["output_tokens"] for one in document["each"]}, {5})
        self.assertEqual({one["prompt_tokens"] for one in document["each"]}, {66})
        # No text can come before it was sent, and none can be later than the answer's end.
        fastest_first = min((one.sent_ns[0] - one.came_ns) / 1e6 for one in seen)
        self.assertGreaterEqual(document["metrics"]["time_to_first_token_p50_ms"], fastest_first)
        for one in document["each"]:
            self.assertEqual(len(one["text_ms"]), 5)
            self.assertEqual(one["text_ms"], sorted(one["text_ms"]))
            self.assertLessEqual(one["text_ms"][-1], one["latency_ms"])
        served_ms = sum((one.sent_ns[-1] - one.came_ns) / 1e6 for one in seen[4:])
        self.assertGreaterEqual(sum(one["latency_ms"] for one in document["each"]) * 34 / 30, served_ms * 0.9)

    def test_a_client_of_its_own_and_the_file_that_it_writes_agree(self) -> None:
        """Figures that another client measures of the server and writes as vLLM does are read unchanged."""
        server = self.standin()
        first, tpot, gaps, latencies = [], [], [], []
        began = time.perf_counter()
        for number in range(8):
            connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
            start = time.perf_counter()
            body = {"model": "m", "prompt": f"p {number}", "max_tokens": 4, "stream": True}
            connection.request("POST", "/v1/completions", json.dumps(body))
            at = []
            for line in connection.getresponse():
                if line.startswith(b"data: {") and json.loads(line[6:])["choices"]:
                    at.append(time.perf_counter() - start)
            latencies.append(time.perf_counter() - start)
            first.append(at[0])
            tpot.append((latencies[-1] - at[0]) / 3)
            gaps += [b - a for a, b in zip(at, at[1:])]
            connection.close()
        seconds = time.perf_counter() - began
        document: dict[str, Any] = {
            "completed": 8,
            "num_prompts": 8,
            "duration": seconds,
            "request_throughput": 8 / seconds,
        }
        for name, values in (("ttft", first), ("tpot", tpot), ("itl", gaps), ("e2el", latencies)):
            document[f"mean_{name}_ms"] = statistics.mean(values) * 1000
            document[f"median_{name}_ms"] = statistics.median(values) * 1000
        (self.work / "vllm.json").write_text(json.dumps(document))
        done = self.gapless("history", "record", "vllm.json", "--db", "sqlite:h.db", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = json.loads(done.stdout)
        expected = {key: value for key, value in document.items() if key.endswith("_ms") or key == "request_throughput"}
        self.assertEqual(recorded["metrics"], expected)
        named = {row["metric"]: row.get("own_name") for row in recorded["formulas"]}
        self.assertEqual(named["mean_tpot_ms"], "time_per_output_token")

    def test_results_go_where_those_of_other_benchmarks_go(self) -> None:
        server = self.standin()
        for name in ("a.json", "b.json"):
            document = self.bench(server.url, "--steps", "4", "--warmup", "0", "--concurrency", "2")
            (self.work / name).write_text(json.dumps(document))
        self.assertEqual(self.gapless("history", "record", "a.json", "--db", "sqlite:h.db").returncode, 0)
        said = self.gapless("compare", "a.json", "b.json").stdout
        self.assertIn("time_to_first_token_p50_ms", said)
        self.assertNotIn("higher is better", said)

    def test_chat_is_asked_where_there_are_no_completions(self) -> None:
        server = self.standin(chats_only=True)
        document = self.bench(server.url + "/v1/", "--steps", "3", "--warmup", "0", "--model", "other")
        self.assertEqual((document["url"], document["model"]), (f"{server.url}/v1/chat/completions", "other"))
        self.assert_figures(document)
        self.assertEqual({len(one["text_ms"]) for one in document["each"]}, {6}, "the first chunk has no text")
        named = self.bench(server.url + "/v1/chat/completions", "--steps", "2", "--warmup", "0")
        self.assertEqual(named["requests"], 2)

    def test_chunks_of_several_tokens(self) -> None:
        document = self.bench(self.standin(together=True).url, "--steps", "3", "--warmup", "0")
        self.assertEqual({(len(one["text_ms"]), one["output_tokens"]) for one in document["each"]}, {(3, 6)})
        self.assert_figures(document)

    def test_tokens_that_are_not_counted_are_not_known(self) -> None:
        document = self.bench(self.standin(counts=False).url, "--steps", "3", "--warmup", "0", "--slo", "tpot=1s")
        for name in ("time_per_output_token_p50_ms", "output_tokens_per_second", "good_requests_per_second"):
            self.assertNotIn(name, document["metrics"])
        self.assertIn("inter_token_latency_p50_ms", document["metrics"])
        self.assertIn("does not count its tokens", " ".join(document["warnings"]))

    def test_requests_that_fail_are_counted_and_in_no_figure(self) -> None:
        document = self.bench(self.standin(fails_every=3).url, "--steps", "9", "--warmup", "0", "--concurrency", "1",
                              "--slo", "ttft=1s")  # fmt: skip
        self.assertEqual((document["requests"], document["failed"]), (6, 3))
        self.assertAlmostEqual(document["good_share"], 6 / 9)
        self.assertIn("3 requests failed: HTTP 503 the queue is full", document["warnings"])
        self.assert_figures(document)
        done = self.gapless("bench", "--inference", "--url", self.standin(fails_every=1).url, "--steps", "2")
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertIn("there is no result of the server: 2 requests failed: HTTP 503", done.stderr)

    def test_objectives_that_some_requests_break(self) -> None:
        server = self.standin()
        document = self.bench(server.url, "--steps", "12", "--warmup", "0")
        limit = statistics.median(one["latency_ms"] for one in document["each"])
        judged = self.bench(server.url, "--steps", "12", "--warmup", "0", "--slo", f"latency={limit:.3f}ms,ttft=2s")
        kept = sum(one["latency_ms"] <= float(f"{limit:.3f}") for one in judged["each"])
        self.assertAlmostEqual(judged["good_share"], kept / 12)

    def test_the_time_that_it_may_take_and_an_interruption(self) -> None:
        slow = self.standin(first_s=0.05, tokens=400, token_s=0.01)
        document = self.bench(slow.url, "--steps", "50", "--warmup", "0", "--output-tokens", "4", "--concurrency", "2",
                              "--budget", "1s")  # fmt: skip
        self.assertLess(document["requests"], 50)
        self.assertGreater(document["requests"], 0)
        self.assertIn("at the end of --budget", " ".join(document["warnings"]))
        words = ["bench", "--inference", "--url", slow.url, "--json", "--warmup", "0", "--output-tokens", "4"]
        process = subprocess.Popen([str(PROGRAM), *words], stdout=subprocess.PIPE, text=True, cwd=self.work)
        before = len(slow.seen)
        while len(slow.seen) < before + 20:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        interrupted = json.loads(said)
        self.assertTrue(interrupted["interrupted"])
        self.assert_figures(interrupted)

    def test_what_cannot_be_measured_is_said(self) -> None:
        for words, status, said in (
            (["--inference", "--url", "https://localhost"], 2, "clients speak plain HTTP"),
            (["--inference", "--url", "http://127.0.0.1:1"], 4, "is it running"),
            (["--url", "http://127.0.0.1:1"], 2, "it takes --inference"),
            (["--inference", "--url", "http://127.0.0.1:1", "--runs", "2"], 2, "cannot be combined"),
            (["--inference", "--url", "http://127.0.0.1:1", "--", "true"], 2, "takes no command"),
            (["--inference", "--url", "http://127.0.0.1:1", "--slo", "speed=1s"], 2, "ttft=200ms,tpot=50ms"),
            (["--inference", "--url", "http://127.0.0.1:1", "--slo", "ttft=1"], 2, "ttft=200ms,tpot=50ms"),
            (["--inference", "--slo", "ttft=1s", "--", "true"], 2, "--slo is for a server: --url is missing"),
            (["--inference", "--url", "http://127.0.0.1:1", "--prompts", "none.txt"], 3, "no prompt"),
        ):
            done = self.gapless("bench", *words)
            self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
            self.assertIn(said, done.stderr)

    def test_prompts_of_a_file(self) -> None:
        server = self.standin()
        (self.work / "prompts.txt").write_text("first one\n\nsecond\n")
        self.bench(server.url, "--steps", "4", "--warmup", "0", "--prompts", "prompts.txt", "--concurrency", "1")
        self.assertEqual([one.prompt for one in server.seen[1:]], ["first one", "second"] * 2)

    def test_guidellm_sends_the_requests_and_its_times_give_our_figures(self) -> None:
        """A stand-in for guidellm, which writes a report of two requests, the first of which is warm-up."""
        (self.work / "guidellm").mkdir()
        (self.work / "guidellm/__init__.py").touch()
        timings = [
            {"request_start": 100.0, "first_token_iteration": 100.5, "last_token_iteration": 101, "request_end": 101.0},
            {
                "request_start": 101.0,
                "first_token_iteration": 101.25,
                "last_token_iteration": 102,
                "request_end": 102.0,
            },
        ]
        rows = [{"info": {"timings": of}, "prompt_tokens": 3, "output_tokens": 4} for of in timings]
        report = {
            "benchmarks": [{"start_time": 100.0, "requests": {"successful": rows, "errored": [], "incomplete": []}}]
        }
        (self.work / "guidellm/__main__.py").write_text(
            "import json, sys\n"
            "given = dict(part.split('=', 1) for word in sys.argv if '=' in word for part in word.split(','))\n"
            f"assert given['count'] == '2' and given['streams'] == '1' and given['max_tokens'] == '4', sys.argv\n"
            f"open(given['path'], 'w').write({json.dumps(report)!r})\n"
        )
        os.environ.update(GAPLESS_PYTHON=sys.executable, PYTHONPATH=str(self.work))
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("GAPLESS_PYTHON", "PYTHONPATH")])
        words = (
            "--generator",
            "guidellm",
            "--steps",
            "1",
            "--warmup",
            "1",
            "--concurrency",
            "1",
            "--output-tokens",
            "4",
        )
        document = self.bench(self.standin().url, *words)
        self.assertEqual((document["generator"], document["requests"]), ("guidellm", 1))
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["time_to_first_token_p50_ms"], 250, places=3)
        self.assertAlmostEqual(metrics["time_per_output_token_p50_ms"], 250, places=3)
        self.assertAlmostEqual(metrics["latency_p50_ms"], 1000, places=3)
        self.assertNotIn("inter_token_latency_p50_ms", metrics)

    def test_a_key_goes_with_each_request_and_is_shown_nowhere(self) -> None:
        url = self.standin(key="sk-right").url
        words = ("bench", "--inference", "--url", url, "--steps", "2", "--warmup", "0", "--api-key-env", "THE_KEY")
        self.addCleanup(os.environ.pop, "THE_KEY")
        os.environ["THE_KEY"] = "sk-right"
        document = self.bench(url, *words[4:])
        self.assertEqual((document["requests"], document["failed"]), (2, 0))
        os.environ["THE_KEY"] = "sk-wrong"
        done = self.gapless(*words, "--json")
        self.assertEqual(done.returncode, 4, done.stdout)
        self.assertIn("--api-key-env", done.stderr)
        self.assertNotIn("sk-wrong", done.stdout + done.stderr)
        os.environ["THE_KEY"] = ""
        self.assertIn("has no key", self.gapless(*words).stderr)
        done = self.gapless("bench", "--inference", "--url", "https://localhost:1", "--model", "m")
        self.assertIn("--generator aiperf", done.stderr)

    def with_aiperf(self, records: list[dict[str, Any]], *words: str, url: str = "") -> dict[str, Any]:
        """A stand-in for AIPerf, which writes these records, and its arguments into a file."""
        (self.work / "aiperf").mkdir(exist_ok=True)
        (self.work / "aiperf/__init__.py").touch()
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (self.work / "aiperf/__main__.py").write_text(
            "import json, os, sys\n"
            f"json.dump([sys.argv, open('/proc/self/cmdline').read()], open({str(self.work / 'seen.json')!r}, 'w'))\n"
            "folder = sys.argv[sys.argv.index('--artifact-dir') + 1]\n"
            "os.makedirs(folder)\n"
            f"open(folder + '/profile_export.jsonl', 'w').write({lines!r})\n"
        )
        os.environ.update(GAPLESS_PYTHON=sys.executable, PYTHONPATH=str(self.work))
        self.addCleanup(lambda: [os.environ.pop(name, "") for name in ("GAPLESS_PYTHON", "PYTHONPATH")])
        return self.bench(url or self.standin().url, "--generator", "aiperf", "--steps", "2", "--warmup", "1", *words)

    def test_aiperf_sends_the_requests_and_its_times_give_our_figures(self) -> None:
        def record(start_s: float, phase: str, **more: Any) -> dict[str, Any]:
            metrics = {
                "request_latency": 1000.0, "time_to_first_token": 250.0, "inter_chunk_latency": [300.0, 200.0],
                "input_sequence_length": 3, "output_sequence_length": 4,
            }  # fmt: skip
            about = {
                "request_start_ns": int(start_s * 1e9), "request_end_ns": int((start_s + 1) * 1e9), "benchmark_phase": phase,
            }  # fmt: skip
            made = {
                "metadata": about,
                "metrics": {key: {"value": value} for key, value in metrics.items()},
                "error": None,
            }
            return {**made, **more}

        refused = record(
            103, "profiling", metrics={}, error={"code": 401, "type": "X", "message": "no sk-secret-1 here"}
        )
        records = [record(100, "warmup"), record(101, "profiling"), record(102, "profiling"), refused]
        os.environ["THE_KEY"] = "sk-secret-1"
        self.addCleanup(os.environ.pop, "THE_KEY")
        document = self.with_aiperf(records, "--api-key-env", "THE_KEY")
        self.assertEqual((document["generator"], document["requests"], document["failed"]), ("aiperf", 2, 1))
        self.assertNotIn("sk-secret-1", json.dumps(document))
        metrics = document["metrics"]
        self.assertAlmostEqual(metrics["time_to_first_token_p50_ms"], 250, places=3)
        self.assertAlmostEqual(metrics["time_per_output_token_p50_ms"], 250, places=3)
        self.assertAlmostEqual(metrics["inter_token_latency_p50_ms"], 250, places=3)
        self.assertAlmostEqual(metrics["latency_p50_ms"], 1000, places=3)
        words, command_line = json.loads((self.work / "seen.json").read_text())
        self.assertEqual(words[words.index("--api-key") + 1], "sk-secret-1")
        self.assertNotIn("sk-secret-1", command_line, "everyone on the machine can read it")
        self.assertEqual(words[words.index("--request-count") + 1], "2")
        self.assertEqual(words[words.index("--endpoint") + 1], "/v1/completions")
        self.with_aiperf(records, "--model", "m", url="https://example.invalid/v1")
        words, _ = json.loads((self.work / "seen.json").read_text())
        self.assertEqual(words[words.index("--url") + 1], "https://example.invalid")
        self.assertEqual(words[words.index("--endpoint") + 1], "/v1/chat/completions")

    def test_the_true_guidellm(self) -> None:
        python = os.environ.get("GAPLESS_GUIDELLM", sys.executable)
        if subprocess.run([python, "-c", "import guidellm"], capture_output=True, check=False).returncode:
            self.skipTest("no Python with guidellm: $GAPLESS_GUIDELLM")
        os.environ.update(GAPLESS_PYTHON=python, HF_HUB_OFFLINE="1")
        self.addCleanup(os.environ.pop, "GAPLESS_PYTHON")
        document = self.bench(self.standin().url, "--generator", "guidellm", "--steps", "12", "--warmup", "2")
        self.assertEqual((document["requests"], document["failed"]), (12, 0))
        self.assertEqual({one["output_tokens"] for one in document["each"]}, {6})

    def test_the_server_of_the_examples(self) -> None:
        if not PYTHON.exists():
            self.skipTest("no Python with PyTorch")
        script = ROOT / "examples/serving/server.py"
        server = subprocess.Popen([str(PYTHON), str(script), "--port", "0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        words = ("--steps", "24", "--warmup", "4", "--concurrency", "4", "--output-tokens", "12")
        document = self.bench(url, *words)
        self.assert_figures(document)
        self.assertEqual((document["model"], document["requests"], document["failed"]), ("bytes-gru", 24, 0))
        self.assertEqual({(len(one["text_ms"]), one["output_tokens"]) for one in document["each"]}, {(12, 12)})
        self.assertEqual(self.bench(url + "/v1/chat/completions", *words)["requests"], 24)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
