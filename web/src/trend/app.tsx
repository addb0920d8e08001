// SPDX-License-Identifier: Apache-2.0
// The page of `gapless trend --html`: a chart for each metric, and below it where its level changed.
import {useCallback, useRef, useState} from "preact/hooks";
import {type Chart, ChartView} from "../chart";
import {Scroll} from "../scroll";
import {initialTheme, setTheme, ThemeContext} from "../theme";
import {Top} from "../top";
import {beyond, optionFor} from "./chart";
import type {Change, Kind, Metric, Trends} from "./data";

const CLASSES: Record<Kind, string> = {improvement: "good", regression: "critical", change: "minor"};
const FIRST = 50; // rows of a table at first
const LEAST_AROUND = 15; // runs to either side of a change

function count(metric: Metric, kind: Kind): string {
  const number = metric.changes.filter((change) => change.kind === kind).length;
  return number === 0 ? "" : `${number} ${kind}${number === 1 ? "" : "s"}`;
}

function summary(metric: Metric): string {
  const counts = (["improvement", "regression", "change"] as const).map((kind) => count(metric, kind)).filter(Boolean);
  const better =
    metric.higher_is_better === undefined ? "" : metric.higher_is_better ? "higher is better" : "lower is better";
  const far = beyond(metric);
  const outside = far === 0 ? "" : `${far} beyond the axis, at its edge`;
  return [`last ${metric.last}`, better, counts.join(", ") || "no change of level", outside]
    .filter(Boolean)
    .join(" · ");
}

function Row({change, show}: {change: Change; show: () => void}) {
  return (
    <tr>
      <td>
        <button type="button" class="link" onClick={show} title="Show in the chart">
          {change.when}
        </button>
      </td>
      <td class="num">{change.size}</td>
      <td>{change.levels}</td>
      <td class={`chip ${CLASSES[change.kind]}`}>{change.kind}</td>
      <td>
        <span class="mono">{change.commits}</span>
        {change.within && <div class="dim">within {change.within}</div>}
        {change.also.map((other) => (
          <div key={other} class="dim">
            also changed: {other}
          </div>
        ))}
      </td>
    </tr>
  );
}

function Changes({metric, show}: {metric: Metric; show: (change: Change) => void}) {
  const [all, setAll] = useState(false);
  const newest = [...metric.changes].reverse();
  const shown = all ? newest : newest.slice(0, FIRST);
  return (
    <>
      <Scroll label={`Changes of ${metric.metric}`}>
        <table data-changes={metric.metric}>
          <thead>
            <tr>
              {["since", "change", "level", "", "commits"].map((name, at) => (
                <th key={name} scope="col" class={at === 1 ? "plain num" : "plain"}>
                  {name || "kind"}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((change) => (
              <Row key={change.index} change={change} show={() => show(change)} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {newest.length > FIRST && (
        <div class="below">
          <button type="button" onClick={() => setAll(!all)}>
            {all ? `Show ${FIRST}` : `Show all ${newest.length}`}
          </button>
        </div>
      )}
    </>
  );
}

function MetricSection({trend, metric, id}: {trend: Trends; metric: Metric; id: string}) {
  const chart = useRef<Chart | null>(null);
  const section = useRef<HTMLElement>(null);
  const runs = trend.runs[metric.runs] ?? {times: [], commits: []};
  const option = useCallback(() => optionFor(metric, runs, trend.what), [metric, runs, trend]);
  const ready = useCallback((drawn: Chart) => {
    chart.current = drawn;
  }, []);
  const last = metric.values.length - 1;
  const zoom = (startValue: number, endValue: number) =>
    chart.current?.dispatchAction({type: "dataZoom", startValue, endValue});
  const show = (change: Change) => {
    const around = Math.max(LEAST_AROUND, Math.round(last / 20), change.last - change.first);
    zoom(Math.max(0, change.index - around), Math.min(last, change.index + around));
    section.current?.scrollIntoView({block: "nearest"});
  };
  return (
    <section id={id} ref={section}>
      <header>
        <h2>{metric.metric}</h2>
        <span class="dim">{summary(metric)}</span>
        {metric.values.length > 5 && (
          <div class="controls">
            <button type="button" onClick={() => zoom(0, last)}>
              all {metric.values.length.toLocaleString("en-US")} {trend.what}s
            </button>
          </div>
        )}
      </header>
      <ChartView
        height={320}
        label={`${metric.metric}: ${summary(metric)}${metric.changes.length > 0 ? "; the changes are in the table below" : ""}`}
        option={option}
        ready={ready}
      />
      {metric.drift && <p class={`chip ${CLASSES[metric.drift.kind]}`}>{metric.drift.text}</p>}
      {metric.changes.length > 0 && <Changes metric={metric} show={show} />}
    </section>
  );
}

/** The trends of a series without the bar above: a heading, and a section for each metric. */
export function TrendParts({trend}: {trend: Trends}) {
  return (
    <>
      <section class="verdict">
        <div>
          <h1>{trend.subject}</h1>
          <p class="dim">
            Points are {trend.what}s, lines their levels; triangles mark where a level changed, green for the better,
            red for the worse. The slider zooms, and so does a date in the tables.
          </p>
          {trend.notes.map((note) => (
            <p key={note} class="dim">
              {note}
            </p>
          ))}
        </div>
      </section>
      {sectionsOf(trend).map(({id, metric}) => (
        <MetricSection key={`${trend.subject} ${id}`} trend={trend} metric={metric} id={id} />
      ))}
    </>
  );
}

/** A section for each metric. */
export function sectionsOf(trend: Trends): {id: string; name: string; metric: Metric}[] {
  return trend.metrics.map((metric, at) => ({id: `metric-${at}`, name: metric.metric, metric}));
}

export function TrendApp({trend}: {trend: Trends}) {
  const [theme, choose] = useState(initialTheme);
  const toggle = () => choose(setTheme(theme === "dark" ? "light" : "dark"));
  const sections = sectionsOf(trend).slice(0, 6);
  return (
    <ThemeContext.Provider value={theme}>
      <Top subject={trend.place} path={trend.place} sections={sections} theme={theme} toggle={toggle} />
      <main class="wrap">
        <TrendParts trend={trend} />
        <footer>
          {trend.what === "run" && "Times are UTC. "}
          Written by gapless {trend.version}. This file holds all it shows and connects to nothing.
        </footer>
      </main>
    </ThemeContext.Provider>
  );
}
