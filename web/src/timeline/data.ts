// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/style/noNonNullAssertion: places are within their arrays, and a frame has no time to ask
// The parts of a timeline, as the program writes them (in a report and in answers of `gapless serve`), and tiles made
// ready to be drawn. Times are ns since the run's first event. A tile is what lanes hold in a stretch of time at one
// level of detail, at which a pixel is 2^level ns: neighbours shorter than a pixel are one, with how many they are.

export type LaneKind =
  | "steps"
  | "annotations"
  | "device"
  | "idle"
  | "stream"
  | "thread"
  | "calls"
  | "samples"
  | "counter"
  | "memory";

export interface LaneInfo {
  lane: number; // unique in the run
  kind: LaneKind;
  label: string;
  device?: number;
  stream?: number;
  tid?: number;
  depth: number; // lines that it needs
  events: number;
  unit?: string; // unit of a counter
}

export interface TraceInfo {
  trace: number;
  rank: number | null;
  host: string;
  name: string;
  lanes: LaneInfo[];
}

export interface StepSpan {
  trace: number;
  number: number;
  ts_ns: number;
  dur_ns: number;
}

export interface Overview {
  origin_ns: number;
  from_ns: number;
  to_ns: number;
  traces: TraceInfo[];
  steps: StepSpan[];
}

interface WrittenSpans {
  lane: number;
  start: number[];
  dur: number[];
  depth: number[];
  name: number[]; // its place in `names`
  kind: number[]; // its place in `kinds`
  count: number[];
  busy: number[];
  id: number[]; // id of the device's operation or the host's slice; -1: none
}

interface WrittenCurve {
  lane: number;
  start: number[];
  dur: number[];
  low: number[];
  high: number[];
}

export interface WrittenTile {
  level: number;
  at: number;
  from_ns: number;
  to_ns: number;
  names: string[];
  kinds: string[];
  lanes: (WrittenSpans | WrittenCurve)[];
}

/** The part of the timeline that a report holds. */
export interface InlinedTimeline {
  overview: Overview;
  tiles: WrittenTile[];
}

/** The events of a lane in a tile, by line and start. Those of line d are at lines[d] ≤ i < lines[d + 1]. */
export interface Spans {
  start: Float64Array;
  end: Float64Array;
  lines: Uint32Array;
  name: Uint32Array;
  kind: Uint16Array;
  count: Uint32Array;
  busy: Float64Array;
  id: Float64Array;
}

export interface Curve {
  start: Float64Array;
  end: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

export interface Tile {
  level: number;
  from: number;
  to: number;
  names: string[];
  kinds: string[];
  spans: Map<number, Spans>; // lane -> spans
  curves: Map<number, Curve>;
  bytes: number; // about what it takes in memory
}

/** A tile, and the part of time for which it is the one to draw. */
export interface Piece {
  tile: Tile;
  from: number;
  to: number;
}

/** The order of the events: by line, then by start. Undefined where they stand in it already. */
function orderOf(written: WrittenSpans): number[] | undefined {
  const {start, depth = []} = written;
  const lineOf = (at: number) => depth[at] ?? 0;
  const later = (a: number, b: number) => lineOf(a) - lineOf(b) || (start[a] ?? 0) - (start[b] ?? 0);
  const all = start.map((_, at) => at);
  return all.some((at) => at > 0 && later(at - 1, at) > 0) ? all.sort(later) : undefined;
}

function spansOf(written: WrittenSpans): Spans {
  const {start, dur, depth = []} = written;
  const order = orderOf(written);
  const sorted = (values: readonly number[]) => (order ? order.map((at) => values[at] ?? 0) : values);
  const starts = Float64Array.from(sorted(start));
  const end = Float64Array.from(sorted(start.map((time, at) => time + (dur[at] ?? 0))));
  const lines = new Uint32Array(2 + depth.reduce((most, line) => Math.max(most, line), 0));
  for (const line of start.keys()) lines[(depth[line] ?? 0) + 1]! += 1;
  let before = 0;
  lines.forEach((own, line) => {
    before += own;
    lines[line] = before;
  });
  return {
    start: starts,
    end,
    lines,
    name: Uint32Array.from(sorted(written.name)),
    kind: Uint16Array.from(sorted(written.kind)),
    count: Uint32Array.from(sorted(written.count ?? start.map(() => 1))),
    busy: Float64Array.from(sorted(written.busy ?? dur)),
    id: Float64Array.from(sorted(written.id ?? start.map(() => -1))),
  };
}

/** A tile as it is drawn. */
export function tileOf(written: WrittenTile): Tile {
  const tile: Tile = {
    level: written.level,
    from: written.from_ns,
    to: written.to_ns,
    names: written.names,
    kinds: written.kinds,
    spans: new Map(),
    curves: new Map(),
    bytes: 200 + written.names.reduce((sum, name) => sum + 32 + 2 * name.length, 0),
  };
  for (const lane of written.lanes) {
    if ("low" in lane) {
      const end = lane.start.map((time, at) => time + (lane.dur[at] ?? 0));
      const [start, low, high] = [lane.start, lane.low, lane.high].map((values) => Float64Array.from(values));
      if (start && low && high) tile.curves.set(lane.lane, {start, end: Float64Array.from(end), low, high});
      tile.bytes += 32 * end.length;
    } else {
      tile.spans.set(lane.lane, spansOf(lane));
      tile.bytes += 42 * lane.start.length;
    }
  }
  return tile;
}

/** The first place at or after `low` whose event ends after `time`. */
export function firstAfter(ends: Float64Array, time: number, low: number, high: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ends[middle] ?? 0) > time) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Covers the time by tiles: the first of them where it reaches, the next ones in what is left. */
export function covered(tiles: readonly Tile[], from: number, to: number): Piece[] {
  const pieces: Piece[] = [];
  let left = [{from, to}];
  for (const tile of tiles) {
    const rest = [];
    for (const gap of left) {
      const [start, end] = [Math.max(gap.from, tile.from), Math.min(gap.to, tile.to)];
      if (start >= end) {
        rest.push(gap);
        continue;
      }
      pieces.push({tile, from: start, to: end});
      if (gap.from < start) rest.push({from: gap.from, to: start});
      if (end < gap.to) rest.push({from: end, to: gap.to});
    }
    left = rest;
  }
  return pieces.sort((a, b) => a.from - b.from);
}

