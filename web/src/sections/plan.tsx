// SPDX-License-Identifier: Apache-2.0
// The plan as a waterfall: what a step takes now, after each fix on top of those before it, and with all of them.
import type {Analyze, Data} from "../data";
import {duration, percent} from "../format";
import {placesOf} from "../places";

interface Fall {
  id: string;
  name: string;
  number?: number; // number of the finding in the list to fix
  after: number; // share of the recorded step, 0–1
  before: number;
  least: number; // the range of `after`
  most: number;
}

/** One row per step of the plan, in its order. */
function fallsOf({plan, bottlenecks}: Analyze): Fall[] {
  const places = placesOf(bottlenecks);
  const titles = new Map(bottlenecks.map(({id, title}) => [id, title]));
  let before = 1;
  return plan.map(({bottleneck, fix, so_far: soFar}) => {
    const after = 1 / soFar.expected;
    const number = places.get(bottleneck);
    const fall: Fall = {
      id: bottleneck,
      name: fix || (titles.get(bottleneck) ?? bottleneck),
      before,
      after,
      least: 1 / soFar.high,
      most: 1 / soFar.low,
      ...(number !== undefined && {number}),
    };
    before = after;
    return fall;
  });
}

function Row({fall, text}: {fall: Fall; text: (share: number) => string}) {
  const {after, before, least, most} = fall;
  const left = Math.min(after, before);
  const range = `${text(least)} to ${text(most)}`;
  return (
    <li data-bottleneck={fall.id}>
      <a class="what" href={fall.number ? `#fix-${fall.number}` : "#fixes"} title={fall.name}>
        {fall.number && <b>{fall.number}</b>} {fall.name}
      </a>
      <div class="track" role="img" aria-label={`${text(before)} before, ${text(after)} after, ${range}`}>
        <span style={{width: `${100 * left}%`}} />
        <i style={{width: `${100 * Math.abs(before - after)}%`}} />
        <u style={{left: `${100 * least}%`, width: `${100 * Math.max(0, Math.min(1, most) - least)}%`}} />
      </div>
      <span class="number" data-value={after}>
        {text(after)} <small>{range}</small>
      </span>
    </li>
  );
}

export function Plan({data: {analyze}}: {data: Data}) {
  const falls = fallsOf(analyze);
  const last = falls.at(-1);
  if (!last) return null;
  const step = analyze.run.mean_step_ns;
  const text = (share: number) => (step ? duration(share * step) : percent(share));
  const now = step
    ? `Now a step takes ${text(1)}, with the plan ${text(last.after)}`
    : "What the plan leaves of the time";
  return (
    <section id="plan">
      <header>
        <h2>{now}</h2>
        <span class="dim">each fix on top of those above it; the line is the range of the prediction</span>
      </header>
      <ol class="waterfall">
        <li>
          <span class="what">now</span>
          <div class="track">
            <span style={{width: "100%"}} />
          </div>
          <span class="number">{text(1)}</span>
        </li>
        {falls.map((fall) => (
          <Row key={fall.id} fall={fall} text={text} />
        ))}
      </ol>
    </section>
  );
}
