// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a timeline: views, ticks, tiles, lanes, addresses, and sums over the tiles of a report.
import {expect, test} from "@playwright/test";
import {read, written} from "../src/timeline/address";
import {
  covered,
  eachEvent,
  type LaneInfo,
  type Overview,
  slowestComplete,
  tileOf,
  type WrittenTile,
} from "../src/timeline/data";
import {drawLanes, shortened} from "../src/timeline/draw";
import {boxesOf} from "../src/timeline/flame";
import {flameOf, InlinedSource} from "../src/timeline/inlined";
import {inSight, layOut} from "../src/timeline/lanes";
import {TileCache} from "../src/timeline/served";
import {patternOf} from "../src/timeline/source";
import {axisOf, clamped, levelOf, panned, timeOf, xOf, zoomed} from "../src/timeline/view";
import {Synthetic} from "./synthetic";

const RUN = {from: 0, to: 3_600_000_000_000}; // an hour

/** Numbers that look random, the same ones each time. */
function* numbers(count: number): Generator<number> {
  let state = 12345;
  for (let at = 0; at < count; ++at) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Mistakes in the ticks of a view. */
function mistakes(view: {from: number; to: number}, width: number, reference: number): string[] {
  const {ticks} = axisOf(view, width, reference);
  const labels = ticks.map(({label}) => label);
  const found = [];
  if (new Set(labels).size < labels.length) found.push("two are equal");
  if (ticks.length > width / 90 + 1) found.push("too many");
  if (width > 400 && ticks.length === 0) found.push("none");
  if (ticks.some(({at}) => at < view.from || at > view.to)) found.push("one is outside");
  if (labels.some((label) => label.length > 13)) found.push("one is long");
  if (ticks.some(({at}, place) => place > 0 && at <= (ticks[place - 1]?.at ?? 0))) found.push("not in order");
  return found.length > 0 ? [`${found} in ${view.from}–${view.to} at ${width}: ${labels}`] : [];
}

test("no two ticks have one label, whatever is zoomed to", () => {
  const random = numbers(20_000);
  const next = () => random.next().value as number;
  const found: string[] = [];
  for (let at = 0; at < 4000; ++at) {
    const length = 64 * (RUN.to / 64) ** next();
    const from = next() * (RUN.to - length);
    const view = clamped({from, to: from + length}, RUN);
    found.push(...mistakes(view, 200 + next() * 2200, Math.floor(next() * from)));
  }
  expect(found).toEqual([]);
});

test("ticks count from the step's start, far away from a round time that is said", () => {
  expect(axisOf({from: 5e9, to: 5e9 + 1e6}, 600, 5e9).ticks.map(({label}) => label)).toEqual([
    ...["0", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms", "1.0 ms"],
  ]);
  const far = axisOf({from: 5e9 + 12_345_678, to: 5e9 + 12_345_978}, 600, 5e9);
  expect(far.said).toBe("12.30 ms");
  expect(far.ticks[0]?.label).toBe("+45.70 µs");
});

test("zooming keeps the time under the pointer, and views stay within the run", () => {
  const random = numbers(3000);
  const next = () => random.next().value as number;
  let view: {from: number; to: number} = RUN;
  const found: string[] = [];
  for (let at = 0; at < 500; ++at) {
    const x = next() * 1000;
    const time = timeOf(x, view, 1000);
    const closer = zoomed(view, 0.7 + 0.3 * next(), time, RUN);
    const moved = Math.abs(xOf(time, closer, 1000) - x);
    if (moved > 0.01 && closer.to - closer.from > 65) found.push(`moved by ${moved} px`);
    view = next() < 0.4 ? zoomed(view, 6 * next(), time, RUN) : panned(closer, next() - 0.5, RUN);
    if (view.from < RUN.from || view.to > RUN.to || view.to - view.from < 63.9) found.push(`${view.from}–${view.to}`);
  }
  expect(found).toEqual([]);
});

test("the level of detail has pixels no longer than those of the canvas", () => {
  expect(levelOf({from: 0, to: 1024 * 1000}, 1000)).toBe(10);
  expect(levelOf({from: 0, to: 1024 * 1000 - 1}, 1000)).toBe(9);
  expect(levelOf({from: 0, to: 10}, 1000)).toBe(0);
});

const tile = (level: number, from: number, to: number, more: Partial<WrittenTile> = {}) =>
  tileOf({level, at: 0, from_ns: from, to_ns: to, names: ["a", "b"], kinds: ["gemm"], lanes: [], ...more});

test("where a finer tile is, it is taken; coarser ones fill the rest, and nothing is covered twice", () => {
  const pieces = covered([tile(5, 40, 60), tile(9, 0, 100)], 10, 90);
  expect(pieces.map(({tile: {level}, from, to}) => [level, from, to])).toEqual([
    [9, 10, 40],
    [5, 40, 60],
    [9, 60, 90],
  ]);
  expect(covered([tile(5, 40, 60)], 0, 30)).toEqual([]);
});

test("an event that crosses an edge is in both tiles and seen once; lines are in order however they are written", () => {
  const lanes = (start: number[], dur: number[], depth: number[]) => {
    const same = start.map(() => 0);
    return [{lane: 3, start, dur, depth, name: same, kind: same, count: same.map(() => 1), busy: dur, id: start}];
  };
  const left = tile(0, 0, 50, {lanes: lanes([40, 10, 12], [20, 20, 5], [0, 0, 1])});
  const right = tile(0, 50, 100, {lanes: lanes([40, 70], [20, 5], [0, 0])});
  const seen: number[][] = [];
  eachEvent(
    [
      {tile: left, from: 0, to: 50},
      {tile: right, from: 50, to: 100},
    ],
    3,
    0,
    100,
    (_, spans, line, at) => seen.push([line, spans.start[at] ?? 0, spans.end[at] ?? 0]),
  );
  expect(seen).toEqual([
    [0, 10, 30],
    [0, 40, 60],
    [1, 12, 17],
    [0, 70, 75],
  ]);
});

test("the tiles that were used last stay when there is no room for all", () => {
  const cache = new TileCache(3 * tile(0, 0, 1).bytes);
  for (const at of [0, 1, 2]) cache.put({trace: 0, level: 0, at}, tile(0, at, at + 1));
  cache.get({trace: 0, level: 0, at: 0});
  cache.put({trace: 0, level: 0, at: 3}, tile(0, 3, 4));
  expect([0, 1, 2, 3].map((at) => cache.has({trace: 0, level: 0, at}))).toEqual([true, false, true, true]);
  expect(cache.size).toBe(3);
});

const {overview} = new Synthetic(64, 3, 50);
const choice = {open: new Set<number>(), pinned: new Set<number>(), hidden: new Set<number>(), filter: ""};

test("closed ranks are a row each, an open one has all its lanes, and rows do not overlap", () => {
  expect(layOut(overview, choice).rows.map(({label}) => label)).toEqual(
    Array.from({length: 64}, (_, rank) => `rank ${rank}`),
  );
  const {rows, height} = layOut(overview, {...choice, open: new Set([5])});
  expect(rows.length).toBe(64 + 10);
  expect(rows[6]).toMatchObject({kind: "lane", label: "steps"});
  const overlap = rows.filter(({top}, at) => at > 0 && top < (rows[at - 1]?.top ?? 0) + (rows[at - 1]?.height ?? 0));
  expect(overlap).toEqual([]);
  expect(height).toBeGreaterThan(rows.at(-1)?.top ?? 0);
});

test("the filter takes ranks by name and lanes by label, hidden lanes go, pinned ones stand on top", () => {
  const labels = (more: Partial<typeof choice>) => layOut(overview, {...choice, ...more}).rows.map(({label}) => label);
  expect(labels({filter: "rank 63"})).toEqual(["rank 63"]);
  expect(labels({filter: "nccl"}).slice(0, 4)).toEqual(["rank 0", "stream 20 nccl", "rank 1", "stream 20 nccl"]);
  expect(labels({filter: "nothing like it"})).toEqual([]);
  expect(labels({open: new Set([0]), hidden: new Set([0, 1])}).slice(1, 2)).toEqual(["GPU 0"]);
  const {pinned, pinnedHeight} = layOut(overview, {...choice, pinned: new Set([14, 25])});
  expect(pinned.map(({label}) => label)).toEqual(["rank 1 · stream 7", "rank 2 · stream 20 nccl"]);
  expect(pinnedHeight).toBeGreaterThan(0);
});

test("only rows in sight are placed, also of thousands, and pinned ones cover none", () => {
  const layout = layOut(overview, {...choice, open: new Set(overview.traces.map(({trace}) => trace))});
  expect(layout.rows.length).toBe(64 * 11);
  const placed = inSight(layout, layout.height / 2, 600);
  expect(placed.length).toBeLessThan(40);
  expect(placed.every(({row, y}) => y < 600 && y + row.height > 0)).toBe(true);
  const pinned = inSight({...layout, pinned: layout.rows.slice(1, 3), pinnedHeight: 60}, 0, 600);
  expect(pinned.slice(2).every(({y, clip}) => y >= 60 && clip === 60)).toBe(true);
});

test("a recording of one process has no rank to open", () => {
  const one: Overview = {...overview, traces: overview.traces.slice(0, 1)};
  expect(layOut(one, choice).rows.map(({kind}) => kind)).toEqual(Array(10).fill("lane"));
});

/** A context that keeps what is drawn. */
function pencil() {
  const texts: string[] = [];
  const boxes: number[][] = [];
  const context = {
    font: "",
    measureText: (text: string) => ({width: 6 * text.length}),
    fillText: (text: string) => texts.push(text),
    fillRect: (...box: number[]) => boxes.push(box),
  };
  return {texts, boxes, context: context as unknown as CanvasRenderingContext2D};
}

/** The texts and boxes that these spans give on 1000 px for 1000 ns. */
function drawn(spans: [number, number][]) {
  const trace = overview.traces[0] as Overview["traces"][0];
  const lane = trace.lanes[4] as LaneInfo;
  const [same, dur] = [spans.map(() => 0), spans.map(([from, to]) => to - from)];
  const ids = {name: same, kind: same, count: same.map(() => 1), busy: dur, id: same};
  const held = tile(0, 0, 1000, {
    names: ["a_name_of_a_kernel"],
    lanes: [{lane: lane.lane, start: spans.map(([from]) => from), dur, depth: same, ...ids}],
  });
  const row = {
    key: "",
    kind: "lane" as const,
    label: "",
    title: "",
    trace,
    lanes: [lane],
    top: 0,
    line: 19,
    height: 19,
  };
  const {texts, boxes, context} = pencil();
  drawLanes(context, {
    ...{width: 1000, height: 100, view: {from: 0, to: 1000}, level: 0, placed: [{row, y: 0, clip: 0}], steps: []},
    ...{pieces: () => [{tile: held, from: 0, to: 1000}], pattern: undefined, colours: {labels: []} as never},
  });
  return {texts, boxes};
}

test("a name is on an event from 34 px on, and gives way in its middle", () => {
  expect(drawn([[0, 33.9]]).texts).toEqual([]);
  expect(drawn([[0, 60]]).texts).toEqual(["a_na…nel"]);
  expect(drawn([[0, 300]]).texts).toEqual(["a_name_of_a_kernel"]);
});

test("events narrower than a pixel are put together: no more boxes than pixels, each where its events are", () => {
  const many = Array.from({length: 5000}, (_, at): [number, number] => [100 + at * 0.1, 100 + at * 0.1 + 0.05]);
  const {boxes} = drawn(many);
  expect(boxes.length).toBeLessThan(20);
  expect(Math.min(...boxes.map(([x = 0]) => x))).toBe(100);
  expect(Math.max(...boxes.map(([x = 0, , width = 0]) => x + width))).toBeCloseTo(600, -1);
  expect(
    drawn([
      [10, 10.1],
      [500, 500.1],
    ]).boxes.map(([x, , width]) => [x, width]),
  ).toEqual([
    [10, 1],
    [500, 1],
  ]);
});

test("names are shortened in the middle", () => {
  expect(shortened("ampere_bf16_gemm_tn", 9)).toBe("ampe…m_tn");
  expect(shortened("short", 9)).toBe("short");
  expect(shortened("short", 1)).toBe("");
});

test("an address says what is shown, and is read as it was written", () => {
  const address = {from: 1200, to: 90_000, op: 7, slice: undefined, range: [1300, 1400] as [number, number], trace: 3};
  expect(written(address)).toBe("#timeline?from=1200&to=90000&op=7&range=1300-1400&trace=3");
  expect(read(written(address))).toEqual(address);
  expect(read("#timeline")).toBeUndefined();
  expect(read("#fixes")).toBeUndefined();
  expect(read("#timeline?from=x&to=1e9&op=--&range=9-2")).toEqual({
    ...{from: undefined, to: undefined, op: undefined, slice: undefined, range: undefined, trace: undefined},
  });
});

test("searches take texts in any case, and regular expressions after re:; what is being typed is none", () => {
  expect(patternOf("GEMM(")?.test("a gemm(")).toBe(true);
  expect(patternOf("re:^gemm")?.test("a gemm")).toBe(false);
  expect(patternOf("re:(?i)^A GEMM")?.test("a gemm")).toBe(true);
  expect(patternOf("re:(")).toBeUndefined();
  expect(patternOf("")).toBeUndefined();
});

test("a flame graph adds calls of one name up, and what a call does itself is its time without those inside", () => {
  const call = (line: number, start: number, end: number, name: string) => ({
    ...{trace: 0, lane: 0, line, start, end, name, kind: "operator", count: 1, busy: end - start, id: -1},
  });
  const flame = flameOf([
    call(1, 10, 30, "b"),
    call(0, 0, 100, "a"),
    call(1, 50, 60, "b"),
    call(2, 12, 20, "c"),
    call(0, 100, 120, "a"),
  ]);
  expect(flame).toMatchObject([{name: "a", total_ns: 120, self_ns: 90}]);
  expect(flame[0]?.children).toMatchObject([
    {name: "b", total_ns: 30, self_ns: 22, children: [{name: "c", total_ns: 8}]},
  ]);
  expect(boxesOf(flame).map(({path, width}) => [path, width])).toEqual([
    ["/a", 1],
    ["/a/b", 0.25],
    ["/a/b/c", 8 / 120],
  ]);
});

test("the sums of a report are over its tiles, cut to the selection", async () => {
  const recording = new Synthetic(2, 3, 40);
  const source = new InlinedSource({overview: recording.overview, tiles: [recording.cut(0, 0, 0, 0, 4e8)]});
  const [from, to] = [1e6, 5e7];
  const {tables, flame} = await source.selection(from, to, 0);
  const operations = tables.find(({name}) => name === "operations");
  const expected = recording.selection(from, to, 0).tables[0];
  expect(operations?.cells.slice(0, 2)).toEqual(expected?.cells);
  expect(tables.map(({name}) => name)).toEqual(["operations", "idle", "calls"]);
  expect(flame[0]?.name).toBe("train.py(41): train_step");
  expect(flame[0]?.total_ns).toBe(to - from);
  expect((await source.selection(from, to, 1)).tables).toEqual([]);
});

test("a report finds events by id and name as far as it holds them", async () => {
  const recording = new Synthetic(2, 3, 40);
  const source = new InlinedSource({overview: recording.overview, tiles: [recording.cut(0, 0, 0, 0, 4e8)]});
  expect(await source.event("gpu_op", 7)).toMatchObject({lane: 4, name: recording.event("gpu_op", 7)?.name});
  expect(await source.event("gpu_op", 10_000)).toBeUndefined();
  const found = await source.search("NCCL");
  expect(found.total).toBe(3 * 5);
  expect(found.hits.every(({name}) => name.includes("nccl"))).toBe(true);
  expect(found.hits.map(({ts_ns}) => ts_ns)).toEqual(found.hits.map(({ts_ns}) => ts_ns).sort((a, b) => a - b));
});

test("lanes that a tile leaves out, or writes without counts and ids, are no mistake", () => {
  const bare = {lane: 1, start: [5], dur: [2], name: [1], kind: [0]};
  const {spans} = tile(0, 0, 9, {lanes: [bare as never, {lane: 2, start: [1], dur: [3], low: [4], high: [5]}]});
  expect(spans.get(1)).toMatchObject({lines: new Uint32Array([0, 1]), count: new Uint32Array([1])});
  expect(spans.get(1)?.id[0]).toBe(-1);
  const empty: LaneInfo[] = [];
  expect(layOut({...overview, traces: [{...overview.traces[0], lanes: empty} as never]}, choice).rows).toEqual([]);
});

test("the slowest step may be the first, at time 0, of the first recording; one that is cut off is not looked at", () => {
  const columns = ["trace", "step", "ts_ns", "dur_ns", "complete"];
  const rows = [
    [0, 0, 0, 900, 1],
    [0, 1, 900, 300, 1],
    [0, 2, 1200, 5000, 0],
  ];
  const table = {rows: rows.length, number: (row: number, name: string) => rows[row]?.[columns.indexOf(name)] ?? null};
  expect(slowestComplete(table)).toEqual({trace: 0, number: 0, ts_ns: 0, dur_ns: 900});
  expect(slowestComplete(undefined)).toBeUndefined();
});
