# SPDX-License-Identifier: Apache-2.0
"""Small Kineto recordings for the rules: `recording.py RULE fires|silent FOLDER` writes what tests/rules/RULE.py describes.

tests/rules/<rule>.py holds two functions, `fires(run: Run)` and `silent(run: Run)`. Each describes the smallest recording on
which the rule speaks, or just does not. A description reads as a timeline; times are microseconds.

    def fires(run: Run) -> None:
        rank = run.rank()                            # one process, one file
        for step in rank.steps(3, 1000):             # ProfilerStep#0…2, 1000 µs each; `step` is where it starts
            rank.loader(step, 300)
            rank.kernel("gemm", launch=step + 300, start=step + 310, dur=690)
"""

from __future__ import annotations

import importlib
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/gapless/agent"))
from gapless_agent import layout
from memory_recording import MemorySnapshot

Event = dict[str, Any]
AGENT_START_NS = 1_700_000_000_000_000_000

V100 = {
    "name": "Tesla V100-SXM2-32GB",
    "computeMajor": 7,
    "computeMinor": 0,
    "numSms": 80,
    "totalGlobalMem": 34089730048,
}
A100 = {
    "name": "NVIDIA A100-SXM4-80GB",
    "computeMajor": 8,
    "computeMinor": 0,
    "numSms": 108,
    "totalGlobalMem": 84987740160,
}
H100 = {
    "name": "NVIDIA H100 80GB HBM3",
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
    "totalGlobalMem": 85045542912,
}


class Rank:
    """The recording of one process."""

    def __init__(self, rank: int | None, world_size: int, device: Event, backend: str) -> None:
        self.rank, self.events, self.correlation, self.sequence = rank, [], 0, 0  # type: ignore[var-annotated]
        self.file = ""  # name of the file; empty: rank<number>.json
        self.document: Event = {"schemaVersion": 1, "deviceProperties": [{"id": 0, **device}]}
        if rank is not None:
            self.document["distributedInfo"] = {"backend": backend, "rank": rank, "world_size": world_size}

    def _add(self, category: str, name: str, ts: float, dur: float, tid: int, **args: object) -> None:
        self.events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
        )

    def steps(self, count: int, dur: float, first: int = 0) -> Iterator[float]:
        """Complete steps that follow each other; gives the start of each."""
        for number in range(count):
            self.annotation(f"ProfilerStep#{first + number}", number * dur, dur)
            yield number * dur

    def step(self, number: int, ts: float, dur: float) -> None:
        self.annotation(f"ProfilerStep#{number}", ts, dur)

    def annotation(self, name: str, ts: float, dur: float, tid: int = 1) -> None:
        self._add("user_annotation", name, ts, dur, tid)

    def loader(self, ts: float, dur: float, iterator: str = "_SingleProcessDataLoaderIter") -> None:
        self.annotation(f"enumerate(DataLoader)#{iterator}.__next__", ts, dur)

    def python(self, name: str, ts: float, dur: float, tid: int = 1, called: str = "") -> None:
        """A Python frame: "train.py(12): step", called from the line "train.py:40" where the recorder says so."""
        self._add("python_function", name, ts, dur, tid, **({"CallFrom": called} if called else {}))

    def operator(
        self,
        name: str,
        ts: float,
        dur: float,
        shapes: object = None,
        types: object = None,
        concrete: object = None,
        tid: int = 1,
    ) -> None:
        args: Event = {"External id": len(self.events) + 1}
        if shapes is not None:
            args["Input Dims"] = shapes
        if types is not None:
            args["Input type"] = types
        if concrete is not None:
            args["Concrete Inputs"] = concrete
        self._add("cpu_op", name, ts, dur, tid, **args)

    def gloo(self, ts: float, dur: float, tid: int = 9) -> None:
        """An all-reduce of the host, on the thread that gloo runs it on."""
        self._add("user_annotation", "gloo:all_reduce", ts, dur, tid)

    def call(self, name: str, ts: float, dur: float, tid: int = 1) -> None:
        """A runtime call that puts nothing on the device: cudaMalloc, cudaDeviceSynchronize …"""
        self.correlation += 1
        self._add("cuda_runtime", name, ts, dur, tid, correlation=self.correlation)

    def kernel(
        self,
        name: str,
        launch: float,
        start: float,
        dur: float,
        call: float = 4,
        stream: int = 7,
        tid: int = 1,
        launcher: str = "cudaLaunchKernel",
        **args: object,
    ) -> None:
        """A call of `call` µs at `launch` and the kernel it puts on the device. `args`: further arguments, e.g. grid=[8, 1, 1];
        names with blanks by `**{"blocks per SM": 0.5}`."""
        self.correlation += 1
        category = "cuda_driver" if launcher.startswith("cuL") else "cuda_runtime"
        self._add(category, launcher, launch, call, tid, correlation=self.correlation)
        self._add("kernel", name, start, dur, stream, correlation=self.correlation, device=0, stream=stream, **args)

    def graph(self, launch: float, starts: list[float], dur: float, call: float = 10) -> None:
        """One graph launch and the kernels it replays."""
        self.correlation += 1
        self._add("cuda_runtime", "cudaGraphLaunch", launch, call, 1, correlation=self.correlation)
        for start in starts:
            self._add(
                "kernel", "gemm", start, dur, 7, correlation=self.correlation, device=0, stream=7, **{"graph id": 1}
            )

    def gpu_annotation(self, name: str, ts: float, dur: float) -> None:
        """A user's range as the recorder projects it onto a stream."""
        self._add("gpu_user_annotation", name, ts, dur, 7)

    def nccl(
        self,
        launch: float,
        start: float,
        dur: float,
        elements: int = 1 << 20,
        world_size: int = 2,
        group: str = "0",
        name: str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    ) -> None:
        """An all-reduce of floats on the communication stream."""
        args: Event = {
            "dtype": "Float",
            "Collective name": "allreduce",
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": world_size,
            "Process Group Name": group,
        }
        self.kernel(name, launch, start, dur, stream=20, **args)

    def copy(self, kind: str, launch: float, start: float, dur: float, bytes_: int = 1 << 20, call: float = 4) -> None:
        """`kind`: "HtoD (Pageable -> Device)", "HtoD (Pinned -> Device)", "DtoH (Device -> Pageable)" …"""
        self.correlation += 1
        self._add("cuda_runtime", "cudaMemcpyAsync", launch, call, 1, correlation=self.correlation)
        rate = bytes_ / dur / 1000
        self._add(
            "gpu_memcpy",
            f"Memcpy {kind}",
            start,
            dur,
            7,
            correlation=self.correlation,
            device=0,
            stream=7,
            bytes=bytes_,
            **{"memory bandwidth (GB/s)": rate},
        )

    def memory(self, ts: float, bytes_: int, allocated: int, reserved: int, address: int = 4096) -> None:
        self.events.append(
            {
                "ph": "i",
                "cat": "cpu_instant_event",
                "s": "t",
                "name": "[memory]",
                "pid": 1,
                "tid": 1,
                "ts": ts,
                "args": {
                    "Bytes": bytes_,
                    "Device Id": 0,
                    "Device Type": 1,
                    "Addr": address,
                    "Total Allocated": allocated,
                    "Total Reserved": reserved,
                },
            }
        )


