// SPDX-License-Identifier: Apache-2.0
// A history that is served: its series, and the trends of the one that is chosen. The address says which, so it can be sent.

import {useEffect, useState} from "preact/hooks";
import type {ServedSeries, ServedSeriesList} from "schema/serve";
import {Scroll} from "../scroll";
import {sectionsOf, TrendParts} from "../trend/app";
import {decodeTrends, type TrendPage} from "../trend/data";
import {useAnswer} from "./ask";
import {Frame} from "./site";

interface Chosen {
  branch: string;
  label: string;
}

function chosenIn(hash: string): Chosen | undefined {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const branch = words.get("branch");
  return branch === null ? undefined : {branch, label: words.get("label") ?? ""};
}

/** The newest series is shown until another is chosen; "main" before other branches with a run as new. */
function firstOf(series: readonly ServedSeries[]): Chosen | undefined {
  const first = series.find(({branch}) => branch === "main") ?? series[0];
  return first && {branch: first.branch, label: first.benchmark};
}

function nameOf({branch, label}: Chosen): string {
  return `${label || "without a name"} on ${branch || "no branch"}`;
}

function day(unixMs: number | undefined): string {
  return unixMs === undefined ? "" : new Date(unixMs).toISOString().slice(0, 16).replace("T", " ");
}

function SeriesTable({series, chosen}: {series: readonly ServedSeries[]; chosen: Chosen | undefined}) {
  return (
    <section id="series">
      <header>
        <h2>Series</h2>
        <span class="dim">a benchmark on a branch; a click shows its trends</span>
      </header>
      <Scroll label="Series of the history">
        <table>
          <thead>
            <tr>
              {["benchmark", "branch", "runs", "newest (UTC)", "metrics"].map((name) => (
                <th key={name} scope="col" class={name === "runs" ? "plain num" : "plain"}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {series.map((one) => {
              const words = {branch: one.branch, label: one.benchmark};
              const is = chosen?.branch === words.branch && chosen.label === words.label;
              return (
                <tr key={`${one.branch} ${one.benchmark}`} data-series={nameOf(words)} data-runs={one.runs}>
                  <td>
                    <a href={`#${new URLSearchParams(words)}`} aria-current={is ? "true" : undefined}>
                      {one.benchmark || "without a name"}
                    </a>
                  </td>
                  <td>{one.branch || "—"}</td>
                  <td class="num">{one.runs.toLocaleString("en-US")}</td>
                  <td>{day(one.newest_unix_ms)}</td>
                  <td class="dim">{one.metrics.join(", ")}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

export function HistoryView({id, version}: {id: string; version: string}) {
  const route = `/api/history/${encodeURIComponent(id)}`;
  const list = useAnswer<ServedSeriesList>(route);
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => {
      if (location.hash === "" || chosenIn(location.hash)) setHash(location.hash); // not that of a section
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  const series = list.body?.series ?? [];
  const chosen = chosenIn(hash) ?? firstOf(series);
  const page = useAnswer<TrendPage>(chosen && `${route}/trend?${new URLSearchParams({...chosen})}`);
  const trend = page.body && decodeTrends(page.body);
  const place = list.body?.place ?? "";
  document.title = `${chosen ? nameOf(chosen) : "History"} · gapless`;
  return (
    <Frame
      place={{kind: "history", id}}
      version={version}
      subject={place}
      sections={[
        {id: "series", name: "Series"},
        ...(trend
          ? sectionsOf(trend)
              .slice(0, 6)
              .map(({id, name}) => ({id, name}))
          : []),
      ]}
      problem={list.problem || page.problem}
    >
      {list.body && series.length === 0 && (
        <section>
          <h1>The history is empty</h1>
          <p>
            <code>gapless history record RESULT</code> adds to it.
          </p>
        </section>
      )}
      {series.length > 0 && <SeriesTable series={series} chosen={chosen} />}
      {trend && <TrendParts trend={trend} />}
    </Frame>
  );
}
