// SPDX-License-Identifier: Apache-2.0
// The critical path: what a step is made of, stretch by stretch, of which none can get shorter without the step.
import {useState} from "preact/hooks";
import type {Data} from "../data";
import {duration, percent} from "../format";
import {BOUND_COLOURS} from "../parts";
import {Snippet} from "../snippet";

const FIRST = 8;

export function Path({data}: {data: Data}) {
  const path = data.path;
  const [chosen, choose] = useState("");
  const [all, setAll] = useState(false);
  if (!path || path.total_ns <= 0) return null;
  const owners = Object.keys(path.owners);
  const by = owners.includes(chosen) ? chosen : (owners[0] ?? "");
  const parts = path.owners[by] ?? [];
  const share = (ns: number) => ns / path.total_ns;
  const longest = Math.max(1, ...parts.map(([, ns]) => ns));
  return (
    <section id="path">
      <header>
        <h2>Critical path</h2>
        <span class="dim">
          the chain of work that decides how long the steps take, {duration(path.total_ns)} in all; what is not on it
          can get cheaper without a step getting shorter
        </span>
      </header>
      <div
        class="bar"
        role="img"
        aria-label={`The path by what it is spent on: ${path.bounds.map(([name, ns]) => `${name} ${percent(share(ns))}`).join(", ")}`}
      >
        {path.bounds.map(([name, ns]) => (
          <span
            key={name}
            style={{width: `${share(ns) * 100}%`, background: `var(--${BOUND_COLOURS[name] ?? "compute"})`}}
            title={`${name} ${percent(share(ns))}`}
          />
        ))}
      </div>
      <p class="legend">
        {path.bounds.map(([name, ns]) => (
          <span key={name} data-bound={name} data-value={ns}>
            <i style={{background: `var(--${BOUND_COLOURS[name] ?? "compute"})`}} /> {name} {percent(share(ns))}
          </span>
        ))}
      </p>
      {owners.length > 0 && (
        <>
          <div class="tabs" role="tablist" aria-label="The path by">
            {owners.map((owner) => (
              <button key={owner} type="button" role="tab" aria-selected={owner === by} onClick={() => choose(owner)}>
                by {owner}
              </button>
            ))}
          </div>
          <ol class="path-parts">
            {(all ? parts : parts.slice(0, FIRST)).map(([name, ns]) => (
              <li key={name}>
                <span class="amount" data-value={ns}>
                  {percent(share(ns))}
                </span>
                <span class="name" title={name}>
                  {name}
                </span>
                <span class="part" style={{width: `${(ns / longest) * 100}%`}} />
              </li>
            ))}
          </ol>
          {parts.length > FIRST && (
            <div class="below">
              <button type="button" onClick={() => setAll(!all)}>
                {all ? `Show ${FIRST}` : `Show all ${parts.length}`}
              </button>
            </div>
          )}
        </>
      )}
      <Snippet text={`gapless predict ${data.page.path} --path`} label="in the terminal" />
    </section>
  );
}