class Agent:
    """The agent's report of one process, as the file that the launcher saves (python/gapless/agent/README.md)."""

    def __init__(self, rank: int) -> None:
        self.rank, self.texts, self.records = rank, 0, []  # type: ignore[var-annotated]

    def _add(
        self, kind: int, ts: float, dur: float = 0, *, flags: int = 0, value: int = 0, a: int = 0, b: int = 0,
        x: float = 0, y: float = 0,
    ) -> None:  # fmt: skip
        times = (AGENT_START_NS + round(ts * 1000), round(dur * 1000))
        self.records.append(layout.RECORD.pack(len(self.records) + 1, kind, flags, value, *times, a, b, x, y))

    def _text(self, text: str) -> int:
        self.texts += 1
        size, data = layout.TEXT_PIECE_BYTES, text.encode()
        for begin in range(0, len(data), size):
            piece = data[begin : begin + size]
            more = layout.TEXT_MORE if begin + size < len(data) else 0
            number = len(self.records) + 1
            packed = layout.TEXT_RECORD.pack(number, layout.KIND_TEXT, len(piece) | more, self.texts, piece)
            self.records.append(packed)
        return self.texts

    def steps(self, count: int, dur: float, wait: float = 0, skipped: range = range(0)) -> Iterator[float]:
        """Steps that follow each other, each with its wait for a batch; gives the start of each."""
        for number in range(count):
            flags = layout.FLAG_SKIPPED if number in skipped else 0
            self._add(layout.KIND_STEP, number * dur, dur, flags=flags, a=number, b=16, x=wait * 1000, y=1000)
            yield number * dur

    def step(self, number: int, ts: float, dur: float) -> None:
        self._add(layout.KIND_STEP, ts, dur, a=number, b=16, y=1000)

    def memory(self, ts: float, allocated: float) -> None:
        self._add(layout.KIND_MEMORY, ts, b=round(allocated), x=allocated, y=allocated)

    def scale(self, ts: float, scale: float) -> None:
        self._add(layout.KIND_SCALE, ts, x=scale)

    def loader(self, workers: int, line: str) -> None:
        settings = self._text(json.dumps({"num_workers": workers}, separators=(",", ":")))
        self._add(layout.KIND_LOADER, 0, value=workers, a=settings, x=self._text(line))

    def wait(self, ts: float, dur: float) -> None:
        self._add(layout.KIND_WAIT, ts, dur)

    def garbage(self, ts: float, dur: float) -> None:
        self._add(layout.KIND_GC, ts, dur, value=2)

    def rollout(self, ts: float, dur: float, step: int, count: int, stepping: float) -> None:
        self._add(layout.KIND_ROLLOUT, ts, dur, a=step, b=count, x=stepping * 1000)

    def save(self, ts: float, dur: float, line: str) -> None:
        path = self._text("checkpoint.pt")
        self._add(layout.KIND_SAVE, ts, dur, a=path, x=1e9, y=self._text(line))

    def evaluation(self, ts: float, dur: float, line: str, step: int = 0) -> None:
        self._add(layout.KIND_EVALUATION, ts, dur, a=self._text(line), b=step)

    def beside(self, ts: float, dur: float, label: str, line: str, count: int = 1, in_thread: bool = False) -> None:
        """Calls of what no step needs, `count` of one length: "images: Image.save"."""
        flags = layout.FLAG_IN_THREAD if in_thread else 0
        text, longest = self._text(label), dur * 1000 / count
        self._add(layout.KIND_BESIDE, ts, dur, flags=flags, value=count, a=text, x=longest, y=self._text(line))

    def compiled(self, ts: float, dur: float, text: str, value: int = layout.COMPILED) -> None:
        self._add(layout.KIND_COMPILE, ts, dur, value=value, a=self._text(text))

    def write(self, path: Path) -> None:
        header = layout.RING_HEADER.pack(
            layout.RING_MAGIC, layout.VERSION, layout.RING_HEADER_BYTES, layout.RECORD_BYTES, 0, 1, AGENT_START_NS,
            self.rank, -1, -1, -1, layout.ROLE_TRAINS, layout.STATE_ENDED,
        )  # fmt: skip
        header += len(self.records).to_bytes(8, "little")
        path.write_bytes(header.ljust(layout.RING_HEADER_BYTES, b"\0") + b"".join(self.records))


