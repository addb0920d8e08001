// SPDX-License-Identifier: Apache-2.0
// Builds the ECharts options of a metric's chart: runs as points, levels as steps, changes as lines across, drift dashed.
import {axis, base, type Option, tip, tooltip} from "../chart";
import {colour} from "../theme";
import {type Change, fourDigits, type Kind, type Metric, type Runs, tick, whenOf} from "./data";

const CROWD = 1500; // runs; beyond, points are fainter and drawn as one
const MAX_NAMED = 24; // changes
const LABEL_PX = 80;

const COLOURS: Record<Kind, string> = {improvement: "good", regression: "critical", change: "dim"};
const DASHES: Record<Kind, number[]> = {improvement: [2, 3], regression: [5, 3], change: [2, 2]};

interface Item {
  seriesName: string;
  dataIndex: number;
  value: readonly [number, number];
}

export function tooltipOf(metric: Metric, runs: Runs, what: string, item: Item): string {
  const change = item.seriesName === "changes" ? metric.changes[item.dataIndex] : undefined;
  if (change) return tip(`${change.size} ${change.kind}`.trim(), linesOf(change));
  const [run] = item.value;
  const value = metric.values[run];
  if (item.seriesName !== "runs" || value === undefined) return "";
  const lines = [whenOf(runs, run, what), runs.commits[run] ?? ""];
  return tip(
    `${fourDigits(value)} ${metric.unit}`.trim(),
    lines.filter((line) => line !== ""),
  );
}

export function linesOf(change: Change): string[] {
  const within = change.within ? `within ${change.within}` : "";
  const also = change.also.map((other) => `also changed: ${other}`);
  return [change.when, change.levels, change.commits, within, ...also].filter((line) => line !== "");
}

function steps(metric: Metric): (number[] | null)[] {
  const levels = metric.drift ? metric.levels.slice(0, -1) : metric.levels;
  const last = metric.values.length - 1;
  return levels.flatMap(({begin, end, value}) => [
    [Math.max(0, begin - 0.5), value],
    [Math.min(last, end - 0.5), value],
    null,
  ]);
}

/** Returns the changes with a name: the largest first, as long as there is room beside the others. */
function named(metric: Metric): Set<Change> {
  const size = (change: Change) => Math.abs(Number.parseFloat(change.size.replace(/[ %,]/g, "")) || 0);
  const apart = (metric.values.length * LABEL_PX) / document.documentElement.clientWidth;
  const names = new Set<Change>();
  for (const change of [...metric.changes].sort((a, b) => size(b) - size(a))) {
    if (names.size < MAX_NAMED && [...names].every((other) => Math.abs(other.index - change.index) >= apart))
      names.add(change);
  }
  return names;
}

function changeSeries(metric: Metric): object {
  const names = named(metric);
  return {
    name: "changes",
    type: "scatter",
    z: 5,
    symbolSize: 11,
    data: metric.changes.map((change) => ({
      value: [change.index - 0.5, metric.high],
      symbol: "triangle",
      symbolRotate: change.size.startsWith("-") ? 180 : 0,
      itemStyle: {color: colour(COLOURS[change.kind])},
      label: {
        show: names.has(change),
        position: "top",
        formatter: change.size,
        color: colour(COLOURS[change.kind]),
        fontWeight: 600,
      },
    })),
    markLine: {
      silent: true,
      symbol: "none",
      label: {show: false},
      data: metric.changes.map((change) => ({
        xAxis: change.index - 0.5,
        lineStyle: {
          color: colour(COLOURS[change.kind]),
          type: DASHES[change.kind],
          opacity: names.has(change) || metric.changes.length <= MAX_NAMED ? 1 : 0.15,
        },
      })),
    },
  };
}

function isBeyond(metric: Metric, value: number): boolean {
  return value < metric.low || value > metric.high;
}

/** Returns how many runs are so far out that they are drawn at the edge. */
export function beyond(metric: Metric): number {
  return metric.values.filter((value) => isBeyond(metric, value)).length;
}

function runSeries(metric: Metric): object[] {
  const crowd = metric.values.length > CROWD;
  const points = metric.values.map((value, run) => [run, value] as const);
  const blue = colour("compute");
  return [
    {
      name: "runs",
      type: "scatter",
      large: true,
      largeThreshold: CROWD,
      progressive: 0,
      symbolSize: crowd ? 3 : 6,
      itemStyle: {color: blue, opacity: crowd ? 0.35 : 0.75},
      data: points.filter(([, value]) => !isBeyond(metric, value)),
    },
    {
      name: "runs",
      type: "scatter",
      symbolSize: crowd ? 4 : 7,
      itemStyle: {color: "transparent", borderColor: blue, borderWidth: 1.5},
      data: points
        .filter(([, value]) => isBeyond(metric, value))
        .map(([run, value]) => [run, Math.min(metric.high, Math.max(metric.low, value))]),
    },
  ];
}

function lineSeries(name: string, data: (number[] | null)[], dashed: boolean): object {
  return {
    name,
    type: "line",
    silent: true,
    showSymbol: false,
    connectNulls: false,
    z: 4,
    lineStyle: {color: colour("text"), width: 2, type: dashed ? "dashed" : "solid"},
    data: data.map((point) => point ?? [null, null]),
  };
}

export function optionFor(metric: Metric, runs: Runs, what: string): Option {
  const last = metric.values.length - 1;
  const day = (run: number) => (Number.isInteger(run) ? whenOf(runs, run, "").trim().slice(0, 10) : "");
  const series = [...runSeries(metric), lineSeries("levels", steps(metric), false), changeSeries(metric)];
  if (metric.drift) {
    const begin = metric.levels.at(-1)?.begin ?? 0;
    series.push(
      lineSeries(
        "drift",
        [
          [begin, metric.drift.from],
          [last, metric.drift.to],
        ],
        true,
      ),
    );
  }
  return {
    ...base(),
    grid: {left: 8, right: 24, top: 36, bottom: 52, containLabel: true},
    tooltip: tooltip({trigger: "item", formatter: (item: Item) => tooltipOf(metric, runs, what, item)}),
    xAxis: axis("", {
      type: "value",
      min: 0,
      max: Math.max(last, 1),
      minInterval: 1,
      splitLine: {show: false},
      axisLabel: {
        color: colour("dim"),
        formatter: day,
        hideOverlap: true,
        alignMinLabel: "left",
        alignMaxLabel: "right",
      },
    }),
    yAxis: axis(metric.unit, {
      type: "value",
      min: metric.low,
      max: metric.high,
      nameGap: 22,
      axisLabel: {color: colour("dim"), formatter: tick, showMinLabel: false, showMaxLabel: false},
    }),
    dataZoom: [
      {type: "inside", filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, minValueSpan: 5},
      {
        type: "slider",
        filterMode: "none",
        height: 18,
        bottom: 6,
        showDataShadow: false,
        minValueSpan: 5,
        labelFormatter: (run: number) => day(Math.round(run)),
        textStyle: {color: colour("dim")},
        borderColor: colour("line"),
        brushSelect: false,
      },
    ],
    series,
  };
}
