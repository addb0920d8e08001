// SPDX-License-Identifier: Apache-2.0
// The timeline that a report holds: its tiles are all there is. Sums and searches are over them, so events that a tile
// merged count as one.
import type {Column} from "../data";
import {
  covered,
  type Event,
  eachEvent,
  eventOf,
  type InlinedTimeline,
  idKindOf,
  type LaneInfo,
  type Tile,
  tileOf,
} from "./data";
import {type EventInfo, type Flame, type Found, patternOf, type Selection, type Source, type Sums} from "./source";

const MOST_HITS = 500;

const COLUMNS: Column[] = [
  {name: "name", type: "text", unit: "", help: "its name; of several that are one here: the longest"},
  {name: "total_ns", type: "int", unit: "ns", help: "its time within the selection"},
  {name: "count", type: "int", unit: "", help: "how many; short neighbours that are one here count as one"},
];

function sumsOf(name: string, help: string, events: readonly Event[], of: (event: Event) => string): Sums | undefined {
  const sums = new Map<string, {total: number; count: number}>();
  for (const event of events) {
    const sum = sums.get(of(event)) ?? {total: 0, count: 0};
    sums.set(of(event), sum);
    sum.total += event.end - event.start;
    sum.count += 1;
  }
  if (sums.size === 0) return undefined;
  const rows = [...sums].sort((a, b) => b[1].total - a[1].total);
  const cells = [
    rows.map(([key]) => key),
    rows.map(([, sum]) => Math.round(sum.total)),
    rows.map(([, sum]) => sum.count),
  ];
  return {name, help, columns: COLUMNS, cells};
}

/** The calls of one thread as a tree of names. */
export function flameOf(events: readonly Event[], into: Flame[] = []): Flame[] {
  let above: {event: Event; node: Flame}[] = [];
  let line: {event: Event; node: Flame}[] = [];
  let at = 0;
  let depth = 0;
  for (const event of [...events].sort((a, b) => a.line - b.line || a.start - b.start)) {
    if (event.line !== depth) {
      above = event.line === depth + 1 ? line : [];
      line = [];
      at = 0;
      depth = event.line;
    }
    while (at < above.length && (above[at]?.event.end ?? 0) <= event.start) at += 1;
    const around = above[at];
    const parent = around && around.event.start <= event.start ? around.node : undefined;
    const length = event.end - event.start;
    const siblings = parent ? parent.children : into;
    let node = siblings.find(({name}) => name === event.name);
    if (!node) {
      node = {name: event.name, kind: event.kind, total_ns: 0, self_ns: 0, children: []};
      siblings.push(node);
    }
    node.total_ns += length;
    node.self_ns += length;
    if (parent) parent.self_ns = Math.max(0, parent.self_ns - length);
    line.push({event, node});
  }
  return into;
}

export class InlinedSource implements Source {
  readonly served = false;
  readonly overview;
  private readonly lanes = new Map<number, {trace: number; info: LaneInfo}>();
  private readonly tiles = new Map<number, Tile[]>(); // trace -> tiles, the finest first

  constructor(inlined: InlinedTimeline) {
    this.overview = inlined.overview;
    for (const {trace, lanes} of inlined.overview.traces)
      for (const info of lanes) this.lanes.set(info.lane, {trace, info});
    const tiles = inlined.tiles.map(tileOf).sort((a, b) => a.level - b.level);
    for (const tile of tiles) {
      const lanes = [...tile.spans.keys(), ...tile.curves.keys()];
      for (const trace of new Set(lanes.map((lane) => this.lanes.get(lane)?.trace ?? -1)))
        this.tiles.set(trace, [...(this.tiles.get(trace) ?? []), tile]);
    }
  }

  pieces(trace: number, from: number, to: number) {
    return covered(this.tiles.get(trace) ?? [], from, to);
  }

  want() {}

  isLoading() {
    return false;
  }

  problem() {
    return "";
  }

  onChange() {}

  private *all(from: number, to: number, of?: number): Generator<{info: LaneInfo; events: Event[]}> {
    for (const [lane, {trace, info}] of this.lanes) {
      if (of !== undefined && of !== trace) continue;
      const events: Event[] = [];
      eachEvent(this.pieces(trace, from, to), lane, from, to, (tile, spans, line, at) =>
        events.push(eventOf(tile, trace, lane, spans, line, at)),
      );
      yield {info, events};
    }
  }

  async event(kind: "gpu_op" | "slice", id: number): Promise<EventInfo | undefined> {
    for (const [lane, {trace, info}] of this.lanes) {
      if (idKindOf(info.kind) !== kind || info.kind === "device" || info.kind === "idle") continue;
      for (const tile of this.tiles.get(trace) ?? []) {
        const spans = tile.spans.get(lane);
        const at = spans?.id.indexOf(id) ?? -1;
        if (!spans || at < 0) continue;
        const {name, start, end, count, busy, kind: of} = eventOf(tile, trace, lane, spans, 0, at);
        const details: EventInfo["details"] = [{name: "class", value: of}];
        if (count > 1)
          details.push({name: "short ones together", value: count}, {name: "busy_ns", value: busy, unit: "ns"});
        return {kind, id, trace, lane, name, ts_ns: start, dur_ns: end - start, details, links: []};
      }
    }
    return undefined;
  }

  async selection(from: number, to: number, trace: number): Promise<Selection> {
    const cut = (events: Event[]) =>
      events.map((event) => ({...event, start: Math.max(from, event.start), end: Math.min(to, event.end)}));
    const [operations, idle, calls]: [Event[], Event[], Event[]] = [[], [], []];
    const flame: Flame[] = [];
    for (const {info, events} of this.all(from, to, trace)) {
      const clipped = cut(events);
      if (info.kind === "stream") operations.push(...clipped);
      if (info.kind === "idle") idle.push(...clipped);
      if (info.kind !== "thread") continue;
      calls.push(...clipped);
      flameOf(clipped, flame);
    }
    const tables = [
      sumsOf("operations", "what the device ran, by name", operations, ({name}) => name),
      sumsOf("idle", "why the device waited", idle, ({kind}) => kind),
      sumsOf("calls", "what the host called, by name, with what it called in turn", calls, ({name}) => name),
    ].filter((table) => table !== undefined);
    return {tables, flame};
  }

  async search(text: string): Promise<Found> {
    const pattern = patternOf(text);
    const found: Found = {total: 0, hits: []};
    if (!pattern) return found;
    for (const {info, events} of this.all(this.overview.from_ns, this.overview.to_ns)) {
      if (info.kind === "device" || info.kind === "idle") continue; // they repeat what the streams have
      for (const {trace, lane, start, end, id, name} of events) {
        if (!pattern.test(name)) continue;
        found.hits.push({trace, lane, kind: idKindOf(info.kind), id, name, ts_ns: start, dur_ns: end - start});
      }
    }
    found.total = found.hits.length;
    found.hits = found.hits.sort((a, b) => a.ts_ns - b.ts_ns).slice(0, MOST_HITS);
    return found;
  }
}
