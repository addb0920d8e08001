// SPDX-License-Identifier: Apache-2.0
// Everything known of the selected event, and the events of a lane as a table, for those who do not see the picture.
import {useMemo} from "preact/hooks";
import {cell, count, duration, percent} from "../format";
import {type Event, traceName} from "./data";
import {stateName} from "./draw";
import type {Model} from "./model";
import type {Link} from "./source";

const MOST_LISTED = 200;
const SAID = ["id", "trace", "rank", "name", "ts_ns", "dur_ns"]; // columns that the facts above have in words

/** Its name: an idle gap has that of its cause. */
export function titleOf(model: Model, event: Event): string {
  if (model.lanes.get(event.lane)?.info.kind === "idle") return `idle: ${event.kind}`;
  if (model.lanes.get(event.lane)?.info.kind === "device") return stateName(event.kind);
  return event.name || event.kind;
}

/** Its place, and when it began. */
function factsOf(model: Model, event: Event): [string, string][] {
  const lane = model.lanes.get(event.lane);
  const step = model.stepAt(event.trace, event.start);
  const start = event.start - model.bounds.from;
  const facts: [string, string][] = [
    ["duration", duration(event.end - event.start)],
    [
      "began",
      step ? `${duration(event.start - step.ts_ns)} into step ${step.number}` : `${duration(start)} into the run`,
    ],
  ];
  if (step) facts.push(["in the run at", duration(start)]);
  if (lane) facts.push(["lane", `${traceName(lane.trace)}, ${lane.info.label}`]);
  if (lane?.info.kind === "idle" && event.name) facts.push(["the host was in", event.name]);
  else if (event.kind && event.kind !== event.name) facts.push(["class", event.kind]);
  if (event.count > 1) {
    const share = percent(event.busy / Math.max(1, event.end - event.start));
    facts.push(["put together", `${count(event.count)} short ones, ${share} of the length; the longest is named`]);
  }
  if (event.id >= 0)
    facts.push([
      lane?.info.kind === "thread" || lane?.info.kind === "annotations" ? "slice" : "gpu_op",
      String(event.id),
    ]);
  return facts;
}

function LinkLine({model, link}: {model: Model; link: Link}) {
  const lane = model.lanes.get(link.lane);
  return (
    <li>
      {link.what}{" "}
      <button type="button" class="link" onClick={() => void model.open(link.kind, link.id, true)}>
        {link.name}
      </button>{" "}
      <span class="dim">
        {lane && `${traceName(lane.trace)}, ${lane.info.label}, `}
        {duration(link.dur_ns)}
      </span>
    </li>
  );
}

export function Details({model, event}: {model: Model; event: Event}) {
  const {info} = model;
  const facts = factsOf(model, event);
  const known = new Set([...SAID, ...facts.map(([name]) => name)]);
  return (
    <div class="tl-panel" data-panel="event">
      <header>
        <h3 class="tl-whole">{info?.name || titleOf(model, event)}</h3>
        <button type="button" onClick={() => model.mark()}>
          select its time
        </button>
        <button type="button" onClick={() => model.select(undefined)} aria-label="Close the details">
          ×
        </button>
      </header>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {info?.details
          .filter(({name}) => !known.has(name))
          .map(({name, value, unit, help}) => (
            <div key={name} title={help}>
              <dt>{name.replace(/_(ns|bytes)$/, "").replace(/_/g, " ")}</dt>
              <dd>{cell(value, unit ?? "")}</dd>
            </div>
          ))}
      </dl>
      {info && info.links.length > 0 && (
        <ul class="tl-links" aria-label="Events that belong to it">
          {info.links.map((link) => (
            <LinkLine key={`${link.what}${link.kind}${link.id}`} model={model} link={link} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** The events of the lane in focus that are in the view. */
export function LaneList({model}: {model: Model}) {
  const lane = model.lane === undefined ? undefined : model.lanes.get(model.lane);
  const {from, to} = model.view;
  const events = useMemo(() => (lane ? model.events(lane.info.lane) : []), [lane, from, to, model.tiles]);
  if (!lane) return null;
  const start = model.step()?.ts_ns ?? model.bounds.from;
  const name = `${traceName(lane.trace)}, ${lane.info.label}`;
  return (
    <details class="tl-list">
      <summary>
        {count(events.length)} events of {name} in view
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys */}
      {/* biome-ignore lint/a11y/useSemanticElements: <section> is a part of the page here */}
      <div class="scroll" tabIndex={0} role="region" aria-label={`Events of ${name}`}>
        <table>
          <thead>
            <tr>
              {["name", "began", "duration", "class"].map((title) => (
                <th key={title} scope="col" class="plain">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {events.slice(0, MOST_LISTED).map((event) => (
              <tr key={`${event.line} ${event.start}`}>
                <td>
                  <button type="button" class="link" onClick={() => model.select(event)}>
                    {event.name || event.kind}
                  </button>
                </td>
                <td class="num">{duration(event.start - start)}</td>
                <td class="num">{duration(event.end - event.start)}</td>
                <td>{event.kind}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {events.length > MOST_LISTED && <p class="dim">The first {MOST_LISTED}; zoom in for others.</p>}
    </details>
  );
}