/** An event as one points to it. */
export interface Event {
  trace: number;
  lane: number;
  line: number;
  start: number;
  end: number;
  name: string;
  kind: string;
  count: number;
  busy: number;
  id: number;
}

/** The event at a place of a lane in a tile. */
export function eventOf(tile: Tile, trace: number, lane: number, spans: Spans, line: number, at: number): Event {
  return {
    trace,
    lane,
    line,
    start: spans.start[at] ?? 0,
    end: spans.end[at] ?? 0,
    name: tile.names[spans.name[at] ?? 0] ?? "",
    kind: tile.kinds[spans.kind[at] ?? 0] ?? "",
    count: spans.count[at] ?? 1,
    busy: spans.busy[at] ?? 0,
    id: spans.id[at] ?? -1,
  };
}

/** Calls `found` with each event of a lane that meets the stretch of time, once, line by line. */
export function eachEvent(
  pieces: readonly Piece[],
  lane: number,
  from: number,
  to: number,
  found: (tile: Tile, spans: Spans, line: number, at: number) => void,
): void {
  pieces.forEach((piece, place) => {
    const spans = piece.tile.spans.get(lane);
    if (!spans) return;
    const [start, end] = [Math.max(from, piece.from), Math.min(to, piece.to)];
    for (let line = 0; line + 1 < spans.lines.length; ++line) {
      const high = spans.lines[line + 1] ?? 0;
      for (let at = firstAfter(spans.end, start, spans.lines[line] ?? 0, high); at < high; ++at) {
        const starts = spans.start[at] ?? 0;
        if (starts >= end) break;
        if (place === 0 || starts >= piece.from) found(piece.tile, spans, line, at); // else the piece before had it
      }
    }
  });
}

/** Operations of devices and slices of the host are numbered apart. */
export function idKindOf(kind: LaneKind): "gpu_op" | "slice" {
  return kind === "stream" || kind === "device" || kind === "idle" ? "gpu_op" : "slice";
}

export function traceName(trace: TraceInfo): string {
  return trace.rank === null ? trace.name || `trace ${trace.trace}` : `rank ${trace.rank}`;
}

/** The slowest of the steps. */
export function slowestOf(steps: readonly StepSpan[]): StepSpan | undefined {
  return steps.reduce<StepSpan | undefined>(
    (most, step) => (!most || step.dur_ns > most.dur_ns ? step : most),
    undefined,
  );
}

/** The part of a table of the page that is needed here. */
interface Steps {
  rows: number;
  number(row: number, name: string): number | null;
}

/** The slowest of the complete steps, as the analysis counts them: until the device is done, too. */
export function slowestComplete(table: Steps | undefined): StepSpan | undefined {
  const steps: StepSpan[] = [];
  for (let row = 0; table && row < table.rows; ++row) {
    const [trace, step, ts_ns, dur_ns, complete] = ["trace", "step", "ts_ns", "dur_ns", "complete"].map((name) =>
      table.number(row, name),
    );
    if (complete && typeof trace === "number" && typeof step === "number" && typeof ts_ns === "number" && dur_ns)
      steps.push({trace, number: step, ts_ns, dur_ns}); // the first may begin at 0
  }
  return slowestOf(steps);
}
