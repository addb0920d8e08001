// SPDX-License-Identifier: Apache-2.0
// Written by `gapless docs`: the types of `gapless analyze --json`. A key that may be missing is optional; a missing
// value is never 0.

export interface StepTimes {
  /** median [ns] */
  median: number;
  /** 50th percentile [ns] */
  p50: number;
  /** 95th percentile [ns] */
  p95: number;
  /** 99th percentile [ns] */
  p99: number;
}

export interface Scaling {
  /** devices that took part [count] */
  devices: number;
  /** median over the devices of their median step [ns] */
  step_ns?: number;
  /** 0–1; above 1 when the run on one GPU was slower */
  efficiency: number;
  /** true: an upper bound, made without a run on one GPU */
  estimated: boolean;
}

export interface RunSummary {
  /** ranks, ascending; empty: no recording has a rank [count] */
  ranks: number[];
  /** training, inference or serving */
  workload?: string;
  /** complete steps, of the rank with the most [count] */
  steps?: number;
  /** durations of the complete steps */
  step_ns?: StepTimes;
  /** fraction of the analysed time in which a GPU works [share] */
  gpu_busy_share?: number;
  /** true where that is a lower bound: operations are missing */
  gpu_busy_is_least?: boolean;
  /** mean over the GPUs [percent] */
  gpu_utilization?: number;
  /** sm_active, nvml or busy_share */
  gpu_utilization_source?: string;
  /** analysed time per step and device, time between steps included [ns] */
  mean_step_ns?: number;
  /** what limits the run, finely: input bound, launch bound, … */
  class?: string;
  /** the same as I/O, CPU, communication, GPU compute or GPU memory */
  limit?: string;
  /** one sentence with the numbers */
  class_evidence?: string;
  /** fraction of kernel time: products, convolutions, attention [share] */
  matrix_time_share?: number;
  /** fraction of that time on tensor cores [share] */
  matrix_unit_share?: number;
  /** fraction of copy time between host and device from or to pageable memory [share] */
  pageable_share?: number;
  /** model FLOPs utilisation: FLOPs known from shapes, of the dense peak */
  mfu?: number;
  /** fraction of matrix kernels' time with known FLOPs; below 1 mfu is a lower bound [share] */
  mfu_coverage?: number;
  /** of several ranks, or against a run on one GPU (--single) */
  scaling?: Scaling;
}

export interface DeviceBreakdown {
  /** key of table trace [count] */
  trace: number;
  /** rank of the process; missing: none was recorded [count] */
  rank?: number;
  /** number of the device */
  device: number;
  /** name of the device */
  device_name?: string;
  /** analysed time [ns] */
  wall_ns: number;
  /** a kernel that computes runs [ns] */
  compute_ns: number;
  /** only communication runs [ns] */
  exposed_comm_ns: number;
  /** only copies run [ns] */
  exposed_copy_ns: number;
  /** nothing runs [ns] */
  idle_ns: number;
  /** the GPU waits for data [ns] */
  idle_data_ns: number;
  /** the GPU waits for launches [ns] */
  idle_launch_ns: number;
  /** the host waited for the GPU before [ns] */
  idle_sync_ns: number;
  /** the GPU waits for other work of the host [ns] */
  idle_host_ns: number;
  /** nothing recorded says why [ns] */
  idle_unknown_ns: number;
}

export interface Evidence {
  /** one sentence with the numbers in it */
  text: string;
  /** the number */
  value?: number;
  /** unit of value */
  unit?: string;
  /** table or analysis that shows it */
  table?: string;
  /** ids of its rows, the 20 largest at most [count] */
  rows?: number[];
  /** file:line of the user's code; function() (file) where no line is known */
  source?: string;
}

export interface Recommendation {
  /** the advice, with the values found */
  text: string;
  /** item of `predict --what` that stands for it */
  fix?: string;
  /** a line or two to paste */
  code?: string;
  /** minutes, hours or days */
  effort?: string;
}

export interface Gain {
  /** lower end of the 80 % prediction interval of the speed-up [ratio] */
  low: number;
  /** expected speed-up of the whole step [ratio] */
  expected: number;
  /** upper end of the interval [ratio] */
  high: number;
  /** confidence in the model [share] */
  confidence: number;
  /** replay of the recording, or amdahl: estimated from the affected time */
  method?: string;
  /** programs on such a machine on which such a fix was tested; missing: not asked [count] */
  tested_programs?: number;
}

export interface Amount {
  /** in the money of --price */
  money?: number;
  /** energy of the GPUs [kWh] */
  kwh?: number;
  /** carbon dioxide of that energy [kg] */
  carbon_kg?: number;
}

export interface Saving {
  /** at the low end of the gain */
  low: Amount;
  /** at the expected gain */
  expected: Amount;
  /** at the high end of the gain */
  high: Amount;
}

