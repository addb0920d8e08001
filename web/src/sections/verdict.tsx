// SPDX-License-Identifier: Apache-2.0
// The answer first: what limits the run, the figures that matter, and where a step goes.
import type {Analyze, Data, DeviceBreakdown, HostBreakdown} from "../data";
import {amounts, bounds, duration, factor, percent} from "../format";
import {PARTS} from "../parts";
import {listOf, numbersOf, placesOf} from "../places";

interface Figure {
  name: string;
  value: string;
  small?: string;
  raw: number;
  gain?: boolean;
}

/** "if 1 and 3 are fixed": the plan. */
function fixedText({together, bottlenecks}: Analyze): string {
  const numbers = numbersOf(together?.bottlenecks ?? [], placesOf(bottlenecks));
  return `if ${listOf(numbers)} ${numbers.length === 1 ? "is" : "are"} fixed`;
}

function figures(analyze: Analyze): Figure[] {
  const {run, estimated_speedup: gain, cost} = analyze;
  const list: Figure[] = [];
  if (run.step_ns) {
    const {median, p95} = run.step_ns;
    const small = p95 === median ? undefined : `p95 ${duration(p95)}`;
    list.push({name: "median step", value: duration(median), raw: median, ...(small && {small})});
  }
  if (run.gpu_busy_share !== undefined)
    list.push({
      name: "GPU busy",
      value: (run.gpu_busy_is_least ? "≥ " : "") + percent(run.gpu_busy_share),
      raw: run.gpu_busy_share,
    });
  if (run.mfu !== undefined && (run.mfu_coverage ?? 0) >= 0.5) {
    const least = (run.mfu_coverage ?? 0) < 0.995 ? "≥ " : "";
    list.push({name: "MFU", value: least + percent(run.mfu), raw: run.mfu});
  }
  if (run.scaling) {
    const most = run.scaling.estimated ? "≤ " : "";
    list.push({name: "scaling", value: most + percent(run.scaling.efficiency), raw: run.scaling.efficiency});
  }
  if (cost) {
    const [first, ...others] = amounts(cost.month);
    if (first) list.push({name: "a month", value: first, raw: cost.month.money ?? 0, small: others.join(" · ")});
  }
  if (gain) {
    list.push({
      name: fixedText(analyze),
      value: factor(gain.expected),
      small: bounds(gain),
      raw: gain.expected,
      gain: true,
    });
  }
  return list;
}

function Figures({analyze}: {analyze: Analyze}) {
  return (
    <dl class="figures">
      {figures(analyze).map(({name, value, small, raw, gain}) => (
        <div class={`figure ${gain ? "gain" : ""}`} key={name}>
          <dt>{name}</dt>
          <dd data-figure={gain ? "estimated speedup" : name} data-value={raw}>
            {value} {small && <small>{small}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface Part {
  key: string; // name of its colour
  name: string;
  ns: number;
  share: number;
}

/** One bar of parts that add up to the whole, and what each is. */
function PartsBar({parts, meanStepNs, rest}: {parts: Part[]; meanStepNs: number | undefined; rest: string}) {
  return (
    <>
      <div
        class="bar"
        role="img"
        aria-label={`Where ${meanStepNs ? "a step" : "the time"} goes: ${parts
          .map(({name, share}) => `${name} ${percent(share)}`)
          .join(", ")}`}
      >
        {parts.map(({key, name, share}) => (
          <span key={key} style={{flex: share, background: `var(--${key})`}} title={`${name} ${percent(share)}`} />
        ))}
      </div>
      <ul class="legend">
        {parts.map(({key, name, ns, share}) => (
          <li key={key} data-part={key} data-value={ns}>
            <i style={{background: `var(--${key})`}} />
            {name} <b>{percent(share)}</b>
            {meanStepNs && <span class="dim"> {duration(meanStepNs * share)}</span>}
          </li>
        ))}
        <li class="dim">{rest}</li>
      </ul>
    </>
  );
}

function StepBar({breakdown, meanStepNs}: {breakdown: DeviceBreakdown[]; meanStepNs: number | undefined}) {
  const wall = breakdown.reduce((sum, device) => sum + device.wall_ns, 0);
  const parts = PARTS.map((part) => {
    const ns = breakdown.reduce((sum, device) => sum + device[part.column], 0);
    return {...part, ns, share: wall > 0 ? ns / wall : 0};
  }).filter(({ns}) => ns > 0);
  const idle = parts.filter((part) => part.idle).reduce((sum, part) => sum + part.share, 0);
  const rest = `idle in all ${percent(idle)}${meanStepNs ? `, of ${duration(meanStepNs)} on average` : ""}`;
  return <PartsBar parts={parts} meanStepNs={meanStepNs} rest={rest} />;
}

const HOST_PARTS = [
  {key: "compute", name: "operators", column: "operator_ns"},
  {key: "operator", name: "optimiser", column: "optimizer_ns"},
  {key: "comm", name: "collectives", column: "collective_ns"},
  {key: "data", name: "waiting for data", column: "data_ns"},
  {key: "host", name: "Python between operators", column: "python_ns"},
  {key: "copy", name: "checkpoints", column: "save_ns"},
  {key: "sync", name: "garbage collection", column: "gc_ns"},
  {key: "launch", name: "compiling", column: "compile_ns"},
] as const;

/** A training without a GPU: what its processes do, which adds up to their time. */
function HostBar({breakdown}: {breakdown: HostBreakdown[]}) {
  const sum = (column: keyof Omit<HostBreakdown, "rank">) => breakdown.reduce((all, one) => all + one[column], 0);
  const wall = sum("wall_ns");
  const pieces = sum("steps") || breakdown.length;
  const parts = HOST_PARTS.map(({key, name, column}) => ({key, name, ns: sum(column), share: sum(column) / wall}));
  const what = sum("steps") > 0 ? "a step, on average" : "recorded";
  const rest = `of ${duration(wall / pieces)} ${what}, without a GPU`;
  return <PartsBar parts={parts.filter(({ns}) => ns > 0)} meanStepNs={wall / pieces} rest={rest} />;
}

function headline({run, breakdown, host_breakdown: hosts}: Analyze): string {
  if (!breakdown?.length)
    return hosts?.length ? "No work on a GPU: what the host does" : "No work on a GPU was recorded";
  const name = run.class ? run.class.charAt(0).toUpperCase() + run.class.slice(1) : "";
  if (!name) return run.class_evidence ?? "";
  return run.class_evidence ? `${name}: ${run.class_evidence}` : name;
}

export function Verdict({data}: {data: Data}) {
  const {analyze, page} = data;
  const known = ["median step", "GPU busy", "MFU", "scaling"]; // these are figures
  const about = page.facts.filter((fact) => !known.some((name) => fact.startsWith(name)));
  return (
    <section aria-label="Verdict">
      <div class="verdict">
        <div>
          <p class="about">{about.join(" · ")}</p>
          <h1>{headline(analyze)}</h1>
        </div>
        <Figures analyze={analyze} />
      </div>
      {analyze.breakdown && analyze.breakdown.length > 0 && (
        <StepBar breakdown={analyze.breakdown} meanStepNs={analyze.run.mean_step_ns} />
      )}
      {analyze.host_breakdown && analyze.host_breakdown.length > 0 && <HostBar breakdown={analyze.host_breakdown} />}
    </section>
  );
}
