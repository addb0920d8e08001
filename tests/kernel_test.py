#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes kernels for chains of recordings of others with `gapless kernel --write`, builds each for the host, runs its test
(against eager PyTorch, autograd and finite differences; the Triton kernel in Triton's interpreter) and its benchmark, and
compiles the CUDA source with nvcc.

usage: kernel_test.py PROGRAM [--ci] [--only PATTERN...] [--keep DIR]

CI builds one chain, the schedule ten and one that ends in max-pooling, whose CUDA sources it compiles for every architecture from
sm_75 to sm_121. Chains are those that the program finds: no two of the same operators, the longest of each recording first. It
prints the bound and the predicted gain of each beside the gain that the benchmark measures on this processor. nvcc is that of $PATH, $CUDA_HOME, or the packages of PyPI that
tools/nvcc_env.sh installs; without one its part is skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import cases
import corpus

ROOT = Path(__file__).resolve().parent.parent
TORCH = ROOT / "build/torch/bin/python"
PROGRAM = Path(sys.argv[1] if len(sys.argv) > 1 else "build/gapless").resolve()
SOME, MANY = 1, 10
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 103, 120, 121)
# torch.utils.cpp_extension gives these to nvcc.
NVCC_FLAGS = ["-std=c++17", "-O3", "--expt-relaxed-constexpr", "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__",
              "-D__CUDA_NO_BFLOAT16_CONVERSIONS__", "-D__CUDA_NO_HALF2_OPERATORS__"]  # fmt: skip
SECONDS = 900  # a test or benchmark of one kernel, on a busy machine


