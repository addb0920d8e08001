// SPDX-License-Identifier: Apache-2.0
// Memory over the time of the recording, per device: in use by tensors and held by the allocator, or, where no totals were
// recorded, the growth since the recording began.
import {useCallback, useState} from "preact/hooks";
import {axis, base, ChartView, legend, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {bytes, duration} from "../format";
import {Choice, ownerOf} from "../owner";
import {colour} from "../theme";

const LINES = [
  {column: "reserved_bytes", name: "held by the allocator", colour: "unknown"},
  {column: "allocated_bytes", name: "in use by tensors", colour: "compute"},
  {column: "growth_bytes", name: "growth since the recording began", colour: "copy"},
] as const;

function optionFor(table: Table, rows: readonly number[]): Option {
  const known = (column: string) => rows.some((row) => table.number(row, column) !== null);
  const lines = LINES.filter(({column}) => (column === "growth_bytes" ? !known("allocated_bytes") : known(column)));
  const start = table.number(rows[0] ?? 0, "ts_ns") ?? 0;
  return {
    ...base(),
    grid: {left: 76, right: 16, top: 34, bottom: 44},
    legend: legend(),
    tooltip: tooltip({
      trigger: "axis",
      formatter: (items: {seriesName: string; data: [number, number]}[]) =>
        tip(
          duration(items[0]?.data[0] ?? 0),
          items.map(({seriesName, data}) => `${seriesName} ${bytes(data[1])}`),
        ),
    }),
    xAxis: axis("", {
      type: "value",
      splitLine: {show: false},
      max: "dataMax",
      axisLabel: {color: colour("dim"), formatter: duration, hideOverlap: true, showMaxLabel: false},
    }),
    yAxis: axis("", {type: "value", axisLabel: {color: colour("dim"), formatter: bytes}}),
    series: lines.map((line) => ({
      name: line.name,
      type: "line",
      step: "end",
      showSymbol: false,
      lineStyle: {width: 1.5, color: colour(line.colour)},
      itemStyle: {color: colour(line.colour)},
      areaStyle: {opacity: 0.12, color: colour(line.colour)},
      data: rows
        .filter((row) => table.number(row, line.column) !== null)
        .map((row) => [(table.number(row, "ts_ns") ?? 0) - start, table.number(row, line.column)]),
    })),
  };
}

export function Memory({data}: {data: Data}) {
  const table = data.tables.get("memory_curve");
  const owners = new Map<string, number[]>();
  for (let row = 0; table && row < table.rows; ++row) {
    const name = ownerOf(table, row);
    const rows = owners.get(name);
    if (rows) rows.push(row);
    else owners.set(name, [row]);
  }
  const names = [...owners.keys()];
  const [of, setOf] = useState(names.find((name) => name.includes("GPU")) ?? names[0] ?? "");
  const option = useCallback((): Option => (table ? optionFor(table, owners.get(of) ?? []) : {}), [table, of]);
  if (!table) return null;
  return (
    <section id="memory">
      <header>
        <h2>Memory</h2>
        <span class="dim">as the framework's allocator recorded it</span>
        <div class="controls">
          <Choice label="Device" names={names} value={of} choose={setOf} />
        </div>
      </header>
      <ChartView height={240} label="Memory over time; table memory has the peaks" option={option} />
    </section>
  );
}
