// SPDX-License-Identifier: Apache-2.0
// Written by `gapless docs`: the types of `gapless trend --json`. A key that may be missing is optional; a missing
// value is never 0.

export interface TrendStep {
  /** index of the first run after the change [count] */
  index: number;
  /** lower end of the interval of the index [count] */
  first: number;
  /** upper end of the interval [count] */
  last: number;
  /** improvement, regression or change */
  kind: string;
  /** level before */
  before: number;
  /** level afterwards */
  after: number;
  /** fraction of the level before */
  relative_change?: number;
  /** when the run was made */
  timestamp?: string;
  /** commit of the run */
  commit_sha?: string;
  /** the commits that may have brought it follow this one */
  commits_after?: string;
  /** the last of them */
  commits_up_to?: string;
  /** both levels are of one commit */
  within_one_commit?: boolean;
  /** other metrics that changed then */
  also_changed?: string[];
}

export interface TrendLevel {
  /** index of the first run [count] */
  begin: number;
  /** index after the last run [count] */
  end: number;
  /** level of these runs */
  value: number;
}

export interface TrendDrifts {
  /** the last level drifts by enough to report it */
  drifts: boolean;
  /** improvement, regression or change */
  kind?: string;
  /** drift over the level, as a fraction */
  share?: number;
  /** change a run */
  slope: number;
  /** lower end of the interval of the slope */
  low?: number;
  /** upper end of the interval */
  high?: number;
  /** slope as a fraction of the level */
  relative?: number;
}

export interface TrendOfMetric {
  /** name of the metric */
  metric: string;
  /** its unit */
  unit?: string;
  /** direction of the metric */
  higher_is_better?: boolean;
  /** runs with a value [count] */
  runs: number;
  /** runs left out: their unit differs [count] */
  other_units?: number;
  /** value of the last run */
  last: number;
  /** time of the first run */
  since?: string;
  /** time of the last run */
  until?: string;
  /** where the level changed */
  changes: TrendStep[];
  /** the levels between changes */
  levels: TrendLevel[];
  /** slow change within the last level */
  drift?: TrendDrifts;
}

export interface TrendResult {
  gapless: {version: string; schema: number; schema_version: number; command: string};
  /** file or database */
  history: string;
  /** branch that was looked at */
  branch?: string;
  /** label of the benchmark */
  benchmark?: string;
  /** runs that were looked at [count] */
  runs?: number;
  /** runs left out: of other benchmarks [count] */
  other_benchmarks?: number;
  /** runs left out: on other machines [count] */
  other_machines?: number;
  /** each metric over the runs */
  metrics: TrendOfMetric[];
  warnings: string[];
}
