// SPDX-License-Identifier: Apache-2.0
// Lays the rows of table slowest_step out as lanes: per rank the idle gaps and streams of its devices, and for one rank the
// calls of its host threads, one line per depth.
import type {Table} from "../data";

export interface Lane {
  label: string;
  title: string;
  kind: "rank" | "idle" | "gpu" | "host";
  top: number;
  height: number; // height of all its lines
}

export interface Box {
  row: number;
  start: number; // ns since `Layout.start`
  end: number;
  top: number;
  height: number;
}

export interface Layout {
  start: number; // ns of the run: the earliest start of the windows shown
  end: number; // ns since `start`
  step: number | null;
  lanes: Lane[];
  boxes: Box[];
  height: number;
  hidden: number; // lanes for which there is no room
}

const HEIGHT = {rank: 22, idle: 16, gpu: 20, host: 15} as const;
const GAP = 5;
const MAX_DEPTHS = 9; // depths of a host thread; deeper calls are in table slowest_step
const MAX_THREADS = 6;
const MAX_LANES = 120;

function keyOf(table: Table, row: number): string {
  const cells = ["trace", "lane", "device", "stream", "tid"].map((name) => table.column(name)[row] ?? "");
  return cells.join("|");
}

function rankName(table: Table, row: number): string {
  const rank = table.number(row, "rank");
  return rank === null ? `trace ${table.number(row, "trace")}` : `rank ${rank}`;
}

function labelOf(table: Table, row: number): {label: string; title: string} {
  switch (table.text(row, "lane")) {
    case "idle":
      return {label: `GPU ${table.number(row, "device")} idle`, title: "no operation runs on any stream"};
    case "gpu": {
      const label = `GPU ${table.number(row, "device")} stream ${table.number(row, "stream")}`;
      return {label, title: label};
    }
    default: {
      const label = table.text(row, "thread") || `thread ${table.number(row, "tid")}`;
      return {label, title: `${label}, thread ${table.number(row, "tid")}`};
    }
  }
}

/** Traces in the order of the table, each with its rows in the order of their lanes. */
function rowsByTrace(table: Table): Map<number, Map<string, number[]>> {
  const traces = new Map<number, Map<string, number[]>>();
  for (let row = 0; row < table.rows; ++row) {
    const trace = table.number(row, "trace") ?? 0;
    const lanes = traces.get(trace) ?? new Map<string, number[]>();
    traces.set(trace, lanes);
    const key = keyOf(table, row);
    const rows = lanes.get(key);
    if (rows) rows.push(row);
    else lanes.set(key, [row]);
  }
  return traces;
}

/** `hostOf`: the trace whose host threads are shown. */
export function layOut(table: Table, hostOf: number): Layout {
  const traces = rowsByTrace(table);
  const steps = [...Array(table.rows).keys()].filter((row) => table.text(row, "lane") === "step");
  const start = Math.min(...steps.map((row) => table.number(row, "ts_ns") ?? 0));
  const end = Math.max(...steps.map((row) => (table.number(row, "ts_ns") ?? 0) + (table.number(row, "dur_ns") ?? 0)));
  const layout: Layout = {
    start,
    end: end - start,
    step: table.number(steps[0] ?? 0, "step"),
    lanes: [],
    boxes: [],
    height: 0,
    hidden: 0,
  };
  const add = (kind: Lane["kind"], label: string, title: string, lines: number): number => {
    const top = layout.height;
    layout.lanes.push({label, title, kind, top, height: HEIGHT[kind] * lines});
    layout.height += HEIGHT[kind] * lines + GAP;
    return top;
  };
  for (const [trace, lanes] of traces) {
    let threads = 0;
    for (const rows of lanes.values()) {
      const first = rows[0] ?? 0;
      const lane = table.text(first, "lane");
      if (lane === "step") {
        if (traces.size > 1) add("rank", rankName(table, first), rankName(table, first), 1);
        continue;
      }
      if (lane === "host" && trace !== hostOf) continue;
      if ((lane === "host" && ++threads > MAX_THREADS) || layout.lanes.length >= MAX_LANES) {
        layout.hidden += 1;
        continue;
      }
      const kind = lane as "idle" | "gpu" | "host";
      const shown = rows.filter((row) => (table.number(row, "depth") ?? 0) < MAX_DEPTHS);
      const depths = 1 + shown.reduce((most, row) => Math.max(most, table.number(row, "depth") ?? 0), 0);
      const {label, title} = labelOf(table, first);
      const top = add(kind, label, title, depths);
      for (const row of shown) {
        const at = (table.number(row, "ts_ns") ?? 0) - start;
        const line = top + (table.number(row, "depth") ?? 0) * HEIGHT[kind];
        const until = at + (table.number(row, "dur_ns") ?? 0);
        layout.boxes.push({row, start: at, end: until, top: line, height: HEIGHT[kind] - 1});
      }
    }
  }
  return layout;
}
