// SPDX-License-Identifier: Apache-2.0
// The waste ledger: each step, or each rank, as one bar of parts that add up to its time exactly.
import {useCallback, useMemo, useState} from "preact/hooks";
import {axis, base, type Chart, ChartView, legend, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {duration, percent} from "../format";
import {Choice, ownerOf} from "../owner";
import {PARTS} from "../parts";
import {colour} from "../theme";
import {canJump, jumpTo, type Target} from "../timeline/jump";

interface Bar {
  label: string;
  title: string;
  wall: number;
  parts: number[];
  target: Target;
}

function barOf(table: Table, row: number, label: string, title: string): Bar {
  const parts = PARTS.map((part) => table.number(row, part.column) ?? 0);
  const number = (name: string) => table.number(row, name) ?? undefined;
  const target = {trace: number("trace"), rank: number("rank"), step: number("step")};
  return {label, title, wall: table.number(row, "wall_ns") ?? 0, parts, target};
}

function optionFor(bars: readonly Bar[], title: string): Option {
  const series = PARTS.map((part, at) => ({
    name: part.name,
    type: "bar",
    stack: "time",
    barMaxWidth: 90,
    barCategoryGap: "18%",
    itemStyle: {color: colour(part.key)},
    data: bars.map((bar) => bar.parts[at] ?? 0),
    used: bars.some((bar) => (bar.parts[at] ?? 0) > 0),
  })).filter(({used}) => used);
  return {
    ...base(),
    grid: {left: 62, right: 16, top: 34, bottom: bars.length > 60 ? 74 : 44},
    legend: legend(),
    tooltip: tooltip({
      trigger: "axis",
      axisPointer: {type: "shadow"},
      formatter: (items: {dataIndex: number}[]) => {
        const bar = bars[items[0]?.dataIndex ?? 0];
        if (!bar) return "";
        const lines = PARTS.map((part, at) => ({name: part.name, ns: bar.parts[at] ?? 0}))
          .filter(({ns}) => ns > 0)
          .map(({name, ns}) => `${name} ${duration(ns)} (${percent(ns / bar.wall)})`);
        return tip(`${bar.title}: ${duration(bar.wall)}`, lines);
      },
    }),
    xAxis: axis(title, {
      type: "category",
      nameLocation: "middle",
      nameGap: 26,
      data: bars.map((bar) => bar.label),
      splitLine: {show: false},
    }),
    yAxis: axis("", {type: "value", axisLabel: {color: colour("dim"), formatter: duration}}),
    dataZoom: bars.length > 60 ? [{type: "slider", height: 18, bottom: 6}] : [],
    series,
  };
}

export function Steps({data}: {data: Data}) {
  const table = data.tables.get("ledger");
  const rows = table ? [...Array(table.rows).keys()] : [];
  const ofSteps = rows.filter((row) => table?.number(row, "step") !== null);
  const wholes = rows.filter((row) => table?.number(row, "step") === null);
  const [by, setBy] = useState<"step" | "rank">(wholes.length > 1 || ofSteps.length === 0 ? "rank" : "step");
  const owners = table ? [...new Set(ofSteps.map((row) => ownerOf(table, row)))] : [];
  const [of, setOf] = useState(owners[0] ?? "");
  const bars = useMemo(() => {
    if (!table) return [];
    if (by === "rank")
      return wholes.map((row) =>
        barOf(table, row, ownerOf(table, row), `${ownerOf(table, row)}, all that was analysed`),
      );
    const mine = ofSteps.filter((row) => ownerOf(table, row) === of);
    return mine.map((row) => {
      const step = table.number(row, "step");
      return barOf(table, row, String(step), `step ${step} · ${of}`);
    });
  }, [table, by, of]);
  const option = useCallback((): Option => optionFor(bars, by === "rank" ? "" : "step"), [bars]);
  const ready = useCallback(
    (chart: Chart) => {
      chart.on("click", (item) => {
        const target = bars[item.dataIndex]?.target;
        if (target?.step !== undefined) jumpTo(target, "the steps");
      });
    },
    [bars],
  );
  if (!table) return null;
  return (
    <section id="steps">
      <header>
        <h2>Time of each {by}</h2>
        <span class="dim">
          parts add up to the whole; idle only when nothing runs on any stream
          {canJump() && by === "step" && "; a click on a bar shows the step in the timeline"}
        </span>
        <div class="controls">
          {wholes.length > 1 && ofSteps.length > 0 && (
            <select aria-label="Bars" value={by} onChange={(event) => setBy(event.currentTarget.value as typeof by)}>
              <option value="step">by step</option>
              <option value="rank">by rank</option>
            </select>
          )}
          {by === "step" && <Choice label="Rank and device" names={owners} value={of} choose={setOf} />}
        </div>
      </header>
      <ChartView
        height={280}
        label={`Stacked bars of the time of each ${by}; table ledger has the numbers`}
        option={option}
        ready={ready}
      />
      {table.allRows > table.rows && (
        <p class="dim">
          {table.rows} of {table.allRows} rows of the ledger
        </p>
      )}
    </section>
  );
}
