// SPDX-License-Identifier: Apache-2.0
// The data of a run as the program inlines it (src/report/renderers/html.cc writes it): the document of
// `gapless analyze --json`, whose types `gapless docs` writes, and tables of analyses. Absent is a missing key or null,
// never 0.

import type {Analyze} from "schema/analyze";
import type {EnergyReport} from "schema/report";
import type {InlinedTimeline} from "./timeline/data";

export type {
  Amount,
  Analyze,
  Combination as Together,
  DeviceBreakdown,
  Error as Failure,
  Evidence,
  Gain,
  HostBreakdown,
  ListedBottleneck as Bottleneck,
  PlanStep,
  Recommendation,
} from "schema/analyze";

/** A step as lanes of [start, duration, what it is spent on], in ns since it began. */
export interface StepPicture {
  dur_ns: number;
  lanes: {name: string; spans: [number, number, string][]}[];
}

/** The length of a step as one kernel gets cheaper: points of [its cost, the step], both as shares of now. */
export interface SweptPart {
  name: string;
  time_ns: number;
  points: [number, number][];
}

export interface Predicted {
  before: StepPicture;
  after: StepPicture;
  sweep: SweptPart[];
}

/** The critical path of the main rank: pairs of a name and its time, by what it is spent on and by kind of owner. */
export interface CriticalPath {
  total_ns: number;
  bounds: [string, number][];
  owners: Record<string, [string, number][]>;
}

export type Cell = number | string | null;

export interface Column {
  name: string;
  type: "int" | "real" | "text";
  unit: string;
  help: string;
}

interface InlinedPath {
  total_ns: number;
  bounds: [number, number][]; // names are places in `texts`
  owners: Record<string, [number, number][]>;
}

interface InlinedTable {
  name: string;
  help: string;
  rows: number; // that the table has; fewer may be here
  sort?: string; // the column that says how much
  columns: Column[];
  cells: Cell[][]; // columns; a text is its place in `texts`, or itself
}

/** Facts that the terminal says too: whose recording, and what to know about it. */
export interface Page {
  subject: string;
  path: string; // as a word of a shell
  advice?: string; // how to record more
  query: string; // what to type next
  recordings?: number; // of a job of many ranks, of which only those that are drawn are listed
  events?: number; // of all of them
  facts: string[];
  notes: {severity: "info" | "loss" | "error"; text: string}[];
}

/** The ranks' places in one dimension of the job, by device: the place in their group, and which group that is. */
export interface RankDimension {
  name: string;
  place: (number | null)[];
  group: (number | null)[];
}

/** The time of every device of a large job in every step, packed (src/report/rank_map.h). */
export interface PackedRankMap {
  ranks: (number | null)[]; // by device, as the following
  devices: number[];
  hosts: string[];
  host_of: (number | null)[];
  steps: number[];
  all_devices: number;
  all_steps: number;
  columns: {name: string; unit_ns: number; cells: string}[]; // base64 of 16-bit numbers, by device, then by step
  layout?: RankDimension[]; // none where ranks have the same place in all
}

/** A page that `gapless serve` shows, which has more to give than is inlined. */
export interface Served {
  run: string; // its id in the routes
  several?: boolean; // other runs are served beside it
  gauges?: boolean; // utilisation, memory or power of a GPU over time were recorded
}

export interface Inlined {
  page: Page;
  analyze: Analyze;
  predicted?: Predicted;
  path?: InlinedPath;
  energy?: EnergyReport; // where the power of the GPUs is known
  rank_map?: PackedRankMap;
  timeline?: InlinedTimeline;
  served?: Served;
  texts: string[];
  tables: InlinedTable[];
}

/** A table of an analysis: typed, named columns. */
export class Table {
  readonly name: string;
  readonly help: string;
  readonly columns: readonly Column[];
  /** The column that says how much, to sort by. */
  readonly sort: string | undefined;
  /** Rows that are here. */
  readonly rows: number;
  /** Rows that the analysis gave; more than `rows` when the report holds only the first. */
  readonly allRows: number;
  private readonly cells: readonly (readonly Cell[])[];
  private readonly places: ReadonlyMap<string, number>;

  constructor(inlined: InlinedTable, texts: readonly string[]) {
    this.name = inlined.name;
    this.help = inlined.help;
    this.columns = inlined.columns;
    this.sort = inlined.sort;
    this.allRows = inlined.rows;
    this.cells = inlined.columns.map((column, at) => {
      const cells = inlined.cells[at] ?? [];
      return column.type === "text"
        ? cells.map((cell) => (typeof cell === "number" ? (texts[cell] ?? null) : cell))
        : cells;
    });
    this.rows = this.cells[0]?.length ?? 0;
    this.places = new Map(inlined.columns.map((column, at) => [column.name, at]));
  }

  at(row: number, column: number): Cell {
    return this.cells[column]?.[row] ?? null;
  }

  column(name: string): readonly Cell[] {
    const place = this.places.get(name);
    return place === undefined ? [] : (this.cells[place] ?? []);
  }

  number(row: number, name: string): number | null {
    const cell = this.column(name)[row];
    return typeof cell === "number" ? cell : null;
  }

  text(row: number, name: string): string {
    const cell = this.column(name)[row];
    return typeof cell === "string" ? cell : "";
  }
}

export interface Data {
  timeline?: InlinedTimeline | undefined;
  served?: Served | undefined;
  rankMap?: PackedRankMap | undefined;
  page: Page;
  analyze: Analyze;
  predicted?: Predicted | undefined;
  path?: CriticalPath | undefined;
  energy?: EnergyReport | undefined;
  tables: Map<string, Table>;
}

function pathOf(inlined: InlinedPath, texts: readonly string[]): CriticalPath {
  const named = (pairs: [number, number][]) => pairs.map(([place, ns]): [string, number] => [texts[place] ?? "", ns]);
  const owners = Object.entries(inlined.owners).map(([owner, pairs]) => [owner, named(pairs)]);
  return {total_ns: inlined.total_ns, bounds: named(inlined.bounds), owners: Object.fromEntries(owners)};
}

export function decode(inlined: Inlined): Data {
  const tables = inlined.tables.map((table) => new Table(table, inlined.texts));
  return {
    page: inlined.page,
    analyze: inlined.analyze,
    predicted: inlined.predicted,
    path: inlined.path && pathOf(inlined.path, inlined.texts),
    energy: inlined.energy,
    rankMap: inlined.rank_map,
    timeline: inlined.timeline,
    served: inlined.served && {...inlined.served, run: String(inlined.served.run ?? "0")},
    tables: new Map(tables.map((table) => [table.name, table])),
  };
}
