// SPDX-License-Identifier: Apache-2.0
// The trends of a history as the program inlines them (src/cli/commands/trend/page.cc writes them). Texts are made there;
// values are in the unit that is shown. A run is meant by its place, from 0. Absent is a missing key or null.

export type Kind = "improvement" | "regression" | "change";

export interface Runs {
  times: (number | null)[]; // Unix time in ms
  commits: string[]; // shortened; empty: not known
}

export interface Change {
  index: number; // the first run at the new level
  first: number; // it is one of the runs from here
  last: number; // to here
  kind: Kind;
  when: string;
  size: string; // "+8.1 %"; empty: the level was 0
  levels: string;
  commits: string;
  within?: string;
  also: string[];
}

export interface Metric {
  metric: string;
  unit: string;
  higher_is_better?: boolean;
  last: string;
  low: number; // what the chart spans; values beyond are drawn at its edge
  high: number;
  runs: number; // place in `runs`
  values: number[];
  levels: {begin: number; end: number; value: number}[];
  changes: Change[];
  drift?: {text: string; kind: Kind; from: number; to: number}; // at the last level
}

export interface Trends {
  gapless: {version: string};
  place: string;
  subject: string;
  what: "run" | "value";
  notes: string[];
  runs: Runs[];
  metrics: Metric[];
}

export interface TrendPage {
  trend: Trends;
}

/** "2026-03-04 12:30", or "value 17". */
export function whenOf(runs: Runs, run: number, what: string): string {
  const time = runs.times[run];
  if (time === null || time === undefined) return `${what} ${run + 1}`;
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** Four digits that mean something. */
export function fourDigits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e15 || size < 1e-4) return value.toExponential(3);
  if (size >= 9999.5) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(size * (1 + 5e-5)))));
}

/** A round number, without zeros that mean nothing. */
export function tick(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return value.toExponential();
  return Number(value.toPrecision(12)).toLocaleString("en-US", {maximumFractionDigits: 12});
}
