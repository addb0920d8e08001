// SPDX-License-Identifier: Apache-2.0
// A recording over time: utilisation, memory and power of its GPUs where they were recorded, with its steps; a click leads to
// that instant in the timeline. Beside it what the run costs, where prices or power are known.
import "./served.css";
import {useCallback, useEffect, useMemo, useState} from "preact/hooks";
import {axis, base, type Chart, ChartView, legend, type Option, tip, tooltip} from "../chart";
import type {Amount, Data} from "../data";
import {amounts, bytes, duration, percent} from "../format";
import {colour} from "../theme";
import {canJump, jumpTo} from "../timeline/jump";
import {query, rowsOf} from "./query";

const MOST_MARKED = 150; // steps
const COLOURS = ["compute", "comm", "copy", "call"];

const GAUGES = [
  {name: "gpu.utilization", title: "Utilisation", format: percent, most: 1},
  {name: "gpu.memory.used", title: "Memory in use", format: bytes, most: undefined},
  {name: "gpu.power", title: "Power", format: (watts: number) => `${Math.round(watts)} W`, most: undefined},
] as const;
const NAMES = GAUGES.map(({name}) => `'${name}'`).join(", ");

/** All values, or of many the mean in each of a thousand stretches. */
const ALL = `SELECT trace, rank, name, device, ts_ns, value FROM counter WHERE name IN (${NAMES}) ORDER BY ts_ns`;
const MEANS = `WITH span AS (SELECT max(1, (max(ts_ns) - min(ts_ns)) / 1000) AS ns FROM counter WHERE name IN (${NAMES}))
SELECT trace, rank, name, device, min(ts_ns) AS ts_ns, avg(value) AS value FROM counter, span
WHERE name IN (${NAMES}) GROUP BY trace, name, device, ts_ns / ns ORDER BY 5`;
const STEPS = "SELECT trace, step, ts_ns, dur_ns FROM step WHERE complete = 1 ORDER BY trace, ts_ns";

interface Line {
  name: string;
  points: [number, number][];
}

interface Step {
  trace: number;
  step: number;
  from: number;
  dur: number;
}

interface Recorded {
  lines: Map<string, Line[]>; // by what they measure
  means: boolean;
  steps: Step[];
}

async function read(run: string): Promise<Recorded> {
  const [all, steps] = await Promise.all([query(run, ALL), query(run, STEPS)]);
  const answer = all.complete ? all : await query(run, MEANS);
  const lines = new Map<string, Line[]>();
  for (const {trace, name, device, ts_ns, value} of rowsOf(answer)) {
    const what = String(name);
    const key = `GPU ${device ?? ""} of ${trace}`;
    const of = lines.get(what) ?? [];
    lines.set(what, of);
    const line = of.find((one) => one.name === key) ?? {name: key, points: []};
    if (line.points.length === 0) of.push(line);
    line.points.push([Number(ts_ns), Number(value)]);
  }
  for (const of of lines.values()) {
    const devices = new Set(of.map(({name}) => name.split(" of ")[0]));
    if (devices.size === of.length) for (const line of of) line.name = line.name.split(" of ")[0] ?? line.name;
  }
  const [first] = rowsOf(steps);
  return {
    lines,
    means: !all.complete,
    steps: rowsOf(steps)
      .filter(({trace}) => trace === first?.["trace"])
      .map(({trace, step, ts_ns, dur_ns}) => ({
        trace: Number(trace),
        step: Number(step),
        from: Number(ts_ns),
        dur: Number(dur_ns),
      })),
  };
}

/** The step at an instant; else as much time around it as a step takes. */
function showAt(ns: number, steps: readonly Step[]): void {
  const dur = [...steps].sort((a, b) => a.dur - b.dur)[Math.floor(steps.length / 2)]?.dur ?? 1e8;
  jumpTo({trace: steps[0]?.trace, from: Math.round(ns - dur / 2), to: Math.round(ns + dur / 2)}, "over time");
}

function optionOf(
  lines: readonly Line[],
  steps: readonly Step[],
  format: (value: number) => string,
  most?: number,
): Option {
  const ends = [...lines.flatMap(({points}) => points.map(([ns]) => ns)), ...steps.map(({from, dur}) => from + dur)];
  return {
    ...base(),
    grid: {left: 70, right: 16, top: lines.length > 1 ? 34 : 14, bottom: 28},
    ...(lines.length > 1 && {legend: legend()}),
    tooltip: tooltip({
      trigger: "axis",
      formatter: (items: {seriesName: string; data: [number, number]}[]) =>
        tip(
          duration(items[0]?.data[0] ?? 0),
          items.map(({seriesName, data}) => `${seriesName} ${format(data[1])}`),
        ),
    }),
    xAxis: axis("", {
      type: "value",
      min: 0,
      max: ends.reduce((a, b) => Math.max(a, b), 1),
      splitLine: {show: false},
      axisLabel: {color: colour("dim"), formatter: duration, hideOverlap: true, showMaxLabel: false},
    }),
    yAxis: axis("", {type: "value", min: 0, max: most, axisLabel: {color: colour("dim"), formatter: format}}),
    series: lines.map((line, at) => ({
      name: line.name,
      type: "line",
      symbolSize: 4,
      showSymbol: line.points.length < 200,
      lineStyle: {width: 1.5, color: colour(COLOURS[at % COLOURS.length] ?? "compute")},
      itemStyle: {color: colour(COLOURS[at % COLOURS.length] ?? "compute")},
      data: line.points,
      ...(at === 0 &&
        steps.length <= MOST_MARKED && {
          markLine: {
            silent: true,
            symbol: "none",
            label: {show: false},
            lineStyle: {color: colour("line"), type: "solid"},
            data: steps.map(({from}) => ({xAxis: from})),
          },
        }),
    })),
  };
}

