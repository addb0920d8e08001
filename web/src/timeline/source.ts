// SPDX-License-Identifier: Apache-2.0
// The origin of a timeline: the report itself, or the server that shows the recording.
import type {Cell, Column} from "../data";
import type {Overview, Piece} from "./data";

export interface Link {
  what: string; // "launched by", "launched", "same collective", "waited for"
  kind: "gpu_op" | "slice";
  id: number;
  trace: number;
  lane: number;
  ts_ns: number;
  dur_ns: number;
  name: string;
}

export interface EventInfo {
  kind: string;
  id: number;
  trace: number;
  lane: number;
  name: string;
  ts_ns: number;
  dur_ns: number;
  details: {name: string; value: Cell; unit?: string; help?: string}[];
  links: Link[];
}

export interface Flame {
  name: string;
  kind: string;
  total_ns: number;
  self_ns: number;
  children: Flame[];
}

export interface Sums {
  name: string;
  help: string;
  columns: Column[];
  cells: Cell[][]; // columns
}

export interface Selection {
  tables: Sums[];
  flame: Flame[];
}

export interface Hit {
  trace: number;
  lane: number;
  kind: string;
  id: number;
  name: string;
  ts_ns: number;
  dur_ns: number;
}

export interface Found {
  total: number;
  hits: Hit[];
}

/** Traces that are seen, for how long, and how closely. */
export interface Seen {
  traces: readonly number[];
  from: number;
  to: number;
  level: number;
}

export interface Source {
  readonly served: boolean;
  readonly overview: Overview;
  /** The best tiles that are here for the trace in this stretch, without gaps where there is anything. */
  pieces(trace: number, from: number, to: number, level: number): readonly Piece[];
  /** Says what is seen, the most urgent first, so that it comes; what is asked for no more is left. */
  want(seen: readonly Seen[]): void;
  /** True as long as something that is wanted is on its way. */
  isLoading(): boolean;
  /** The last thing that went wrong; empty: nothing. */
  problem(): string;
  /** Called when tiles came. */
  onChange(changed: () => void): void;
  /** An event by its id; undefined where the source does not have it. */
  event(kind: "gpu_op" | "slice", id: number): Promise<EventInfo | undefined>;
  selection(from: number, to: number, trace: number): Promise<Selection>;
  search(text: string): Promise<Found>;
}

/** The pattern of a search: a text in any case, or a regular expression after "re:". Undefined: it is none. */
export function patternOf(text: string): RegExp | undefined {
  try {
    const [, any, pattern] = text.match(/^re:(\(\?i\))?(.*)$/s) ?? []; // (?i): in any case, as the server takes it
    if (pattern !== undefined) return pattern ? new RegExp(pattern, any ? "i" : "") : undefined;
    return text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i") : undefined;
  } catch {
    return undefined; // it is still being typed
  }
}
