// SPDX-License-Identifier: Apache-2.0
// The data of a run as the program inlines it (src/report/renderers/html.cc writes it): the document of
// `gapless analyze --json` and tables of analyses. Absent is a missing key or null, never 0.

export interface Gain {
  low: number;
  expected: number;
  high: number;
  confidence?: number;
  method?: string;
  /** On how many programs such fixes were tested on a machine like this one; missing: not asked. */
  tested_programs?: number;
}

export interface Amount {
  money?: number;
  kwh?: number;
  carbon_kg?: number;
}

export interface Evidence {
  text: string;
  value?: number;
  unit?: string;
  table?: string;
  rows?: number[];
  source?: string;
}

export interface Recommendation {
  text: string;
  fix?: string;
  code?: string;
  effort?: string;
}

export interface Bottleneck {
  id: string;
  type: string;
  severity: number;
  title: string;
  description: string;
  share_of_step?: number;
  part_of?: string;
  evidence: Evidence[];
  recommendations: Recommendation[];
  gain?: Gain;
  /** The bottleneck whose fix cures this one, too: it has no gain of its own. */
  cured_by?: string;
  /** Of the recorded step, what is left when all above it is fixed. */
  step_left: number;
  /** What its fix does beside the time at stake. */
  also?: string;
  /** Its fix changes the training: a choice beside the plan. */
  apart?: boolean;
  saving_per_month?: {low: Amount; expected: Amount; high: Amount};
}

export interface DeviceBreakdown {
  trace: number;
  rank?: number;
  device: number;
  device_name?: string;
  wall_ns: number;
  compute_ns: number;
  exposed_comm_ns: number;
  exposed_copy_ns: number;
  idle_ns: number;
  idle_data_ns: number;
  idle_launch_ns: number;
  idle_sync_ns: number;
  idle_host_ns: number;
  idle_unknown_ns: number;
}

export interface Failure {
  message: string;
  place?: string;
  hint?: string;
}

/** A place in the plan: a fix, after those before it, and all up to it. */
export interface PlanStep {
  bottleneck: string;
  fix?: string;
  cures: string[];
  gain: Gain;
  so_far: Gain;
}

/** What the whole plan buys. */
export interface Together {
  bottlenecks: string[];
  fixes: string[];
  gain: Gain;
  /** Of `fixes`, which are those that can be replayed. */
  replayed?: Gain;
  estimated: string[];
  left_out: string[];
  untested: string[];
}

/** A step as lanes of [start, duration, what it is spent on], in ns since it began. */
export interface StepPicture {
  dur_ns: number;
  lanes: {name: string; spans: [number, number, string][]}[];
}

/** What a step takes as one kernel gets cheaper: points of [its cost, the step], both as shares of now. */
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

export interface Analyze {
  gapless: {version: string; schema: number};
  run: {
    ranks: number[];
    steps?: number;
    step_ns?: {median: number; p50: number; p95: number; p99: number};
    mean_step_ns?: number;
    gpu_busy_share?: number;
    workload?: string;
    class?: string;
    limit?: string;
    class_evidence?: string;
    matrix_time_share?: number;
    matrix_unit_share?: number;
    pageable_share?: number;
    mfu?: number;
    mfu_coverage?: number;
    scaling?: {devices: number; step_ns?: number; efficiency: number; estimated: boolean};
  };
  breakdown?: DeviceBreakdown[];
  bottlenecks: Bottleneck[];
  plan: PlanStep[];
  estimated_speedup?: Gain;
  together?: Together;
  cost?: {
    gpus: number;
    hours_per_month: number;
    watts_per_gpu?: number;
    watts_source?: string;
    step?: Amount;
    epoch?: Amount;
    month: Amount;
  };
  traces: {
    trace: number;
    rank?: number;
    execution: number;
    role: string;
    format: string;
    path: string;
    dur_ns: number;
    event_count: number;
  }[];
  read_stats: {
    trace: number;
    rank?: number;
    kind: string;
    severity: "info" | "loss" | "error";
    count: number;
    first_offset?: number;
    text: string;
  }[];
  failures?: Failure[];
  failed_rules?: {rule: string; message: string}[];
}

export type Cell = number | string | null;

export interface Column {
  name: string;
  type: "int" | "real" | "text";
  unit: string;
  help: string;
}

interface InlinedTable {
  name: string;
  help: string;
  rows: number; // that the table has; fewer may be here
  sort?: string; // the column that says how much
  columns: Column[];
  cells: (number | null)[][]; // by column; a text is its place in `texts`
}

/** What the terminal says too: whose recording, and what to know about it. */
export interface Page {
  subject: string;
  path: string; // as a word of a shell
  advice?: string; // how to record more
  query: string; // what to type next
  facts: string[];
  notes: {severity: "info" | "loss" | "error"; text: string}[];
}

export interface Inlined {
  page: Page;
  analyze: Analyze;
  predicted?: Predicted;
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
      return column.type === "text" ? cells.map((cell) => (cell === null ? null : (texts[cell] ?? null))) : cells;
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
  page: Page;
  analyze: Analyze;
  predicted?: Predicted | undefined;
  tables: Map<string, Table>;
}

export function decode(inlined: Inlined): Data {
  const tables = inlined.tables.map((table) => new Table(table, inlined.texts));
  return {
    page: inlined.page,
    analyze: inlined.analyze,
    predicted: inlined.predicted,
    tables: new Map(tables.map((table) => [table.name, table])),
  };
}