function GaugeChart({gauge, lines, steps}: {gauge: (typeof GAUGES)[number]; lines: Line[]; steps: Step[]}) {
  const option = useCallback(() => optionOf(lines, steps, gauge.format, gauge.most), [lines, steps]);
  const ready = useCallback(
    (chart: Chart) => {
      const zr = chart.getZr();
      zr.off("click");
      zr.on("click", ({offsetX, offsetY}) => {
        if (!chart.containPixel("grid", [offsetX, offsetY])) return;
        showAt(chart.convertFromPixel({seriesIndex: 0}, [offsetX, offsetY])[0] ?? 0, steps);
      });
    },
    [steps],
  );
  const points = lines.reduce((sum, line) => sum + line.points.length, 0);
  return (
    <div data-gauge={gauge.name} data-points={points} data-last={lines[0]?.points.at(-1)?.[1]}>
      <h3>{gauge.title}</h3>
      <ChartView
        height={170}
        label={`${gauge.title} over time; table counter has the values`}
        option={option}
        ready={ready}
      />
    </div>
  );
}

function Card({name, amount}: {name: string; amount: Amount | undefined}) {
  const [first, ...others] = amount ? amounts(amount) : [];
  if (!amount || !first) return null;
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd data-cost={name} data-money={amount.money} data-kwh={amount.kwh}>
        {first} <small>{others.join(" · ")}</small>
      </dd>
    </div>
  );
}

function Costs({cost}: {cost: NonNullable<Data["analyze"]["cost"]>}) {
  return (
    <dl class="figures costs">
      <Card name="a step" amount={cost.step} />
      <Card name="an epoch" amount={cost.epoch} />
      <Card name="a month" amount={cost.month} />
      {cost.watts_per_gpu !== undefined && (
        <div class="figure">
          <dt>power of a GPU</dt>
          <dd data-cost="watts" data-watts={cost.watts_per_gpu}>
            {Math.round(cost.watts_per_gpu)} W <small>{cost.watts_source}</small>
          </dd>
        </div>
      )}
    </dl>
  );
}

/** For whom a click into a chart is nothing. */
function Steps({steps}: {steps: readonly Step[]}) {
  const [chosen, choose] = useState(0);
  const step = steps[chosen];
  if (!step || !canJump()) return null;
  return (
    <div class="controls">
      <select aria-label="Step" value={chosen} onChange={(event) => choose(Number(event.currentTarget.value))}>
        {steps.map(({step, dur}, at) => (
          <option key={`${step} ${at}`} value={at}>
            step {step}, {duration(dur)}
          </option>
        ))}
      </select>
      <button
        type="button"
        onClick={() => jumpTo({trace: step.trace, from: step.from, to: step.from + step.dur}, "over time")}
      >
        Show in the timeline
      </button>
    </div>
  );
}

export function OverTime({data}: {data: Data}) {
  const run = data.served?.run ?? "";
  const gauges = data.served?.gauges === true;
  const [recorded, setRecorded] = useState<Recorded>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!gauges) return;
    read(run)
      .then(setRecorded)
      .catch((error: {message: string}) => setProblem(error.message));
  }, [run, gauges]);
  const shown = useMemo(
    () =>
      GAUGES.flatMap((gauge) =>
        recorded?.lines.has(gauge.name) ? [{gauge, lines: recorded.lines.get(gauge.name) ?? []}] : [],
      ),
    [recorded],
  );
  return (
    <section id="over_time">
      <header>
        <h2>{gauges ? "Over time" : "What it costs"}</h2>
        {gauges && (
          <span class="dim">
            {recorded?.means ? "means of short stretches; " : ""}lines are the beginnings of steps; a click leads to the
            timeline
          </span>
        )}
        {recorded && <Steps steps={recorded.steps} />}
      </header>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {data.analyze.cost && <Costs cost={data.analyze.cost} />}
      <div class="live">
        {shown.map(({gauge, lines}) => (
          <GaugeChart key={gauge.name} gauge={gauge} lines={lines} steps={recorded?.steps ?? []} />
        ))}
      </div>
    </section>
  );
}