export interface ListedBottleneck {
  /** id of the rule */
  id: string;
  /** kind of bottleneck */
  type: "KERNEL_EFFICIENCY" | "MEMORY_BANDWIDTH" | "DATA_LOADING" | "CPU_GPU_SYNC" | "MULTI_GPU_COMM" | "MEMORY_ALLOCATION" | "LAUNCH_BOUND" | "HOST_BOUND" | "SMALL_BATCH" | "RECOMPILATION" | "IO" | "STEP_VARIATION" | "RECORDING";
  /** above 0.7 critical, from 0.4 a warning [share] */
  severity: number;
  /** what is slow, with the cost */
  title: string;
  /** what was measured, and what it means */
  description: string;
  /** fraction of the analysed time that is affected [share] */
  share_of_step?: number;
  /** the numbers behind it */
  evidence: Evidence[];
  /** what to do about it */
  recommendations: Recommendation[];
  /** what its fix saves after everything above it is fixed */
  gain?: Gain;
  /** id of a bottleneck that claims the same time in more general terms */
  part_of?: string;
  /** id of the bottleneck above whose fix cures this one, too: it has no gain of its own */
  cured_by?: string;
  /** fraction of the recorded step that is left when all above it is fixed [ratio] */
  step_left: number;
  /** why it is the first to fix */
  why_first?: string;
  /** what its fix does beside the affected time */
  also?: string;
  /** its fix changes the training: a choice beside the plan, in no sum */
  apart?: boolean;
  /** what its fix saves; with --price, --carbon or --watts */
  saving_per_month?: Saving;
}

export interface PlanStep {
  /** id of the bottleneck that it is for */
  bottleneck: string;
  /** item of `predict --what`; missing: its gain is an estimate of the affected time */
  fix?: string;
  /** other bottlenecks that the same fix cures */
  cures: string[];
  /** after the fixes before it */
  gain: Gain;
  /** with all fixes up to this one */
  so_far: Gain;
}

export interface Combination {
  /** ids of the bottlenecks of the plan */
  bottlenecks: string[];
  /** items of `predict --what` that were replayed */
  fixes: string[];
  /** gain of the whole plan */
  gain: Gain;
  /** gain of `fixes` alone; missing: nothing could be replayed */
  replayed?: Gain;
  /** bottlenecks whose gain is an estimate of the affected time */
  estimated: string[];
  /** bottlenecks whose fix is a choice beside the plan */
  left_out: string[];
  /** fixes of which no prediction was tested on such a machine */
  untested: string[];
}

export interface Cost {
  /** GPUs of the job [count] */
  gpus: number;
  /** hours of training a month [h] */
  hours_per_month: number;
  /** power of a GPU [W] */
  watts_per_gpu?: number;
  /** given, or board limit: an upper bound */
  watts_source?: string;
  /** cost of a step; missing: no step is complete */
  step?: Amount;
  /** cost of an epoch; with --epoch-steps */
  epoch?: Amount;
  /** cost of a month */
  month: Amount;
}

export interface RunPart {
  /** key of table trace [count] */
  trace: number;
  /** rank of the process; missing: none was recorded [count] */
  rank?: number;
  /** execution of the program that was recorded [count] */
  execution: number;
  /** primary recordings are counted, supplements complete them */
  role: "primary" | "supplement";
  /** format of the file */
  format: string;
  /** file that was read */
  path: string;
  /** from the first to the last event [ns] */
  dur_ns: number;
  /** events that were read [count] */
  event_count: number;
}

export interface ReadNote {
  /** key of table trace [count] */
  trace: number;
  /** rank of the process; missing: none was recorded [count] */
  rank?: number;
  /** kind of the note */
  kind: string;
  /** info, or that events were lost, or that the file is wrong */
  severity: "info" | "loss" | "error";
  /** events that the note is about [count] */
  count: number;
  /** position of the first of them in the file [bytes] */
  first_offset?: number;
  /** the note as a sentence */
  text: string;
}

export interface Error {
  /** what failed, and why */
  message: string;
  /** file or option it is about */
  place?: string;
  /** one thing to do */
  hint?: string;
}

export interface FailedRule {
  /** id of the rule */
  rule: string;
  /** why it could not run */
  message: string;
}

export interface PartTiming {
  /** kind of work */
  part: string;
  /** analysis, rule or what-if */
  name?: string;
  /** number of calls [count] */
  calls: number;
  /** wall time of the calls, without the parts that they contain [ms] */
  ms: number;
  /** memory that the system gave to the thread meanwhile [bytes] */
  fresh_bytes: number;
}

export interface Analyze {
  gapless: {version: string; schema: number; schema_version: number; command: string};
  /** the run as a whole */
  run: RunSummary;
  /** one item per recording and device: compute_ns + exposed_comm_ns + exposed_copy_ns + idle_ns = wall_ns, and the idle_…_ns add up to idle_ns */
  breakdown?: DeviceBreakdown[];
  /** ranked by expected gain, then severity */
  bottlenecks: ListedBottleneck[];
  /** the fixes worth making, each once, in the order of the list */
  plan: PlanStep[];
  /** gain of `together` */
  estimated_speedup?: Gain;
  /** what the whole plan saves */
  together?: Combination;
  /** of all GPUs of the job; with --price, --carbon or --watts */
  cost?: Cost;
  /** recordings of the run */
  traces: RunPart[];
  /** what was noted while they were read */
  read_stats: ReadNote[];
  /** inputs that could not be read, while others could */
  failures?: Error[];
  /** rules that could not run */
  failed_rules?: FailedRule[];
  /** the program's own time, the longest part first; with --timings */
  timings?: PartTiming[];
  warnings: string[];
}
