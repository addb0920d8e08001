// SPDX-License-Identifier: Apache-2.0
// The page of a report: its header, theme, notices and verdict, and the sections that its data have.
import {useState} from "preact/hooks";
import type {Data} from "./data";
import {After} from "./sections/after";
import {Energy} from "./sections/energy";
import {Fixes} from "./sections/fixes";
import {Kernels} from "./sections/kernels";
import {Memory} from "./sections/memory";
import {Notices} from "./sections/notices";
import {Path} from "./sections/path";
import {Plan} from "./sections/plan";
import {RankMap} from "./sections/rank_map";
import {hasRankSteps, RankSteps} from "./sections/rank_steps";
import {Recording} from "./sections/recording";
import {Roles} from "./sections/roles";
import {Roofline} from "./sections/roofline";
import {Steps} from "./sections/steps";
import {Tables} from "./sections/tables";
import {Verdict} from "./sections/verdict";
import {Compare} from "./served/compare";
import {Console} from "./served/console";
import {OverTime} from "./served/over_time";
import {initialTheme, setTheme, ThemeContext} from "./theme";
import {Timeline} from "./timeline";
import {allowJumps} from "./timeline/jump";
import {Top} from "./top";
import {Words} from "./words";

/** Few ranks are drawn from their ledger, many from a packed map of it. */
function Ranks({data}: {data: Data}) {
  return data.rankMap ? <RankMap packed={data.rankMap} /> : <RankSteps data={data} />;
}

const SECTIONS = [
  {id: "fixes", name: "Fixes", Section: Fixes},
  {id: "plan", name: "Plan", Section: Plan},
  {id: "after", name: "After", Section: After},
  {id: "path", name: "Path", Section: Path},
  {id: "over_time", name: "Over time", Section: OverTime},
  {id: "steps", name: "Steps", Section: Steps},
  {id: "roles", name: "Roles", Section: Roles},
  {id: "ranks", name: "Ranks", Section: Ranks},
  {id: "timeline", name: "Timeline", Section: Timeline},
  {id: "tables", name: "Tables", Section: Tables},
  {id: "compare", name: "Compare", Section: Compare},
  {id: "sql", name: "SQL", Section: Console},
  {id: "kernels", name: "Kernels", Section: Kernels},
  {id: "roofline", name: "Roofline", Section: Roofline},
  {id: "memory", name: "Memory", Section: Memory},
  {id: "energy", name: "Energy", Section: Energy},
  {id: "recording", name: "Recording", Section: Recording},
] as const;

function has(data: Data, id: (typeof SECTIONS)[number]["id"]): boolean {
  switch (id) {
    case "plan":
      return data.analyze.plan.length > 1;
    case "path":
      return data.path !== undefined && data.path.total_ns > 0;
    case "after":
      return data.predicted !== undefined;
    case "steps":
      return data.tables.has("ledger");
    case "ranks":
      return data.rankMap !== undefined || hasRankSteps(data.tables.get("ledger"));
    case "roles":
      return (data.tables.get("roles")?.rows ?? 0) > 1;
    case "timeline":
      return data.timeline !== undefined || data.served !== undefined;
    case "compare":
      return data.served?.several ?? false;
    case "over_time":
      return data.served !== undefined && (data.served.gauges === true || data.analyze.cost !== undefined);
    case "sql":
      return data.served !== undefined;
    case "kernels":
      return data.tables.has("measured_kernels");
    case "roofline":
      return (data.tables.get("roofline")?.column("tflops") ?? []).some((value) => value !== null);
    case "memory":
      return data.tables.has("memory_curve");
    case "energy":
      return data.energy !== undefined;
    default:
      return true;
  }
}

export function App({data}: {data: Data}) {
  const [theme, choose] = useState(initialTheme);
  const toggle = () => choose(setTheme(theme === "dark" ? "light" : "dark"));
  if (has(data, "timeline")) allowJumps();
  const sections = SECTIONS.filter(({id}) => has(data, id));
  return (
    <ThemeContext.Provider value={theme}>
      <Top
        subject={data.page.subject}
        path={data.page.path}
        sections={sections}
        theme={theme}
        toggle={toggle}
        place={data.served && {kind: "run", id: data.served.run}}
      />
      <main class="wrap">
        <Notices data={data} />
        <Verdict data={data} />
        {sections.map(({id, Section}) => (
          <Section key={id} data={data} />
        ))}
        <Words />
        <footer>
          {data.served
            ? `Served by gapless ${data.analyze.gapless.version}. This page asks nobody but its own server.`
            : `Written by gapless ${data.analyze.gapless.version}. This file holds all it shows and connects to nothing.`}
        </footer>
      </main>
    </ThemeContext.Provider>
  );
}
