// SPDX-License-Identifier: Apache-2.0
// The words of a search's page from its document alone, where the program that wrote it inlines them
// (src/report/optimize/rows.cc): a row for each state that was measured, and the reasons against fixes.
import {bytes} from "../format";
import type {Optimize, Reason, Words} from "../optimize/data";

/** Outcomes of fixes that were not worth a trial here. */
export const INAPPLICABLE = ["nothing_to_gain", "does_not_apply", "not_allowed", "conflict"];

interface Interval {
  low?: number;
  expected: number;
  high?: number;
}

/** "1.47× (1.41–1.53)", an end that is not known yet left out. */
export function interval({low, expected, high}: Interval): string {
  const text = `${expected.toFixed(2)}×`;
  if (low !== undefined && high !== undefined) return `${text} (${low.toFixed(2)}–${high.toFixed(2)})`;
  return low === undefined ? text : `${text} (at least ${low.toFixed(2)})`;
}

function fixed(value: number, digits: number): string {
  return value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

const NAMES: Record<string, string> = {baseline: "as it is", all: "all, over as it is"};

type Stage = Optimize["table"][number];
type Refused = Optimize["refused"][number];

/** A column: its head, and a state's text in it. */
const COLUMNS: {head: string; of: (stage: Stage) => string}[] = [
  {head: "", of: ({optimization}) => NAMES[optimization] ?? `+ ${optimization}`},
  {head: "step", of: ({step_time_ms: ms}) => `${fixed(ms, ms < 10 ? 2 : 1)} ms`},
  {head: "samples/s", of: ({samples_per_second: rate}) => (rate === undefined ? "" : fixed(rate, 1))},
  {head: "speedup", of: ({speedup}) => (speedup ? interval(speedup) : "")},
  {head: "memory", of: ({memory_bytes: size}) => (size === undefined ? "" : bytes(size))},
  {head: "GPU", of: ({gpu_utilization: percent}) => (percent === undefined ? "" : `${fixed(percent, 1)} %`)},
  {head: "loss", of: ({loss}) => (loss === undefined ? "" : loss.toPrecision(5))},
  {head: "metric", of: ({metric}) => (metric === undefined ? "" : metric.toPrecision(5))},
];

function timeOf(stage: Stage, first: Stage): number {
  const {samples_per_second: now} = stage;
  const {samples_per_second: before} = first;
  return now && before ? before / now : stage.step_time_ms / first.step_time_ms;
}

/** It ran, as far as the document says. */
function wasTried({outcome, pairs}: Refused): boolean {
  return !INAPPLICABLE.includes(outcome) && (outcome !== "no_time" || (pairs ?? 0) > 0);
}

/** Fixes that the budget had no time for have a list of their own. */
function reasonsOf(optimize: Optimize, tried: boolean): Reason[] {
  const untried = new Set(optimize.untried.map(({fix}) => fix));
  return optimize.refused
    .filter((one) => wasTried(one) === tried && !(one.outcome === "no_time" && untried.has(one.fix)))
    .map(({fix, reason}) => ({fix, reason: reason ?? ""}));
}

/** Returns what is left of fixes that stayed, where all together are not proved. */
function unprovedOf({proved, candidate, refused}: Optimize): string {
  if (proved || !(candidate || refused.some(({outcome}) => outcome === "not_proved"))) return "";
  return candidate ? `${candidate} has them, unproved` : "nothing is proved, so there is no recipe and no patch";
}

export function wordsOf(optimize: Optimize, diff: string): Words {
  const table = optimize.table.filter(({step_time_ms}) => step_time_ms > 0);
  const first = table[0];
  const columns = COLUMNS.filter(({head, of}) => head === "" || table.some((stage) => of(stage) !== ""));
  return {
    head: columns.map(({head}) => head),
    rows: table.map((stage) => columns.map(({of}) => of(stage))),
    shares: table.map((stage) => (first ? Math.min(1, timeOf(stage, first)) : 1)),
    ...(optimize.training?.reason && {training: optimize.training.reason}),
    metric: "",
    unproved: unprovedOf(optimize),
    tried: reasonsOf(optimize, true),
    not_tried: reasonsOf(optimize, false),
    no_time: optimize.untried.map(({fix, expected_speedup, trial_s}) => ({
      fix,
      reason: `expected ${expected_speedup.toFixed(2)}×, its trial takes about ${Math.round(trial_s)} s`,
    })),
    found: [],
    ...(optimize.recipe && {run: `gapless run --recipe ${optimize.recipe} -- ${optimize.command}`}),
    diff,
  };
}
