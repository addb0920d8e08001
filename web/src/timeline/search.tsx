// SPDX-License-Identifier: Apache-2.0
// The search: what was found, one after the other, and as a list. In the picture all else is dimmed.
import {useEffect, useRef} from "preact/hooks";
import {count, duration} from "../format";
import {traceName} from "./data";
import type {Model} from "./model";
import {patternOf} from "./source";

const MOST_LISTED = 100;
const PAUSE_MS = 180;

export function SearchField({model, field}: {model: Model; field: {current: HTMLInputElement | null}}) {
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const hits = model.found?.hits.length ?? 0;
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") model.goToHit(model.hit + (event.shiftKey ? -1 : 1));
    else if (event.key === "Escape") void model.search("");
    else return;
    event.preventDefault();
  };
  const isPattern = model.query === "" || patternOf(model.query) !== undefined;
  return (
    <span class="tl-search">
      <input
        ref={field}
        type="search"
        placeholder="search events ( / )"
        aria-label="Search events by name; re: begins a regular expression"
        aria-invalid={!isPattern}
        value={model.query}
        onInput={(event) => {
          const text = event.currentTarget.value;
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => void model.search(text), PAUSE_MS);
        }}
        onKeyDown={key}
      />
      {model.refused.search && <span class="tl-problem">{model.refused.search}</span>}
      {model.found && (
        <>
          <span class="dim tl-count">
            {model.hit >= 0 ? `${model.hit + 1} of ` : ""}
            {count(model.found.total)}
          </span>
          <button
            type="button"
            disabled={hits === 0}
            onClick={() => model.goToHit(model.hit - 1)}
            aria-label="One found before"
          >
            ‹
          </button>
          <button
            type="button"
            disabled={hits === 0}
            onClick={() => model.goToHit(model.hit + 1)}
            aria-label="Next that was found"
          >
            ›
          </button>
        </>
      )}
    </span>
  );
}

export function Hits({model}: {model: Model}) {
  const {found} = model;
  if (!found || found.hits.length === 0) return null;
  const shown = found.hits.slice(0, MOST_LISTED);
  return (
    <details class="tl-list">
      <summary>
        {count(found.total)} found{found.total > shown.length && `, the first ${shown.length} listed`}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys */}
      {/* biome-ignore lint/a11y/useSemanticElements: <section> is a part of the page here */}
      <div class="scroll" tabIndex={0} role="region" aria-label="What was found">
        <ol class="tl-hits">
          {shown.map((hit, at) => {
            const trace = model.trace(hit.trace);
            return (
              <li key={`${hit.lane} ${hit.id} ${hit.ts_ns}`} aria-current={at === model.hit}>
                <button type="button" class="link" onClick={() => model.goToHit(at)}>
                  {hit.name}
                </button>{" "}
                <span class="dim">
                  {trace && `${traceName(trace)}, `}
                  {model.lanes.get(hit.lane)?.info.label} · {duration(hit.dur_ns)}
                </span>
              </li>
            );
          })}
        </ol>
      </div>
    </details>
  );
}
