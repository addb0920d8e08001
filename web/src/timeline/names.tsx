// SPDX-License-Identifier: Apache-2.0
// The names beside the lanes: a rank opens and closes, a lane is pinned or hidden.
import {inSight, type Placed} from "./lanes";
import type {Model} from "./model";

function Buttons({model, lane, label}: {model: Model; lane: number; label: string}) {
  const pinned = model.choice.pinned.has(lane);
  // Keys P and H do the same for the lane in focus, so that hundreds of lanes are not thousands of stops.
  return (
    <span class="tl-tools">
      <button type="button" tabIndex={-1} aria-pressed={pinned} onClick={() => model.toggle("pinned", lane)}>
        <span class="sr">{`pin ${label}`}</span>
        <span aria-hidden="true">{pinned ? "▼" : "▲"}</span>
      </button>
      <button type="button" tabIndex={-1} onClick={() => model.toggle("hidden", lane)}>
        <span class="sr">{`hide ${label}`}</span>
        <span aria-hidden="true">×</span>
      </button>
    </span>
  );
}

function Name({model, placed: {row, y, clip}}: {model: Model; placed: Placed}) {
  const lane = row.lanes[0]?.lane ?? -1;
  const style = {top: `${y}px`, height: `${row.height}px`, clipPath: `inset(${Math.max(0, clip - y)}px 0 0 0)`};
  if (row.kind === "rank") {
    const open = model.choice.open.has(row.trace.trace);
    return (
      <div class="tl-name rank" style={style}>
        <button
          type="button"
          aria-expanded={open}
          title={row.title}
          onClick={() => model.toggle("open", row.trace.trace)}
        >
          {open ? "▾" : "▸"} {row.label}
        </button>
      </div>
    );
  }
  return (
    <div class={`tl-name ${model.lane === lane ? "here" : ""}`} style={style} title={row.title}>
      <span>{row.label}</span>
      <Buttons model={model} lane={lane} label={row.title} />
    </div>
  );
}

export function Names({model}: {model: Model}) {
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && model.scrollTo(model.scroll + event.deltaY * (event.deltaMode ? 16 : 1)))
      event.preventDefault();
  };
  return (
    <div class="tl-names" onWheel={wheel}>
      {inSight(model.layout, model.scroll, model.height).map((placed) => (
        <Name key={placed.row.key} model={model} placed={placed} />
      ))}
    </div>
  );
}
