// SPDX-License-Identifier: Apache-2.0
// A recording that nobody made: as many ranks and steps as one likes, millions of events, the same ones each time. It
// answers as `gapless serve` does; events are made when they are looked at, so that it takes no memory.
import type {LaneInfo, Overview, TraceInfo, WrittenTile} from "../src/timeline/data";
import type {EventInfo, Found, Hit, Selection} from "../src/timeline/source";

const STEP = 120_000_000; // ns
const LANES = 10; // of a rank
const SLOW = 7; // the step that takes longest …
const SLOWER = 1.4; // … by this factor
const MOST_KEPT = 160; // steps of ranks

interface Item {
  start: number;
  end: number;
  line: number;
  name: string;
  kind: string;
  id: number;
}

/** A generator of numbers from 0 to 1 that starts where it is told. */
function random(seed: number): () => number {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const KERNELS: [string, string][] = [
  ["ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn", "gemm"],
  ["void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", "pointwise"],
  ["void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized>", "conv"],
  ["flash_fwd_kernel", "attention"],
  ["layer_norm_backward_kernel", "norm"],
];
const CAUSES = ["data", "launch", "sync", "host"];

export class Synthetic {
  private readonly kept = new Map<number, Item[][]>();
  readonly overview: Overview;

  constructor(
    readonly ranks: number,
    readonly steps: number,
    readonly kernels: number, // of a step
  ) {
    const traces = Array.from({length: ranks}, (_, rank) => this.trace(rank));
    this.overview = {
      origin_ns: 1_700_000_000_000_000_000,
      from_ns: 0,
      to_ns: this.start(steps),
      traces,
      steps: traces.flatMap(({trace}) =>
        Array.from({length: steps}, (_, at) => ({
          ...{trace, number: at + 1, ts_ns: this.start(at)},
          dur_ns: this.start(at + 1) - this.start(at),
        })),
      ),
    };
  }

  private start(step: number): number {
    return step * STEP + (step > SLOW ? (SLOWER - 1) * STEP : 0);
  }

  private trace(rank: number): TraceInfo {
    const lane = (at: number, kind: LaneInfo["kind"], label: string, depth: number, more: object = {}): LaneInfo => ({
      ...{lane: rank * LANES + at, kind, label, depth, events: this.steps * this.kernels},
      ...more,
    });
    const lanes = [
      lane(0, "steps", "steps", 1),
      lane(1, "annotations", "annotations", 1),
      lane(2, "device", "GPU 0", 1, {device: 0}),
      lane(3, "idle", "GPU 0 idle", 1, {device: 0}),
      lane(4, "stream", "stream 7", 1, {device: 0, stream: 7}),
      lane(5, "stream", "stream 20 nccl", 1, {device: 0, stream: 20}),
      lane(6, "thread", "python 1201", 3, {tid: 1201}),
      lane(7, "thread", "autograd 1202", 2, {tid: 1202}),
      lane(8, "counter", "GPU power", 1, {unit: "W"}),
      lane(9, "memory", "allocated", 1, {unit: "bytes"}),
    ];
    return {trace: rank, rank, host: `node-${rank >> 3}`, name: `rank_${rank}.json`, lanes};
  }

  /** Everything that a rank does in a step, by lane. The lanes of counters hold their values as names. */
  private made(rank: number, step: number): Item[][] {
    const key = rank * this.steps + step;
    const known = this.kept.get(key);
    if (known) return known;
    const items = this.make(rank, step);
    if (this.kept.size >= MOST_KEPT) this.kept.delete([...this.kept.keys()][0] ?? 0);
    this.kept.set(key, items);
    return items;
  }

  private make(rank: number, step: number): Item[][] {
    const next = random(rank * 977 + step);
    const items: Item[][] = Array.from({length: LANES}, () => []);
    const [from, to] = [this.start(step), this.start(step + 1)];
    const first = (rank * this.steps + step) * this.kernels;
    const add = (lane: number, start: number, end: number, name: string, kind: string, line = 0, id = -1) =>
      items[lane]?.push({start: Math.round(start), end: Math.round(end), line, name, kind, id});
    add(0, from, to, `ProfilerStep#${step + 1}`, "annotation");
    add(1, from, from + (to - from) * 0.4, "forward", "annotation");
    add(1, from + (to - from) * 0.4, to, "backward", "annotation");
    let at = from;
    for (let kernel = 0; kernel < this.kernels; ++kernel) {
      const share = (to - from) / this.kernels;
      const waits = kernel === 0 ? share * (1 + 20 * next()) : share * next() * 0.4;
      const [name, kind] = KERNELS[Math.floor(next() * KERNELS.length)] ?? ["", ""];
      const start = Math.max(at, from + kernel * share) + waits;
      const end = Math.min(to, start + share * (0.2 + 0.6 * next()));
      if (end <= start) continue;
      const cause = CAUSES[Math.floor(next() * CAUSES.length)] ?? "";
      add(3, at, start, "cudaLaunchKernel", cause);
      add(2, at, start, cause, cause);
      add(2, start, end, "compute", "compute");
      add(4, start, end, name, kind, 0, first + kernel);
      const launch = Math.max(from, start - 2 * share);
      add(6, launch, launch + share * 0.9, "aten::linear", "operator", 1, 10 * (first + kernel));
      add(6, launch + share * 0.1, launch + share * 0.5, "cudaLaunchKernel", "runtime", 2, 10 * (first + kernel) + 1);
      if (kernel % 8 === 0)
        add(5, start, start + share * 6, "ncclDevKernel_AllReduce_Sum_bf16", "communication", 0, 1e9 + first + kernel);
      if (kernel % 4 === 0)
        add(7, start, start + share * 2, "autograd::engine", "operator", 0, 10 * (first + kernel) + 2);
      if (kernel % 16 === 0) {
        add(8, start, start + share * 16, String(Math.round(300 + 400 * next())), "");
        add(9, start, start + share * 16, String(Math.round(2e10 + 5e10 * next())), "");
      }
      at = end;
    }
    add(6, from, to, "train.py(41): train_step", "python", 0, 10 * first + 9);
    return items;
  }

  /** Events of a lane that meet the stretch of time. */
  private *between(lane: number, from: number, to: number): Generator<Item> {
    const rank = Math.floor(lane / LANES);
    for (let step = 0; step < this.steps; ++step) {
      if (this.start(step) >= to || this.start(step + 1) + STEP / 4 <= from) continue;
      for (const item of this.made(rank, step)[lane % LANES] ?? []) if (item.start < to && item.end > from) yield item;
    }
  }

  tile(trace: number, level: number, at: number): WrittenTile {
    const span = 1024 * 2 ** level;
    return this.cut(trace, level, at, at * span, (at + 1) * span);
  }

  /** A tile of another stretch of time, as reports have them. */
  cut(trace: number, level: number, at: number, from: number, to: number): WrittenTile {
    const tile: WrittenTile = {level, at, from_ns: from, to_ns: to, names: [], kinds: [], lanes: []};
    const [names, kinds] = [new Map<string, number>(), new Map<string, number>()];
    const placeOf = (map: Map<string, number>, list: string[], text: string) => {
      const place = map.get(text) ?? list.push(text) - 1;
      map.set(text, place);
      return place;
    };
    for (let own = 0; own < LANES; ++own) {
      const lane = trace * LANES + own;
      const items = [...this.between(lane, from, to)].sort((a, b) => a.line - b.line || a.start - b.start);
      if (own >= 8) {
        const values = items.map(({name}) => Number(name));
        const [start, dur] = [items.map((one) => one.start), items.map((one) => one.end - one.start)];
        tile.lanes.push({lane, start, dur, low: values, high: values});
        continue;
      }
      const merged = this.merged(items, level);
      tile.lanes.push({
        lane,
        start: merged.map(({item}) => item.start),
        dur: merged.map(({item, end}) => end - item.start),
        depth: merged.map(({item}) => item.line),
        name: merged.map(({longest}) => placeOf(names, tile.names, longest.name)),
        kind: merged.map(({longest}) => placeOf(kinds, tile.kinds, longest.kind)),
        count: merged.map(({count}) => count),
        busy: merged.map(({busy}) => busy),
        id: merged.map(({longest}) => longest.id),
      });
    }
    return tile;
  }

  /** Neighbours shorter than a pixel with less than that between them are one; at level 0 all stay. */
  private merged(items: readonly Item[], level: number) {
    const pixel = level === 0 ? 0 : 2 ** level;
    const all: {item: Item; longest: Item; end: number; count: number; busy: number}[] = [];
    let open = false;
    for (const item of items) {
      const length = item.end - item.start;
      const last = all.at(-1);
      if (last && open && length < pixel && item.line === last.item.line && item.start - last.end < pixel) {
        last.end = Math.max(last.end, item.end);
        last.count += 1;
        last.busy += length;
        if (length > last.longest.end - last.longest.start) last.longest = item;
        continue;
      }
      open = length < pixel;
      all.push({item, longest: item, end: item.end, count: 1, busy: length});
    }
    return all;
  }

  /** Finds an operation or slice: its lane and itself. */
  private find(kind: string, id: number): {lane: number; item: Item} | undefined {
    const kernel = kind === "gpu_op" ? id % 1e9 : Math.floor(id / 10);
    const place = Math.floor(kernel / this.kernels);
    const [rank, step] = [Math.floor(place / this.steps), place % this.steps];
    if (rank >= this.ranks) return undefined;
    const lanes = kind === "gpu_op" ? [4, 5] : [6, 7];
    for (const lane of lanes) {
      const item = this.made(rank, step)[lane]?.find((one) => one.id === id);
      if (item) return {lane: rank * LANES + lane, item};
    }
    return undefined;
  }

  event(kind: string, id: number): EventInfo | undefined {
    const found = this.find(kind, id);
    if (!found) return undefined;
    const {lane, item} = found;
    const of = {kind, id, trace: Math.floor(lane / LANES), lane, name: item.name};
    const links: EventInfo["links"] = [];
    const link = (what: string, to: "gpu_op" | "slice", other: number) => {
      const at = this.find(to, other);
      if (!at) return;
      const {start, end, name} = at.item;
      links.push({
        what,
        kind: to,
        id: other,
        trace: Math.floor(at.lane / LANES),
        lane: at.lane,
        ts_ns: start,
        dur_ns: end - start,
        name,
      });
    };
    const perRank = this.steps * this.kernels;
    if (kind === "gpu_op" && id < 1e9) link("launched by", "slice", 10 * id + 1);
    if (kind === "slice" && id % 10 === 1) link("launched", "gpu_op", (id - 1) / 10);
    if (id >= 1e9 && kind === "gpu_op")
      for (const by of [-perRank, perRank]) link("same collective", "gpu_op", id + by);
    const details = [
      {name: "class", value: item.kind},
      {name: "grid", value: "128 × 1 × 1"},
      {name: "bytes", value: 1_048_576},
    ];
    return {...of, ts_ns: item.start, dur_ns: item.end - item.start, details, links};
  }

  search(text: string, most: number): Found {
    const hits: Hit[] = [];
    const has = text.startsWith("re:")
      ? (name: string) => new RegExp(text.slice(3)).test(name)
      : (name: string) => name.toLowerCase().includes(text.toLowerCase());
    const step = SLOW; // as much as a test takes
    for (let rank = 0; rank < this.ranks; ++rank)
      for (const own of [4, 5, 6, 7])
        for (const {start, end, name, id} of this.made(rank, step)[own] ?? [])
          if (has(name))
            hits.push({
              trace: rank,
              lane: rank * LANES + own,
              kind: own < 6 ? "gpu_op" : "slice",
              id,
              name,
              ts_ns: start,
              dur_ns: end - start,
            });
    return {total: hits.length, hits: hits.sort((a, b) => a.ts_ns - b.ts_ns).slice(0, most)};
  }

  selection(from: number, to: number, trace: number): Selection {
    const sums = new Map<string, number>();
    for (const own of [4, 5])
      for (const {start, end, name} of this.between(trace * LANES + own, from, to))
        sums.set(name, (sums.get(name) ?? 0) + Math.min(end, to) - Math.max(start, from));
    const rows = [...sums].sort((a, b) => b[1] - a[1]);
    const launches = {name: "cudaLaunchKernel", kind: "runtime", total_ns: 40, self_ns: 40, children: []};
    const linear = {name: "aten::linear", kind: "operator", total_ns: 90, self_ns: 50, children: [launches]};
    const root = {name: "train.py(41): train_step", kind: "python", total_ns: 100, self_ns: 10, children: [linear]};
    return {
      tables: [
        {
          name: "operations",
          help: "what the device ran, by name",
          columns: [
            {name: "name", type: "text", unit: "", help: "its name"},
            {name: "total_ns", type: "int", unit: "ns", help: "its time"},
          ],
          cells: [rows.map(([name]) => name), rows.map(([, total]) => total)],
        },
      ],
      flame: [root],
    };
  }

  /** As a report has it: the whole coarsely, the slowest step of the first ranks closer. */
  inlined(level: number, finer: number, ranks: number) {
    const [from, to] = [this.start(SLOW), this.start(SLOW + 1)];
    const tiles = [];
    for (let rank = 0; rank < Math.min(ranks, this.ranks); ++rank) {
      tiles.push(this.cut(rank, level, 0, 0, this.overview.to_ns));
      tiles.push(this.cut(rank, finer, 0, from, to));
    }
    return {overview: this.overview, tiles};
  }
}