class Telemetry:
    """The launcher's samples of the GPUs of one host (src/wire/telemetry_stream.h)."""

    def __init__(self, memory_bytes: int) -> None:
        self.series: dict[str, int] = {}
        self.records: list[bytes] = []
        self._record(1, 0, self._sized(b"gpu.0.memory_bytes", str(memory_bytes).encode()))

    @staticmethod
    def _sized(*texts: bytes) -> bytes:
        return struct.pack("<" + "I" * len(texts), *map(len, texts)) + b"".join(texts)

    def _record(self, kind: int, count: int, body: bytes) -> None:
        size = (8 + len(body) + 7) & ~7
        self.records.append((struct.pack("<IHH", size, kind, count) + body).ljust(size, b"\0"))

    def sample(self, ts: float, **values: float) -> None:
        """Values of GPU 0 at one moment; `throttle_hw_thermal` stands for gpu.throttle.hw_thermal."""
        self._sample(ts, {"gpu." + name.replace("_", ".", 1): value for name, value in values.items()}, 0)

    def host(self, ts: float, **values: float) -> None:
        """Values of the host at one moment; `process_resident` stands for process.resident."""
        self._sample(ts, {name.replace("_", "."): value for name, value in values.items()}, -1)

    def _sample(self, ts: float, values: dict[str, float], device: int) -> None:
        numbers: list[int] = []
        for name in values:
            if name not in self.series:
                self.series[name] = len(self.series)
                head = struct.pack("<Ii", self.series[name], device)
                self._record(2, 0, head + self._sized(name.encode(), b""))
            numbers.append(self.series[name])
        count = len(numbers)
        body = struct.pack(f"<q{count}d{count}I", AGENT_START_NS + round(ts * 1000), *values.values(), *numbers)
        self._record(3, count, body)

    def write(self, path: Path) -> None:
        header = struct.pack("<8sIIqq", b"GAPLTEL\n", 1, 32, AGENT_START_NS, 100_000_000)
        path.write_bytes(header + b"".join(self.records))


