// SPDX-License-Identifier: Apache-2.0
// The parts of a device's time, in the order in which they are always shown, each with its colour (style.css).
export interface Part {
  key: "compute" | "comm" | "copy" | "data" | "launch" | "sync" | "host" | "unknown";
  name: string;
  column: string; // column of analysis `ledger` and of the breakdown
  idle: boolean;
}

export const PARTS: readonly (Part & {
  column:
    | "compute_ns"
    | "exposed_comm_ns"
    | "exposed_copy_ns"
    | "idle_data_ns"
    | "idle_launch_ns"
    | "idle_sync_ns"
    | "idle_host_ns"
    | "idle_unknown_ns";
})[] = [
  {key: "compute", name: "compute", column: "compute_ns", idle: false},
  {key: "comm", name: "exposed communication", column: "exposed_comm_ns", idle: false},
  {key: "copy", name: "exposed copies", column: "exposed_copy_ns", idle: false},
  {key: "data", name: "idle: data", column: "idle_data_ns", idle: true},
  {key: "launch", name: "idle: launches", column: "idle_launch_ns", idle: true},
  {key: "sync", name: "idle: sync", column: "idle_sync_ns", idle: true},
  {key: "host", name: "idle: host", column: "idle_host_ns", idle: true},
  {key: "unknown", name: "idle: not known", column: "idle_unknown_ns", idle: true},
];

/** The colour of what a stretch of a replayed step is spent on, by the name that the program gives it (predict/critical_path.h). */
export const BOUND_COLOURS: Record<string, string> = {
  host: "operator",
  "data loading": "data",
  launch: "call",
  compute: "compute",
  communication: "comm",
  copies: "copy",
  sync: "sync",
};
