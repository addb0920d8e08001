// SPDX-License-Identifier: Apache-2.0
// The timeline of the whole recording: a picture to move in, and what is around it.
import "./timeline.css";
import {useEffect, useMemo, useReducer, useRef, useState} from "preact/hooks";
import type {Data} from "../data";
import {count, duration} from "../format";
import {Plain} from "../words";
import {written} from "./address";
import {type StepSpan, slowestComplete, slowestOf} from "./data";
import {Details, LaneList, titleOf} from "./details";
import {InlinedSource} from "./inlined";
import {goBack, type Origin, onJump} from "./jump";
import {KEYS} from "./keys";
import {Model} from "./model";
import {Hits, SearchField} from "./search";
import {SelectionPanel} from "./selection";
import {ServedSource} from "./served";
import type {Source} from "./source";
import {Stage} from "./stage";

const PAUSE_MS = 250; // browsers refuse addresses that change faster

/** Keeps the address of the page and what is shown the same. */
function useAddress(model: Model): void {
  useEffect(() => {
    let timer = 0;
    const write = (push: boolean) => {
      clearTimeout(timer);
      const hash = written(model.address());
      if (hash === location.hash) return;
      if (push) history.pushState(null, "", hash);
      else history.replaceState(null, "", hash);
    };
    model.moved = (jump) => {
      clearTimeout(timer);
      if (jump) write(true);
      else timer = window.setTimeout(() => write(false), PAUSE_MS);
    };
    const restore = () => {
      clearTimeout(timer);
      void model.restore(location.hash).then((was) => {
        clearTimeout(timer);
        if (was) document.getElementById("timeline")?.scrollIntoView();
      });
    };
    restore();
    addEventListener("hashchange", restore);
    return () => {
      clearTimeout(timer);
      removeEventListener("hashchange", restore);
    };
  }, [model]);
}

/** Jumps from other parts of the page end here; returns the way back, and what to say of a jump that failed. */
function useJumps(model: Model, place: {current: HTMLDivElement | null}) {
  const [origin, setOrigin] = useState<Origin>();
  const [missed, setMissed] = useState(false);
  useEffect(() => {
    onJump((target, from) => {
      setOrigin(from);
      void model.jump(target).then((found) => {
        setMissed(!found);
        document.getElementById("timeline")?.scrollIntoView();
        place.current?.focus({preventScroll: true});
      });
    });
    return () => onJump(undefined);
  }, [model]);
  const back = () => {
    if (!origin) return;
    setOrigin(undefined);
    setMissed(false);
    requestAnimationFrame(() => goBack(origin)); // when the button is gone
  };
  return {origin, missed, back};
}

function Step({model}: {model: Model}) {
  const numbers = useMemo(() => model.source.overview.steps.map(({number}) => number), [model]);
  if (numbers.length === 0) return null;
  const now = model.step()?.number;
  const go = (by: number) => {
    const all = [...new Set(numbers)].sort((a, b) => a - b);
    const at = all.findIndex((number) => number >= (now ?? 0));
    const next = all[at + by];
    if (next !== undefined) model.showStep(next);
  };
  return (
    <span class="tl-step">
      <button type="button" onClick={() => go(-1)} aria-label="Step before">
        ‹
      </button>
      <label>
        step{" "}
        <input
          type="number"
          aria-label="Step"
          value={now ?? ""}
          min={Math.min(...numbers)}
          max={Math.max(...numbers)}
          onChange={(event) => model.showStep(Number(event.currentTarget.value))}
        />
      </label>
      <button type="button" onClick={() => go(1)} aria-label="Step after">
        ›
      </button>
    </span>
  );
}

/** The longest idle gap of what is in view fills the view. */
function toLongestGap(model: Model): void {
  const lanes = [...model.lanes.values()].filter(({info}) => info.kind === "idle");
  const gaps = lanes.flatMap(({info}) => model.events(info.lane));
  const longest = gaps.sort((a, b) => b.end - b.start - (a.end - a.start))[0];
  if (!longest) return;
  model.reveal(longest.lane);
  model.select(longest);
  model.focus();
}

interface ControlsProps {
  model: Model;
  field: {current: HTMLInputElement | null};
  help: () => void;
}

function Controls({model, field, help}: ControlsProps) {
  const hasGaps = useMemo(() => [...model.lanes.values()].some(({info}) => info.kind === "idle"), [model]);
  const {slowest} = model;
  return (
    <div class="tl-controls controls">
      <button type="button" onClick={() => model.zoom(1 / 1.7)} aria-label="Zoom in">
        +
      </button>
      <button type="button" onClick={() => model.zoom(1.7)} aria-label="Zoom out">
        −
      </button>
      <button type="button" onClick={() => model.show(model.bounds)}>
        whole run
      </button>
      {slowest && (
        <button type="button" onClick={() => model.showSlowest()}>
          slowest step
        </button>
      )}
      {hasGaps && (
        <button type="button" onClick={() => toLongestGap(model)}>
          longest gap
        </button>
      )}
      <Step model={model} />
      <input
        type="search"
        placeholder="filter lanes"
        aria-label="Lanes and ranks that hold this text"
        value={model.choice.filter}
        onInput={(event) => model.choose({filter: event.currentTarget.value})}
      />
      <SearchField model={model} field={field} />
      <button type="button" onClick={help} aria-label="Keys of the timeline">
        ?
      </button>
    </div>
  );
}