class Ncu:
    """Metrics of kernels as `ncu --csv --metrics` prints them."""

    HEAD = (
        "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,"
        "Section Name,Metric Name,Metric Unit,Metric Value"
    )
    NAMES: ClassVar[dict[str, str]] = {
        "sm": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        "dram": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
        "threads": "smsp__thread_inst_executed_per_inst_executed.ratio",
    }

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.launches = 0

    def launch(self, kernel: str, **metrics: float) -> None:
        about = [self.launches, 1, "python", "host", kernel, 1, 7, "(256, 1, 1)", "(1024, 1, 1)", 0, "8.0"]
        for name, value in metrics.items():
            unit = "" if name == "threads" else "%"
            cells = [*about, "Command line profiler metrics", self.NAMES[name], unit, value]
            self.rows.append(",".join(f'"{cell}"' for cell in cells))
        self.launches += 1

    def write(self, path: Path) -> None:
        head = ",".join(f'"{name}"' for name in self.HEAD.split(","))
        path.write_text("\n".join(["==PROF== Connected to process 1", head, *self.rows, ""]), encoding="utf-8")


class Run:
    """Recordings of one job, one file each."""

    def __init__(self) -> None:
        self.ranks: list[Rank] = []
        self.agents: list[Agent] = []
        self.telemetries: list[Telemetry] = []
        self.ncus: list[Ncu] = []
        self.snapshots: list[MemorySnapshot] = []
        self.files: dict[str, bytes] = {}

    def file(self, name: str, content: bytes) -> None:
        """A recording of another tool, as it is."""
        self.files[name] = content

    def printed_table(self, rows: list[tuple[str, float, float, int]]) -> None:
        """Adds what key_averages().table() prints: (name, own ms of the host, own ms of the device, calls)."""
        line = "-" * 20 + "  " + "  ".join(["-" * 12] * 4)
        titles = ("Self CPU", "CPU total", "Self CUDA", "# of Calls")
        lines = [line, f"{'Name':>20}  " + "  ".join(f"{title:>12}" for title in titles), line]
        for name, host, device, calls in rows:
            cells = (f"{host:.3f}ms", f"{host:.3f}ms", f"{device:.3f}ms", str(calls))
            lines.append(f"{name:>20}  " + "  ".join(f"{cell:>12}" for cell in cells))
        self.file("table.key_averages.txt", ("\n".join([*lines, line]) + "\n").encode())

    def gpu_report(self, rows: list[tuple[int, int, str]], kernels: int = 7) -> None:
        """Adds what nsys stats writes of the GPU: (start µs, duration µs, name). Kernels are in their stream, the rest in 7."""
        titles = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
        lines = [titles + "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"]
        for number, (start, dur, name) in enumerate(rows):
            time = f"{start * 1000},{dur * 1000},{number + 1}"
            if name.startswith("["):
                work, memory, stream = ",,,,,,,,,1.000,4000.000", "Pinned,Device", 7
            else:
                work, memory, stream = "1024,1,1,256,1,1,32,0.000,0.000,,", ",", kernels
            lines.append(f"{time},{work},{memory},NVIDIA RTX A4500 (0),1,,{stream},{name}")
        self.text("report_cuda_gpu_trace.csv", "\n".join(lines) + "\n")

    def text(self, name: str, content: str) -> None:
        """Adds a file as another tool prints it, such as collapsed stacks."""
        self.file(name, content.encode())

    def memory_snapshot(self, name: str = "memory_snapshot.pickle") -> MemorySnapshot:
        self.snapshots.append(MemorySnapshot(name))
        return self.snapshots[-1]

    def ncu(self) -> Ncu:
        self.ncus.append(Ncu())
        return self.ncus[-1]

    def telemetry(self, memory_bytes: int = 80_000_000_000) -> Telemetry:
        self.telemetries.append(Telemetry(memory_bytes))
        return self.telemetries[-1]

    def agent(self, rank: int = -1) -> Agent:
        self.agents.append(Agent(rank))
        return self.agents[-1]

    def rank(self, rank: int | None = None, world_size: int = 2, device: Event = A100, backend: str = "nccl") -> Rank:
        self.ranks.append(Rank(rank, world_size, device, backend))
        return self.ranks[-1]

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for number, rank in enumerate(self.ranks):
            document = {**rank.document, "traceEvents": rank.events}
            (folder / (rank.file or f"rank{number}.json")).write_text(json.dumps(document), encoding="utf-8")
        for number, agent in enumerate(self.agents):
            agent.write(folder / f"agent-{number + 1}.events")
        for number, telemetry in enumerate(self.telemetries):
            telemetry.write(folder / f"telemetry{number}.gts")
        for number, ncu in enumerate(self.ncus):
            ncu.write(folder / f"kernels{number}.ncu.csv")
        for snapshot in self.snapshots:
            snapshot.write(folder / snapshot.name)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


def main() -> int:
    name, which, folder = sys.argv[1:]
    scene = importlib.import_module(name)
    run = Run()
    getattr(scene, which)(run)
    run.write(Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
