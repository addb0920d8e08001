// SPDX-License-Identifier: Apache-2.0
// Ranks × steps as a heat map: what each rank takes over a step, against the median rank in that step.
//
// Collectives make the ranks of a job finish a step together, so the whole step is the same on all of them, and says
// nothing. Shown first is therefore the step without exposed communication: what a rank does itself.
import {useCallback, useState} from "preact/hooks";
import {axis, base, type Chart, ChartView, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {duration, percent} from "../format";
import {ownerOf} from "../owner";
import {PARTS} from "../parts";
import {colour} from "../theme";
import {jumpTo, type Target} from "../timeline/jump";

const MOST_RANKS = 64;
const CLEAR = 0.1; // a tenth more than the median rank is drawn in the full colour

const OWN = "step without communication";
const WHOLE = "whole step";
const CHOICES = [OWN, WHOLE, ...PARTS.map((part) => part.name)];

interface Cell {
  ns: number;
  more: number; // than the median rank of the step
  target: Target;
}

interface Grid {
  ranks: string[]; // that differ most first
  steps: number[];
  cells: Map<string, Cell>; // by "rank step"
  all: number; // ranks that there are
}

function nsOf(table: Table, row: number, by: string): number {
  const wall = table.number(row, "wall_ns") ?? 0;
  if (by === WHOLE) return wall;
  if (by === OWN) return wall - (table.number(row, "exposed_comm_ns") ?? 0);
  const part = PARTS.find(({name}) => name === by);
  return part ? (table.number(row, part.column) ?? 0) : 0;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** The rows of complete steps, by rank, against the median of each step. */
export function gridOf(table: Table, by: string): Grid {
  const values = new Map<number, Map<string, number>>();
  const targets = new Map<string, Target>();
  for (let row = 0; row < table.rows; row += 1) {
    const step = table.number(row, "step");
    if (step === null) continue;
    const ranks = values.get(step) ?? new Map<string, number>();
    ranks.set(ownerOf(table, row), nsOf(table, row, by));
    values.set(step, ranks);
    const of = (name: string) => table.number(row, name) ?? undefined;
    targets.set(`${ownerOf(table, row)} ${step}`, {trace: of("trace"), rank: of("rank"), step});
  }
  const cells = new Map<string, Cell>();
  const distance = new Map<string, number>();
  for (const [step, ranks] of values) {
    const middle = median([...ranks.values()]);
    for (const [rank, ns] of ranks) {
      const more = ns - middle;
      cells.set(`${rank} ${step}`, {ns, more, target: targets.get(`${rank} ${step}`) ?? {step}});
      distance.set(rank, (distance.get(rank) ?? 0) + Math.abs(more));
    }
  }
  const ranks = [...distance].sort((a, b) => b[1] - a[1]).map(([rank]) => rank);
  return {ranks: ranks.slice(0, MOST_RANKS), steps: [...values.keys()].sort((a, b) => a - b), cells, all: ranks.length};
}

/** True where there are ranks and steps to compare. */
export function hasRankSteps(table: Table | undefined): boolean {
  if (!table) return false;
  const grid = gridOf(table, WHOLE);
  return grid.all > 1 && grid.steps.length > 1;
}

function optionFor(grid: Grid, by: string): Option {
  const data: [number, number, number][] = [];
  const whole = median([...grid.cells.values()].map(({ns}) => ns)) || 1;
  grid.ranks.forEach((rank, y) => {
    grid.steps.forEach((step, x) => {
      const cell = grid.cells.get(`${rank} ${step}`);
      if (cell) data.push([x, y, cell.more / whole]);
    });
  });
  return {
    ...base(),
    grid: {left: 110, right: 16, top: 8, bottom: 84},
    tooltip: tooltip({
      formatter: (item: {value: [number, number, number]}) => {
        const rank = grid.ranks[item.value[1]] ?? "";
        const step = grid.steps[item.value[0]] ?? 0;
        const cell = grid.cells.get(`${rank} ${step}`);
        if (!cell) return "";
        const than = cell.more < 0 ? "less" : "more";
        return tip(`${rank}, step ${step}: ${duration(cell.ns)}`, [
          `${by}: ${duration(Math.abs(cell.more))} ${than} than the median rank (${percent(Math.abs(cell.more) / whole)})`,
        ]);
      },
    }),
    xAxis: axis("step", {
      type: "category",
      nameLocation: "middle",
      nameGap: 26,
      data: grid.steps.map(String),
      splitLine: {show: false},
    }),
    yAxis: axis("", {type: "category", inverse: true, data: grid.ranks, splitLine: {show: false}}),
    visualMap: {
      min: -CLEAR,
      max: CLEAR,
      orient: "horizontal",
      left: "center",
      bottom: 2,
      itemHeight: 160,
      itemWidth: 12,
      text: ["more than the median rank", "less"],
      textStyle: {color: colour("dim")},
      formatter: (value: number) => percent(value),
      inRange: {color: [colour("compute"), colour("soft"), colour("data")]},
    },
    series: [{type: "heatmap", data, itemStyle: {borderColor: colour("card"), borderWidth: 1}}],
  };
}

export function RankSteps({data}: {data: Data}) {
  const table = data.tables.get("ledger");
  const [by, setBy] = useState(OWN);
  const grid = table ? gridOf(table, by) : undefined;
  const option = useCallback((): Option => (table ? optionFor(gridOf(table, by), by) : {}), [table, by]);
  const ready = useCallback(
    (chart: Chart) => {
      chart.on("click", ({value}) => {
        const [x = -1, y = -1] = value as [number, number];
        const cell = grid?.cells.get(`${grid.ranks[y]} ${grid.steps[x]}`);
        if (cell) jumpTo(cell.target, "the ranks");
      });
    },
    [table, by],
  );
  if (!table || !grid) return null;
  return (
    <section id="ranks">
      <header>
        <h2>Ranks, step by step</h2>
        <span class="dim">the ranks that differ most from the median come first</span>
        <div class="controls">
          <select aria-label="Time to compare" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            {CHOICES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
      </header>
      <ChartView
        height={110 + 18 * grid.ranks.length}
        label={`Heat map of ${grid.ranks.length} ranks and ${grid.steps.length} steps; table ledger has the numbers`}
        option={option}
        ready={ready}
      />
      {(grid.all > grid.ranks.length || table.allRows > table.rows) && (
        <p class="dim">
          {grid.ranks.length} of {grid.all} ranks in this report
          {table.allRows > table.rows && (
            <>
              ; it holds {table.rows} of the ledger’s {table.allRows} rows
            </>
          )}
        </p>
      )}
    </section>
  );
}
