// SPDX-License-Identifier: Apache-2.0
// Kernels that a profiler of kernels measured: where they stand under the roofs of their GPU, and, of the one that is
// chosen, its launch, what holds it back, what its warps wait for, and the lines that hold most samples.
import {useCallback, useState} from "preact/hooks";
import {axis, base, ChartView, legend, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {bytes, cell, count, duration, percent, plain} from "../format";
import {Choice} from "../owner";
import {Scroll} from "../scroll";
import {colour} from "../theme";
import {canJump, jumpTo} from "../timeline/jump";

const COLOURS = ["compute", "copy", "comm", "launch", "sync"] as const;

/** The rows of a table that are about the launch of a row of measured_kernels. */
function rowsOf(table: Table | undefined, kernels: Table, kernel: number): number[] {
  if (!table) return [];
  const same = (row: number, name: string) => table.number(row, name) === kernels.number(kernel, name);
  return [...Array(table.rows).keys()].filter((row) => same(row, "trace") && same(row, "launch_index"));
}

function roofTip(table: Table, row: number): string {
  const lines = [
    `${table.text(row, "precision")}, launch ${table.number(row, "launch_index")}, ${cell(table.number(row, "duration_ns"), "ns")}`,
    `${plain(table.number(row, "tflops") ?? 0)} TFLOP/s at ${plain(table.number(row, "intensity") ?? 0)} FLOP/byte`,
  ];
  const share = table.number(row, "ceiling_share");
  if (share !== null) lines.push(`${percent(share)} of its roof, bound by ${table.text(row, "bound")}`);
  return tip(table.text(row, "kernel_name"), lines);
}

/** The roof of each precision: the highest of the launches, whose clocks differ a little. */
function roofsOf(table: Table, rows: readonly number[]) {
  const roofs = new Map<string, {name: string; tflops: number; gbps: number}>();
  for (const row of rows) {
    const tflops = table.number(row, "peak_tflops");
    const gbps = table.number(row, "peak_gbps");
    const precision = table.text(row, "precision");
    if (tflops === null || gbps === null || (roofs.get(precision)?.tflops ?? 0) >= tflops) continue;
    roofs.set(precision, {name: `${precision}: ${plain(tflops)} TFLOP/s, ${plain(gbps)} GB/s`, tflops, gbps});
  }
  return [...roofs.values()].sort((a, b) => a.tflops - b.tflops);
}

function rooflineOption(table: Table, chosen: readonly number[]): Option {
  const rows = [...Array(table.rows).keys()].filter((row) => (table.number(row, "intensity") ?? 0) > 0);
  const most = Math.max(...rows.map((row) => table.number(row, "share") ?? 0), 1e-9);
  const roofs = roofsOf(table, rows);
  const intensities = rows.map((row) => table.number(row, "intensity") ?? 1);
  const ridges = roofs.map((roof) => (roof.tflops * 2e3) / roof.gbps);
  const low = 10 ** Math.floor(Math.log10(Math.min(...intensities, 1)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...intensities, ...ridges, 10)));
  const precisions = [...new Set(rows.map((row) => table.text(row, "precision")))];
  return {
    ...base(),
    grid: {left: 66, right: 20, top: 34, bottom: 48},
    legend: legend(),
    tooltip: tooltip({
      trigger: "item",
      formatter: (item: {seriesType: string; seriesName: string; value: number[]}) =>
        item.seriesType === "scatter" ? roofTip(table, item.value[2] ?? 0) : tip(item.seriesName, []),
    }),
    xAxis: axis("FLOP/byte", {
      type: "log",
      min: low,
      max: high,
      nameLocation: "middle",
      nameGap: 28,
      axisLabel: {color: colour("dim"), formatter: plain},
    }),
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
      ...precisions.map((precision, at) => ({
        name: precision,
        type: "scatter",
        itemStyle: {color: colour(COLOURS[at % COLOURS.length] ?? "compute"), opacity: 0.75},
        symbolSize: (value: number[]) => 5 + 25 * Math.sqrt((table.number(value[2] ?? 0, "share") ?? 0) / most),
        data: rows
          .filter((row) => table.text(row, "precision") === precision)
          .map((row) => ({
            value: [table.number(row, "intensity"), table.number(row, "tflops"), row],
            itemStyle: chosen.includes(row) ? {borderColor: colour("text"), borderWidth: 2, opacity: 1} : {},
          })),
      })),
    ],
  };
}

