// SPDX-License-Identifier: Apache-2.0
// One step as recorded, and the same step with the first fixes, on one scale: what a replay says it would look like.
import type {Data, StepPicture} from "../data";
import {bounds, duration, factor} from "../format";
import {BOUND_COLOURS} from "../parts";
import {listOf, numbersOf, placesOf} from "../places";
import {Sweep} from "./sweep";

const LANE = 18;
const GAP = 4;
const WIDTH = 1000; // units of the drawing; it stretches to the page

function Picture({of: step, scale, title}: {of: StepPicture; scale: number; title: string}) {
  const height = step.lanes.length * (LANE + GAP);
  return (
    <figure class="step-picture">
      <figcaption>
        {title} <b>{duration(step.dur_ns)}</b>
      </figcaption>
      <div class="step-lanes">
        <div class="names" aria-hidden="true">
          {step.lanes.map((lane) => (
            <span key={lane.name}>{lane.name}</span>
          ))}
        </div>
        <svg viewBox={`0 0 ${WIDTH} ${height}`} preserveAspectRatio="none" style={{height}} role="img">
          <title>{`${title}: ${duration(step.dur_ns)}`}</title>
          {step.lanes.map((lane, at) =>
            lane.spans.map(([start, dur, kind]) => (
              <rect
                key={`${at}-${start}-${kind}`}
                x={(start / scale) * WIDTH}
                y={at * (LANE + GAP)}
                width={Math.max((dur / scale) * WIDTH, 0.4)}
                height={LANE}
                fill={`var(--${BOUND_COLOURS[kind] ?? "compute"})`}
              >
                <title>{`${lane.name}: ${kind}, ${duration(dur)} from ${duration(start)}`}</title>
              </rect>
            )),
          )}
        </svg>
      </div>
    </figure>
  );
}

export function After({data}: {data: Data}) {
  const predicted = data.predicted;
  const together = data.analyze.together;
  if (!predicted || !together?.replayed) return null;
  const {before, after} = predicted;
  const places = placesOf(data.analyze.bottlenecks);
  const scale = Math.max(before.dur_ns, after.dur_ns, 1);
  const kinds = new Set(
    [before, after].flatMap((step) => step.lanes.flatMap((lane) => lane.spans.map((span) => span[2]))),
  );
  return (
    <section id="after">
      <header>
        <h2>A step before and after</h2>
        <span class="dim">
          with {together.fixes.join(", ")}, replayed: {factor(together.replayed.expected)} ({bounds(together.replayed)})
          {together.estimated.length > 0 && `; not in the picture: ${listOf(numbersOf(together.estimated, places))}`}
        </span>
      </header>
      <Picture of={before} scale={scale} title="as recorded" />
      <Picture of={after} scale={scale} title="predicted" />
      <p class="legend">
        {[...kinds].map((kind) => (
          <span key={kind}>
            <i style={{background: `var(--${BOUND_COLOURS[kind] ?? "compute"})`}} /> {kind}
          </span>
        ))}
      </p>
      <Sweep parts={predicted.sweep} />
    </section>
  );
}