def ask(*words: str) -> dict[str, Any]:
    done = subprocess.run([str(PROGRAM), "kernel", *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"chains": []}
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


class Chain:
    """A chain of a recording, and the number that it has there."""

    def __init__(self, path: Path, found: dict[str, Any]) -> None:
        self.path, self.number, self.found = path, int(found["chain"]), found
        self.operators = " > ".join(name.removeprefix("aten::") for name in found["operators"])

    def __str__(self) -> str:
        return f"{self.operators} of {self.path.relative_to(corpus.FOLDER)}"


def recordings() -> list[Path]:
    """Recordings of operators with shapes, on GPUs of two makers."""
    names = [
        corpus.LENS / "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        corpus.HTA / "timeline_analysis/sampled_rank-0.json.gz",
        corpus.LENS / "mi300/gaunernst_bert-small-uncased__1016001.json.gz",
        corpus.LENS / "inference/xdit_flux.1/capture_traces/capture_trace_rank_0.json.gz",
        corpus.LENS / "mi300/resnet_act_checkpoint.json.gz",
        corpus.LENS / "mi300/google_owlv2-large-patch14-ensemble__1016001.json.gz",
        corpus.HTA / "trace_diff/control/control.json.gz",
    ]
    return [name for name in names if name.is_file()]


def find_chains(count: int) -> list[Chain]:
    """Chains of different operators, in turn the longest that is left of each recording."""
    left = {
        path: [Chain(path, found) for found in ask(str(path), "--top", str(count))["chains"]] for path in recordings()
    }
    chosen: list[Chain] = []
    while len(chosen) < count and any(left.values()):
        for chains in left.values():
            while chains and chains[0].operators in {chain.operators for chain in chosen}:
                chains.pop(0)
            if chains and len(chosen) < count:
                chosen.append(chains.pop(0))
    return chosen


def nvcc() -> tuple[list[str], str]:
    """The compiler with its folders, or why there is none."""
    for folder in (
        os.environ.get("CUDA_HOME", ""),
        *map(str, ROOT.glob("build/nvcc/lib/python3*/site-packages/nvidia/cu13")),
    ):
        if folder and (Path(folder) / "bin/nvcc").is_file():
            return [f"{folder}/bin/nvcc", f"-I{folder}/include"], ""
    found = shutil.which("nvcc")
    return ([found], "") if found else ([], "there is no nvcc (tools/nvcc_env.sh installs it)")


def torch_run(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(folder / "built"), "OMP_NUM_THREADS": "2"}
    return subprocess.run([str(TORCH), str(folder / script), *words], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=SECONDS, check=False)  # fmt: skip


class Kernels(unittest.TestCase):
    """The kernels of one number of chains; subclasses say how many."""

    count = 0
    architectures: tuple[int, ...] = ()

    def setUp(self) -> None:
        if self.count == 0:
            self.skipTest("only the parts")
        if not recordings():
            self.skipTest(f"no recordings in {corpus.FOLDER}")
        self.keep = next((Path(sys.argv[at + 1]) for at, word in enumerate(sys.argv) if word == "--keep"), None)
        self.folder = self.keep or Path(tempfile.mkdtemp())
        if self.keep is None:
            self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def chains(self) -> list[Chain]:
        return find_chains(self.count)

    def test_each_is_built_tested_and_measured(self) -> None:
        chains = self.chains()
        self.assertEqual(len(chains), self.count, "the recordings have fewer chains")
        rows: list[str] = []
        for at, chain in enumerate(chains):
            with self.subTest(str(chain)):
                rows.append(self.check(chain, self.folder / f"kernel{at + 1}"))
        print("\n".join(rows), file=sys.stderr)

    def check(self, chain: Chain, folder: Path) -> str:
        written = ask(str(chain.path), "--chain", str(chain.number), "--write", str(folder), "--name", "fused")
        self.assertEqual(written.get("written_chain"), chain.number)
        for words in ([], ["--triton"]):
            done = torch_run(folder, "test_fused.py", *words)
            self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
            self.assertIn("passed", done.stdout)
        words = [
            "--json",
            "--seconds=0.2",
            "--elements=500000",
            *(["--no-compile"] if len(self.architectures) == 1 else []),
        ]
        done = torch_run(folder, "benchmark_fused.py", *words)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        times = json.loads(done.stdout)["times"]
        return self.row(chain, times, self.compile(folder))

    def compile(self, folder: Path) -> str:
        """Compiles for each architecture, and says for which it did."""
        words, why_not = nvcc()
        if why_not:
            return f"not compiled for CUDA: {why_not}"
        for architecture in self.architectures:
            done = subprocess.run([*words, *NVCC_FLAGS, "-gencode", f"arch=compute_{architecture},code=sm_{architecture}",
                                   "-c", "fused.cu", "-o", f"sm_{architecture}.o"], cwd=folder, capture_output=True, text=True,
                                  check=False)  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return f"nvcc {', '.join(f'sm_{architecture}' for architecture in self.architectures)}"

    @staticmethod
    def row(chain: Chain, times: dict[str, dict[str, float]], compiled: str) -> str:
        """Returns the gain of one kernel in place of the chain: by the bound, and measured here."""
        found = chain.found
        bound = f"{found['device_ns'] / found['bound_ns']:.1f}x" if found.get("bound_ns") else "not known"
        gain = found.get("speedup")
        step = f"{gain['expected']:.3f}x ({gain['low']:.3f} to {gain['high']:.3f})" if gain else "not known"
        measured = {name: f"{times['eager']['forward_s'] / at['forward_s']:.2f}x" for name, at in times.items()}
        both = {name: f"{times['eager']['both_s'] / at['both_s']:.2f}x" for name, at in times.items()}
        return (f"{chain}: bound on the recorded GPU {bound}, its step {step}; forward here kernel {measured['kernel']}, "
                f"compiled {measured.get('compiled', 'not measured')}; with backward kernel {both['kernel']}, "
                f"compiled {both.get('compiled', 'not measured')}; {compiled}")  # fmt: skip


@cases.in_ci
class Some(Kernels):
    count, architectures = SOME, (80,)


class Many(Kernels):
    count, architectures = MANY, ARCHITECTURES


class Windows(Kernels):
    """A chain that ends in max-pooling."""

    count, architectures = 1, ARCHITECTURES

    def chains(self) -> list[Chain]:
        path = corpus.LENS / "mi300/resnet_act_checkpoint.json.gz"
        found = [Chain(path, chain) for chain in ask(str(path), "--top", "100")["chains"]]
        return [chain for chain in found if "max_pool2d" in chain.operators][:1]


@cases.in_ci
class Examples(unittest.TestCase):
    def test_are_what_the_program_writes(self) -> None:
        sources = {
            "residual_relu": ROOT / "samples/resnet50_v100.pt.trace.json.gz",
            "norm_gate": corpus.HTA / "trace_diff/control/control.json.gz",
            "conv_bias_relu_pool": ROOT / "tests/data/alexnet_blocks.json",
        }
        for name, source in sources.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                if not source.is_file():
                    self.skipTest(f"{source} is not here")
                written = ask(str(source), "--chain", "1", "--write", folder, "--name", name)
                self.assertTrue(written["files"])
                for file in written["files"]:
                    kept = ROOT / "examples/kernels" / name / file
                    self.assertEqual(
                        kept.read_text(encoding="utf-8"), (Path(folder) / file).read_text(encoding="utf-8")
                    )


def main() -> int:
    corpus.require()
    if not TORCH.is_file():
        print(f"skipped: no PyTorch in {TORCH} (tools/torch_env.sh)")
        return 77
    words = sys.argv[2:]
    if "--keep" in words:
        at = words.index("--keep")
        del words[at : at + 2]
    return cases.main(words)


if __name__ == "__main__":
    sys.exit(main())
