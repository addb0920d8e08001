// SPDX-License-Identifier: Apache-2.0
// Operators under the roofs of their device: how fast each computes for the bytes it must move, both from shapes.
import {useCallback} from "preact/hooks";
import {axis, base, ChartView, legend, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {duration, percent, plain} from "../format";
import {colour} from "../theme";

const KINDS = [
  {kind: "gemm", colour: "compute"},
  {kind: "conv", colour: "copy"},
  {kind: "attention", colour: "comm"},
  {kind: "norm", colour: "launch"},
  {kind: "softmax", colour: "sync"},
  {kind: "pointwise", colour: "unknown"},
] as const;

interface Roof {
  name: string;
  tflops: number;
  gbps: number;
}

function roofsOf(table: Table): Roof[] {
  const roofs = new Map<string, Roof>();
  for (let row = 0; row < table.rows; ++row) {
    const tflops = table.number(row, "peak_tflops");
    const gbps = table.number(row, "peak_gbps");
    if (tflops === null || gbps === null) continue;
    const units = table.text(row, "matrix_unit") === "yes" ? "matrix units" : "ordinary units";
    const name = `${table.text(row, "dtype")} ${units}: ${plain(tflops)} TFLOP/s`;
    roofs.set(`${tflops} ${gbps}`, {name, tflops, gbps});
  }
  return [...roofs.values()].sort((a, b) => a.tflops - b.tflops).slice(-4);
}

function pointsOf(table: Table, kind: string): number[] {
  const rows = [...Array(table.rows).keys()];
  return rows.filter(
    (row) =>
      table.text(row, "kind") === kind &&
      (table.number(row, "intensity") ?? 0) > 0 &&
      (table.number(row, "tflops") ?? 0) > 0,
  );
}

function tipOf(table: Table, row: number): string {
  const calls = table.number(row, "calls") ?? 0;
  const lines = [
    table.text(row, "shapes"),
    `${table.text(row, "dtype")}, ${plain(calls)} calls, ${duration(table.number(row, "device_ns") ?? 0)} in all`,
    `${plain(table.number(row, "tflops") ?? 0)} TFLOP/s at ${plain(table.number(row, "intensity") ?? 0)} FLOP/byte`,
  ];
  const share = table.number(row, "roofline_share");
  if (share !== null) lines.push(`${percent(share)} of its roof, bound by ${table.text(row, "bound")}`);
  const line = table.text(row, "source_line");
  if (line) lines.push(line);
  return tip(table.text(row, "operator"), lines.filter(Boolean));
}

function optionFor(table: Table): Option {
  const most = Math.max(...(table.column("share").filter((value) => typeof value === "number") as number[]), 1e-9);
  const points = KINDS.map(({kind}) => pointsOf(table, kind));
  const intensities = points.flat().map((row) => table.number(row, "intensity") ?? 1);
  const roofs = roofsOf(table);
  const low = 10 ** Math.floor(Math.log10(Math.min(...intensities, 1)));
  const high =
    10 ** Math.ceil(Math.log10(Math.max(...intensities, ...roofs.map((roof) => (roof.tflops * 2e3) / roof.gbps), 10)));
  return {
    ...base(),
    grid: {left: 66, right: 20, top: 34, bottom: 48},
    legend: legend(),
    tooltip: tooltip({
      trigger: "item",
      formatter: (item: {seriesType: string; seriesName: string; data: number[]}) =>
        item.seriesType === "scatter" ? tipOf(table, item.data[2] ?? 0) : tip(item.seriesName, []),
    }),
    xAxis: axis("FLOP/byte", {type: "log", min: low, max: high, nameLocation: "middle", nameGap: 28}),
    yAxis: axis("TFLOP/s", {
      type: "log",
      nameLocation: "middle",
      nameGap: 48,
      axisLabel: {color: colour("dim"), formatter: plain},
    }),
    series: [
      ...roofs.map((roof) => ({
        name: roof.name,
        type: "line",
        symbol: "none",
        lineStyle: {color: colour("dim"), width: 1, type: "dashed"},
        itemStyle: {color: colour("dim")},
        data: [
          [low, (low * roof.gbps) / 1e3],
          [(roof.tflops * 1e3) / roof.gbps, roof.tflops],
          [high, roof.tflops],
        ],
      })),
      ...KINDS.map(({kind, colour: name}, at) => ({
        name: kind,
        type: "scatter",
        itemStyle: {color: colour(name), opacity: 0.75},
        symbolSize: (value: number[]) => 5 + 25 * Math.sqrt((table.number(value[2] ?? 0, "share") ?? 0) / most),
        data: points[at]?.map((row) => [table.number(row, "intensity"), table.number(row, "tflops"), row]),
      })).filter(({data}) => data?.length),
    ],
  };
}

export function Roofline({data}: {data: Data}) {
  const table = data.tables.get("roofline");
  const option = useCallback((): Option => (table ? optionFor(table) : {}), [table]);
  if (!table) return null;
  return (
    <section id="roofline">
      <header>
        <h2>Roofline</h2>
        <span class="dim">
          operators by inputs; area is device time; FLOPs and bytes from recorded shapes, each operand once
        </span>
      </header>
      <ChartView
        height={340}
        label="Operators under the roofline of the device; table roofline has the numbers"
        option={option}
      />
    </section>
  );
}
