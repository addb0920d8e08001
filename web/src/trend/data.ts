// SPDX-License-Identifier: Apache-2.0
// The trends of a history as the program inlines them (src/report/trend/page.cc writes them): the document of
// `trend --json`, whose types `gapless docs` writes, and what the page shows besides. Texts are made there. A run is meant by
// its place, from 0. Absent is a missing key or null.
import type {TrendPage as Page, TrendPageChange, TrendPageMetric, TrendPageRuns} from "schema/serve";
import type {TrendOfMetric, TrendResult} from "schema/trend";

export type Kind = "improvement" | "regression" | "change";

export type {TrendPageRuns as Runs};

/** As the program inlines it and `gapless serve` answers it. */
export interface TrendPage {
  trend: TrendResult;
  page: Page;
}

export interface Change extends TrendPageChange {
  index: number; // the first run at the new level
  first: number; // it is one of the runs from here
  last: number; // to here
  kind: Kind;
  also: string[];
}

/** A metric in the unit that is shown. */
export interface Metric extends Omit<TrendPageMetric, "changes" | "drift"> {
  metric: string;
  higher_is_better: boolean | undefined;
  levels: {begin: number; end: number; value: number}[];
  changes: Change[];
  drift: {text: string; kind: Kind; from: number; to: number} | undefined;
}

export interface Trends {
  version: string;
  place: string;
  subject: string;
  what: string; // run or value
  notes: string[];
  runs: TrendPageRuns[];
  metrics: Metric[];
}

function together(found: TrendOfMetric, shown: TrendPageMetric): Metric {
  return {
    ...shown,
    metric: found.metric,
    higher_is_better: found.higher_is_better,
    levels: found.levels.map(({begin, end, value}) => ({begin, end, value: value / shown.unit_size})),
    changes: shown.changes.flatMap((words, at) => {
      const change = found.changes[at];
      if (!change) return [];
      const {index, first, last, also_changed} = change;
      return {...words, index, first, last, kind: change.kind as Kind, also: also_changed ?? []};
    }),
    drift: shown.drift && {...shown.drift, kind: (found.drift?.kind ?? "change") as Kind},
  };
}

/** The document and what is shown of it as one. */
export function decodeTrends({trend, page}: TrendPage): Trends {
  return {
    version: trend.gapless.version,
    place: trend.history,
    subject: page.subject,
    what: page.what,
    notes: trend.warnings,
    runs: page.runs,
    metrics: page.metrics.flatMap((shown, at) => {
      const found = trend.metrics[at];
      return found ? together(found, shown) : [];
    }),
  };
}

/** "2026-03-04 12:30", or "value 17". */
export function whenOf(runs: TrendPageRuns, run: number, what: string): string {
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
