// SPDX-License-Identifier: Apache-2.0
// Lays lanes out as rows: ranks that open and close, a closed one shows what its device did; pinned lanes stay on top.
import {type LaneInfo, type LaneKind, type Overview, type TraceInfo, traceName} from "./data";

export interface Row {
  key: string;
  kind: "rank" | "lane";
  label: string;
  title: string;
  trace: TraceInfo;
  /** Drawn in it: a lane, or the devices of a closed rank. */
  lanes: LaneInfo[];
  top: number;
  line: number; // height of a line of a lane
  height: number;
}

export interface Choice {
  open: ReadonlySet<number>; // traces
  pinned: ReadonlySet<number>; // lanes
  hidden: ReadonlySet<number>; // lanes
  filter: string;
}

export interface Layout {
  pinned: Row[];
  pinnedHeight: number;
  rows: Row[];
  height: number; // height of `rows`
  hidden: number; // lanes that are hidden or do not match
}

const LINE: Record<LaneKind, number> = {
  steps: 16,
  annotations: 15,
  device: 14,
  idle: 14,
  stream: 19,
  thread: 15,
  calls: 15,
  samples: 15,
  counter: 40,
  memory: 40,
};
const RANK = 22;
const GAP = 4;
const MOST_DEVICES = 4; // lines of a closed rank
const MOST_LINES = 64; // rows of a thread
const MOST_PINNED = 0.4; // share of the height in sight

export const NOTHING: Layout = {pinned: [], pinnedHeight: 0, rows: [], height: 0, hidden: 0};

export function isCurve(lane: LaneInfo): boolean {
  return lane.kind === "counter" || lane.kind === "memory";
}

function laneRow(trace: TraceInfo, lane: LaneInfo, top: number, named: boolean): Row {
  const line = LINE[lane.kind] ?? 15;
  const lines = isCurve(lane) ? 1 : Math.min(MOST_LINES, Math.max(1, lane.depth));
  const whose = named ? `${traceName(trace)} · ` : "";
  const title = `${traceName(trace)}, ${lane.label}${lane.tid === undefined ? "" : `, thread ${lane.tid}`}`;
  const key = `${named ? "pin" : "lane"}${lane.lane}`;
  return {key, kind: "lane", label: whose + lane.label, title, trace, lanes: [lane], top, line, height: lines * line};
}

/** The lanes that a closed rank shows: its devices; without one what its first thread does. */
function summary(trace: TraceInfo): LaneInfo[] {
  const devices = trace.lanes.filter(({kind}) => kind === "device").slice(0, MOST_DEVICES);
  if (devices.length > 0) return devices;
  return trace.lanes.filter(({kind}) => kind === "stream" || kind === "thread").slice(0, 1);
}

function rankRow(trace: TraceInfo, open: boolean, top: number): Row {
  const label = traceName(trace);
  const title = trace.host ? `${label} on ${trace.host}` : label;
  const lanes = open ? [] : summary(trace);
  const line = lanes.length > 1 ? LINE.device : RANK - GAP;
  const height = Math.max(RANK - GAP, lanes.length * line);
  return {key: `rank${trace.trace}`, kind: "rank", label, title, trace, lanes, top, line, height};
}

/** The lanes of a trace that match the filter; all, where its own name does. */
function matching(trace: TraceInfo, {hidden, filter}: Choice): LaneInfo[] {
  const text = filter.trim().toLowerCase();
  const has = (name: string) => name.toLowerCase().includes(text);
  const all = has(traceName(trace)) || has(trace.host) || has(trace.name);
  return trace.lanes.filter((lane) => !hidden.has(lane.lane) && (all || has(lane.label) || has(lane.kind)));
}

export function layOut(overview: Overview, choice: Choice): Layout {
  const layout: Layout = {pinned: [], pinnedHeight: 0, rows: [], height: GAP - 1, hidden: 0};
  const several = overview.traces.length > 1;
  for (const trace of overview.traces) {
    for (const lane of trace.lanes.filter(({lane}) => choice.pinned.has(lane))) {
      layout.pinned.push(laneRow(trace, lane, layout.pinnedHeight, several));
      layout.pinnedHeight += (layout.pinned.at(-1)?.height ?? 0) + GAP;
    }
    const lanes = matching(trace, choice);
    layout.hidden += trace.lanes.length - lanes.length;
    if (lanes.length === 0) continue;
    const some = choice.filter.trim() !== "" && lanes.length < trace.lanes.length;
    const open = !several || choice.open.has(trace.trace) || some;
    const add = (row: Row) => {
      layout.rows.push(row);
      layout.height += row.height + GAP;
    };
    if (several) add(rankRow(trace, open, layout.height));
    if (open) for (const lane of lanes) add(laneRow(trace, lane, layout.height, false));
  }
  return layout;
}

export interface Placed {
  row: Row;
  y: number; // in the canvas
  clip: number; // nothing of it is above
}

/** The rows that are in sight, each with its place: only these are drawn, however many there are. */
export function inSight(layout: Layout, scroll: number, height: number): Placed[] {
  const top = pinnedHeight(layout, height);
  const placed: Placed[] = layout.pinned.filter((row) => row.top < top).map((row) => ({row, y: row.top, clip: 0}));
  let [low, high] = [0, layout.rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = layout.rows[middle];
    if (row && row.top + row.height > scroll) high = middle;
    else low = middle + 1;
  }
  for (let at = low; at < layout.rows.length; ++at) {
    const row = layout.rows[at];
    if (!row || row.top - scroll >= height - top) break;
    placed.push({row, y: top + row.top - scroll, clip: top});
  }
  return placed;
}

/** Pinned lanes leave room for others. */
export function pinnedHeight(layout: Layout, height: number): number {
  return Math.min(layout.pinnedHeight, Math.floor(height * MOST_PINNED));
}
