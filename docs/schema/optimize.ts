// SPDX-License-Identifier: Apache-2.0
// Written by `gapless docs`: the types of `gapless optimize --json`. A key that may be missing is optional; a missing
// value is never 0.

export interface RatioInterval {
  /** lower end of the 95 % interval; missing: not bounded yet [ratio] */
  low?: number;
  /** speed-up [ratio] */
  expected: number;
  /** upper end of the interval; missing: not bounded yet [ratio] */
  high?: number;
}

export interface KeptTraining {
  /** the training is the same */
  parity: boolean;
  /** the training is the same, bit for bit */
  exact: boolean;
}

export interface Parity {
  /** is B the same training as A? */
  verdict: "exact" | "rounding" | "same_distribution" | "other_training" | "cannot_tell";
  /** with rounding: the finest precision that explains it */
  unit?: "fp32" | "tf32" | "fp16" | "bf16";
  /** the decision as a sentence */
  reason: string;
  /** steps that were compared [count] */
  steps: number;
  /** id of the test that decided */
  test?: string;
  /** step where it shows first, from 1 [count] */
  step?: number;
  /** parameter or buffer that decided */
  tensor?: string;
  /** what the test compared */
  value?: number;
  /** what it was compared with */
  limit?: number;
  /** smallest difference of gradients (with other random numbers: of loss and gradient norm, in nine of ten comparisons) that would have been seen [share] */
  seen_from?: number;
  /** what the two programs are: transforms, sampler, loss, schedule, code, … */
  differences?: string[];
}

export interface TriedFix {
  /** fix and its value */
  fix: string;
  /** accepted, or why not, in one word */
  outcome: string;
  /** what the fix may change beside the time */
  safety: string;
  /** effort to make it by hand */
  effort: string;
  /** why it was not applied */
  reason?: string;
  /** predicted speed-up */
  predicted?: RatioInterval;
  /** measured speed-up over the fixes before it */
  measured?: RatioInterval;
  /** pairs that were measured [count] */
  pairs?: number;
  /** blocks of one process, or processes */
  method?: string;
  /** smallest change that these pairs detect */
  mde_share?: number;
  /** the decision in one word; missing: no decision was possible */
  loss?: KeptTraining;
  /** is the training the same? missing: not asked */
  training?: Parity;
  /** longer start [s] */
  startup_s?: number;
  /** steps after which the start is paid back [count] */
  break_even_steps?: number;
  /** what was changed in the program */
  changes?: string[];
}

export interface PrintedMetric {
  /** name of --metric */
  name: string;
  /** mean over the runs without the change */
  before: number;
  /** mean over the runs with it */
  after: number;
  /** a larger difference is a change */
  allowed: number;
  /** noise: 99 % interval of what runs differ by; floor: 1 % of the number; exact */
  basis: string;
  /** runs without the change [count] */
  runs_before: number;
  /** runs with it [count] */
  runs_after: number;
  /** it is another result */
  changed: boolean;
}

export interface StageMeasured {
  /** baseline, a fix that stayed, or all */
  optimization: string;
  /** mean duration of a step [ms] */
  step_time_ms: number;
  /** samples a second [1/s] */
  samples_per_second?: number;
  /** measured speed-up */
  speedup?: RatioInterval;
  /** peak of the GPU's memory [bytes] */
  memory_bytes?: number;
  /** mean over the GPUs [percent] */
  gpu_utilization?: number;
  /** highest resident memory [bytes] */
  host_memory_bytes?: number;
  /** last loss */
  loss?: number;
  /** value of --metric */
  metric?: number;
  /** loss of each step; null where none was seen */
  losses?: (number | null)[];
}

export interface UntriedFix {
  /** fix and its value */
  fix: string;
  /** predicted speed-up [ratio] */
  expected_speedup: number;
  /** about how long its trial takes [s] */
  trial_s: number;
}

export interface AheadFix {
  /** fix and its value */
  fix: string;
  /** speed-up in the pairs that it has [ratio] */
  speedup_so_far: number;
  /** about how much more time decides it [s] */
  more_s: number;
}

export interface Optimize {
  gapless: {version: string; schema: number; schema_version: number; command: string};
  /** the command that was optimised */
  command: string;
  /** where it ran, and on what */
  about?: string;
  /** name of the metric of --metric */
  metric_name?: string;
  /** fixes that stayed and are proved together */
  applied: TriedFix[];
  /** fixes that did not stay */
  refused: TriedFix[];
  /** all together are significantly faster, and no reason against them was found */
  proved: boolean;
  /** the result as a sentence */
  conclusion: string;
  /** measured speed-up of all fixes together */
  speedup?: RatioInterval;
  /** pairs that it is from [count] */
  pairs: number;
  /** the decision in one word; missing: no decision was possible */
  loss?: KeptTraining;
  /** is the training the same? missing: not asked */
  training?: Parity;
  /** the number of --metric with all fixes together */
  metric?: PrintedMetric;
  /** GPU memory saved; below 0: more is used [bytes] */
  memory_saved_bytes?: number;
  /** the baseline, each fix that stayed, then all together */
  table: StageMeasured[];
  /** file for gapless run --recipe */
  recipe?: string;
  /** the same of fixes that are not proved */
  candidate?: string;
  /** file with the changes as a patch */
  patch?: string;
  /** folder that the patch applies to; missing: the current one */
  patch_root?: string;
  /** files that the patch changes, below that folder */
  patch_files?: string[];
  /** what was tried with the patch, as a sentence */
  patch_tested?: string;
  /** changes that are not in the patch: what to do, or why not */
  by_hand?: string[];
  /** fixes for which there was no time */
  untried: UntriedFix[];
  /** fixes that were faster so far, but are not decided */
  ahead: AheadFix[];
  /** how the time was used, as a sentence */
  budget_use?: string;
  /** time that was used [s] */
  took_s: number;
  /** time that was given [s] */
  budget_s: number;
  /** the user ended it; what was decided stands */
  interrupted: boolean;
  warnings: string[];
}