function stallsOption(table: Table, rows: readonly number[]): Option {
  const shown = rows.slice(0, 8).reverse();
  const name = (row: number) => table.text(row, "stall").replace(/_/g, " ");
  return {
    ...base(),
    grid: {left: 150, right: 60, top: 6, bottom: 26},
    tooltip: tooltip({
      trigger: "item",
      formatter: (item: {dataIndex: number}) => {
        const row = shown[item.dataIndex] ?? 0;
        const waits = table.text(row, "waits_for");
        return tip(name(row), [
          `${plain(table.number(row, "cycles") ?? 0)} cycles between two instructions of a warp`,
          waits ? `it waits for ${waits}` : "the warp goes on",
        ]);
      },
    }),
    xAxis: axis("", {type: "value", axisLabel: {color: colour("dim"), formatter: percent, hideOverlap: true}}),
    yAxis: axis("", {type: "category", data: shown.map(name), splitLine: {show: false}}),
    series: [
      {
        type: "bar",
        barMaxWidth: 18,
        label: {
          show: true,
          position: "right",
          color: colour("dim"),
          formatter: (item: {value: number}) => percent(item.value),
        },
        data: shown.map((row) => ({
          value: table.number(row, "share") ?? 0,
          itemStyle: {color: colour(table.text(row, "waits_for") ? "sync" : "compute")},
        })),
      },
    ],
  };
}

