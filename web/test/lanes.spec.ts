// SPDX-License-Identifier: Apache-2.0
import {expect, test} from "@playwright/test";
import {Table} from "../src/data";
import {layOut} from "../src/sections/lanes";

const NAMES = ["trace", "rank", "step", "lane", "device", "stream", "tid", "thread", "depth", "ts_ns", "dur_ns"];
const TEXTS = ["step", "idle", "gpu", "host"];

/** A table slowest_step of these rows; a lane is given by its place in TEXTS. */
function tableOf(rows: (number | null)[][]): Table {
  const columns = NAMES.map((name) => ({
    name,
    type: name === "lane" ? ("text" as const) : ("int" as const),
    unit: "",
    help: "",
  }));
  const cells = NAMES.map((_, at) => rows.map((row) => row[at] ?? null));
  return new Table({name: "slowest_step", help: "", rows: rows.length, columns, cells}, TEXTS);
}

const step = (trace: number, ts: number, dur: number) => [trace, trace, 5, 0, null, null, null, null, 0, ts, dur];
const kernel = (trace: number, stream: number, ts: number) => [trace, trace, 5, 2, 0, stream, null, null, 0, ts, 10];
const call = (trace: number, tid: number, depth: number, ts: number) => [
  trace,
  trace,
  5,
  3,
  null,
  null,
  tid,
  null,
  depth,
  ts,
  10,
];

test("a lane per stream and thread, on one clock that starts with the earliest step", () => {
  const layout = layOut(tableOf([step(0, 100, 50), kernel(0, 7, 110), call(0, 1, 0, 100), call(0, 1, 1, 102)]), 0);
  expect(layout.lanes.map((lane) => lane.label)).toEqual(["GPU 0 stream 7", "thread 1"]);
  expect(layout.boxes.map((box) => [box.start, box.end])).toEqual([
    [10, 20],
    [0, 10],
    [2, 12],
  ]);
  expect(layout.end).toBe(50);
  expect(layout.boxes[2]?.top).toBeGreaterThan(layout.boxes[1]?.top ?? 0);
});

test("of several ranks the devices of all, the host of one", () => {
  const rows = [
    step(0, 100, 50),
    kernel(0, 7, 110),
    call(0, 1, 0, 100),
    step(1, 90, 80),
    kernel(1, 7, 95),
    call(1, 1, 0, 95),
  ];
  const layout = layOut(tableOf(rows), 1);
  expect(layout.lanes.map((lane) => lane.label)).toEqual([
    "rank 0",
    "GPU 0 stream 7",
    "rank 1",
    "GPU 0 stream 7",
    "thread 1",
  ]);
  expect(layout.start).toBe(90);
  expect(layout.boxes.map((box) => box.start)).toEqual([20, 5, 5]);
});

test("what there is no room for is counted", () => {
  const rows = [step(0, 0, 50)];
  for (let stream = 0; stream < 500; ++stream) rows.push(kernel(0, stream, stream));
  const layout = layOut(tableOf(rows), 0);
  expect(layout.lanes.length + layout.hidden).toBe(500);
  expect(layout.height).toBeLessThan(5000);
});