function Help() {
  return (
    <div class="tl-panel" data-panel="keys">
      <h3>Keys</h3>
      <dl>
        {KEYS.map(({keys, says}) => (
          <div key={says}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key.replace("Arrow", "")}</kbd>
              ))}
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** True where a report has no finer tiles, or none at all, of what is seen. */
function isAtEnd(model: Model): boolean {
  if (model.source.served) return false;
  const shown = new Set(model.layout.rows.filter(({lanes}) => lanes.length > 0).map(({trace}) => trace.trace));
  return [...shown].some((trace) => {
    const pieces = model.pieces(trace);
    if (pieces.length === 0) return true;
    return pieces.some(({tile}) => tile.level > model.level + 1);
  });
}

/** Says what is not in the picture, and why. */
function Remarks({model, path}: {model: Model; path: string}) {
  const {hidden} = model.choice;
  const problem = model.source.problem();
  return (
    <>
      {isAtEnd(model) && (
        <p class="dim tl-end">
          The report ends here; <code>gapless serve {path}</code> shows every event.
        </p>
      )}
      {problem && <p class="tl-problem">The server did not answer: {problem}</p>}
      {hidden.size > 0 && (
        <p class="dim">
          {count(hidden.size)} hidden {hidden.size === 1 ? "lane" : "lanes"}{" "}
          <button type="button" class="link" onClick={() => model.choose({hidden: new Set()})}>
            show again
          </button>
        </p>
      )}
      {model.layout.rows.length === 0 && <p class="dim">No lane matches the filter.</p>}
    </>
  );
}

/** Draws what is around the picture again, a little after it stands still. */
function useRedraw(model: Model | undefined): () => void {
  const [, draw] = useReducer((times: number) => times + 1, 0);
  const frame = useRef(0);
  useEffect(() => () => cancelAnimationFrame(frame.current), [model]);
  return () => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      draw(undefined);
    });
  };
}

function Shown({source, slowest, path}: {source: Source; slowest: StepSpan | undefined; path: string}) {
  const model = useMemo(() => new Model(source, slowest), [source]);
  const redraw = useRedraw(model);
  const place = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [help, setHelp] = useState(false);
  useAddress(model);
  const {origin, missed, back} = useJumps(model, place);
  useEffect(() => {
    let timer = 0;
    const {moved} = model;
    model.moved = (jump) => {
      moved(jump);
      clearTimeout(timer);
      timer = window.setTimeout(redraw, 120); // lists and fields follow when the view stands still
    };
    return () => clearTimeout(timer);
  }, [model]);
  const asked = {
    search: () => field.current?.focus(),
    help: () => setHelp((shown) => !shown),
    leave: () => place.current?.blur(),
  };
  const {event, range} = model;
  return (
    <>
      <Controls model={model} field={field} help={asked.help} />
      {origin && (
        <p class="tl-back">
          <button type="button" onClick={back}>
            ↩ back to {origin.name}
          </button>
          {missed && <span> The timeline here does not hold that event, or its rank.</span>}
        </p>
      )}
      <Stage model={model} asked={asked} redraw={redraw} place={place} />
      <p class="dim tl-hint">
        Ctrl + wheel zooms; after a click into it the wheel alone does, Esc ends that. Dragging moves, Shift + dragging
        selects, <kbd>?</kbd> shows the keys.
      </p>
      <p id="tl-said" class="sr" aria-live="polite">
        {model.said || (event && `${titleOf(model, event)}, ${duration(event.end - event.start)}`)}
        {range && `, selected ${duration(range.to - range.from)}`}
      </p>
      <Remarks model={model} path={path} />
      {help && <Help />}
      {event && <Details model={model} event={event} />}
      {range && <SelectionPanel model={model} range={range} />}
      <Hits model={model} />
      <LaneList model={model} />
    </>
  );
}

function useSource(data: Data): {source?: Source; problem?: string} {
  const [state, setState] = useState<{source?: Source; problem?: string}>(() =>
    data.timeline && !data.served ? {source: new InlinedSource(data.timeline)} : {},
  );
  useEffect(() => {
    if (!data.served) return;
    ServedSource.of(`/api/runs/${data.served.run}`)
      .then((source) => setState({source}))
      .catch((error) => {
        const problem = error instanceof Error ? error.message : String(error);
        setState(data.timeline ? {source: new InlinedSource(data.timeline), problem} : {problem});
      });
  }, [data]);
  return state;
}

export function Timeline({data}: {data: Data}) {
  const {source, problem} = useSource(data);
  const slowest = slowestComplete(data.tables.get("steps")) ?? (source && slowestOf(source.overview.steps));
  const median = data.analyze.run.step_ns?.median;
  const only = data.analyze.run.steps === 1;
  return (
    <section id="timeline">
      <header>
        <h2>Timeline</h2>
        <span class="dim">
          {slowest && only && `step ${slowest.number} took ${duration(slowest.dur_ns)}`}
          {slowest && !only && `the slowest step, ${slowest.number}, took ${duration(slowest.dur_ns)}`}
          {slowest && !only && median !== undefined && `, the median ${duration(median)}`}
        </span>
      </header>
      {problem && <p class="tl-problem">The server did not answer: {problem}</p>}
      {source ? (
        <Plain.Provider value={true}>
          <Shown source={source} slowest={slowest} path={data.page.path} />
        </Plain.Provider>
      ) : (
        !problem && <p class="dim">Loading…</p>
      )}
    </section>
  );
}