/** What was launched, and what ncu measured of it in one number each. */
function Launch({kernels, row}: {kernels: Table; row: number}) {
  const one = (name: string, shown: (value: number) => string) => {
    const value = kernels.number(row, name);
    return value === null ? "" : shown(value);
  };
  const facts: [string, string][] = [
    ["grid × block", [kernels.text(row, "grid"), kernels.text(row, "block")].filter(Boolean).join(" × ")],
    ["measured", one("duration_ns", (ns) => `${duration(ns)}, launches: ${one("launches", count)}`)],
    ["in the timeline", one("total_ns", (ns) => `${duration(ns)} in ${one("calls", count)} launches`)],
    ["registers of a thread", one("registers", count)],
    ["shared memory of a block", one("shared_bytes", bytes)],
    ["compute", one("sm_pct", (value) => percent(value / 100))],
    ["device memory", one("dram_pct", (value) => percent(value / 100))],
    ["resident warps", one("occupancy_pct", (value) => percent(value / 100))],
    ["active threads of a warp", one("warp_efficiency_pct", (value) => percent(value / 100))],
  ];
  return (
    <dl class="launch">
      {facts
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

interface Shown {
  name: string;
  numeric?: boolean;
  value: (row: number) => string;
}

/** A small table of some rows; nothing where there are none. */
function Rows({title, rows, columns}: {title: string; rows: readonly number[]; columns: readonly Shown[]}) {
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              {columns.map(({name, numeric}) => (
                <th key={name} scope="col" class={numeric ? "num" : ""}>
                  <span style={{display: "block", padding: "5px 10px"}}>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row}>
                {columns.map(({name, numeric, value}) => (
                  <td key={name} class={numeric ? "num" : ""} title={value(row)}>
                    {value(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}

function Limits({table, rows}: {table: Table; rows: readonly number[]}) {
  return (
    <Rows
      title="What holds it back"
      rows={rows}
      columns={[
        {name: "can save", numeric: true, value: (row) => cell(table.number(row, "saves_share"), "share")},
        {name: "limit", value: (row) => table.text(row, "what")},
        {name: "to try", value: (row) => table.text(row, "advice")},
      ]}
    />
  );
}

function HotLines({table, rows}: {table: Table; rows: readonly number[]}) {
  const place = (row: number) => {
    const line = table.number(row, "line");
    if (line !== null) return `${table.text(row, "file")}:${line}`;
    return `${table.text(row, "function") || "its code"}, byte ${table.number(row, "pc")}`;
  };
  return (
    <Rows
      title="Lines with most samples"
      rows={rows}
      columns={[
        {name: "samples", numeric: true, value: (row) => cell(table.number(row, "share"), "share")},
        {name: "line", value: place},
        {
          name: "its warps wait for",
          value: (row) => {
            const waits = table.text(row, "waits_for") || table.text(row, "stall").replace(/_/g, " ");
            return waits ? `${waits} (${cell(table.number(row, "stall_share"), "share")})` : "–";
          },
        },
      ]}
    />
  );
}

function OfKernel({data, kernels, row}: {data: Data; kernels: Table; row: number}) {
  const limits = data.tables.get("kernel_limits");
  const stalls = data.tables.get("kernel_stalls");
  const lines = data.tables.get("kernel_hot_lines");
  const waiting = rowsOf(stalls, kernels, row);
  const option = useCallback((): Option => (stalls ? stallsOption(stalls, waiting) : {}), [stalls, kernels, row]);
  return (
    <>
      <Launch kernels={kernels} row={row} />
      {limits && <Limits table={limits} rows={rowsOf(limits, kernels, row)} />}
      {waiting.length > 0 && (
        <>
          <h3>Between two instructions of a warp</h3>
          <ChartView
            height={36 + 26 * Math.min(8, waiting.length)}
            label="Reasons for which its warps wait; table kernel_stalls has the numbers"
            option={option}
          />
        </>
      )}
      {lines && <HotLines table={lines} rows={rowsOf(lines, kernels, row)} />}
    </>
  );
}

function short(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** Names for choosing: by number, because names of kernels repeat. */
function namesOf(kernels: Table): string[] {
  return [...Array(kernels.rows).keys()].map((row) => {
    const name = kernels.text(row, "kernel_name");
    return `${row + 1}. ${short(name, 80)} ${kernels.text(row, "grid")}`;
  });
}

export function Kernels({data}: {data: Data}) {
  const kernels = data.tables.get("measured_kernels");
  const roofline = data.tables.get("kernel_roofline");
  const names = kernels ? namesOf(kernels) : [];
  const [chosen, choose] = useState(names[0] ?? "");
  const row = Math.max(0, names.indexOf(chosen));
  const points = kernels ? rowsOf(roofline, kernels, row) : [];
  const option = useCallback((): Option => (roofline ? rooflineOption(roofline, points) : {}), [roofline, row]);
  if (!kernels) return null;
  const name = kernels.text(row, "kernel_name");
  const launch = kernels.number(row, "gpu_op_id");
  return (
    <section id="kernels">
      <header>
        <h2>Measured kernels</h2>
        <span class="dim">
          hardware counters of single launches; area is measured time, the chosen one has a border
        </span>
        <div class="controls">
          <Choice label="Kernel" names={names} value={chosen} choose={choose} />
        </div>
      </header>
      {roofline && (
        <ChartView
          height={320}
          label="Measured kernels under the roofline of the device; table kernel_roofline has the numbers"
          option={option}
        />
      )}
      <h3 class="kernel" title={name}>
        {short(name, 240)}
      </h3>
      {launch !== null && canJump() && (
        <button type="button" class="link" onClick={() => jumpTo({gpu_op: launch}, "the measured kernels")}>
          show its launch in the timeline
        </button>
      )}
      <OfKernel data={data} kernels={kernels} row={row} />
    </section>
  );
}
