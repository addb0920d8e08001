// SPDX-License-Identifier: Apache-2.0
// The answer first: what limits the run, the figures that matter, and where a step goes.
import type {Analyze, Data, DeviceBreakdown} from "../data";
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

function StepBar({breakdown, meanStepNs}: {breakdown: DeviceBreakdown[]; meanStepNs: number | undefined}) {
  const wall = breakdown.reduce((sum, device) => sum + device.wall_ns, 0);
  const parts = PARTS.map((part) => {
    const ns = breakdown.reduce((sum, device) => sum + device[part.column], 0);
    return {...part, ns, share: wall > 0 ? ns / wall : 0};
  }).filter(({ns}) => ns > 0);
  const idle = parts.filter((part) => part.idle).reduce((sum, part) => sum + part.share, 0);
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
        <li class="dim">
          idle in all {percent(idle)}
          {meanStepNs && `, of ${duration(meanStepNs)} on average`}
        </li>
      </ul>
    </>
  );
}

function headline({run, breakdown}: Analyze): string {
  if (!breakdown?.length) return "No work on a GPU was recorded";
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
    </section>
  );
}
