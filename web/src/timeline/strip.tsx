// SPDX-License-Identifier: Apache-2.0
// The strip above the lanes: all steps of the recording as bars as high as they are long, what the device did, and the
// window that is seen. A click shows a step, dragging moves the window or draws a new one.
import {useRef} from "preact/hooks";
import {type StepSpan, slowestOf} from "./data";
import {drawLanes} from "./draw";
import type {Placed, Row} from "./lanes";
import type {Model} from "./model";
import type {Palette} from "./palette";
import {levelOf, timeOf, xOf} from "./view";

const BARS = 26;
const DEVICE = 10;
export const STRIP = BARS + DEVICE + 4;

/** The steps that the strip shows: of the trace with the slowest one. */
function shown(model: Model): readonly StepSpan[] {
  return model.stepsOf(model.slowest?.trace ?? 0);
}

/** The tiles of the whole run that the strip shows. */
export function stripNeeds(model: Model, width: number) {
  const trace = model.slowest?.trace ?? model.source.overview.traces[0]?.trace ?? 0;
  const {from, to} = model.bounds;
  return {traces: [trace], from, to, level: levelOf(model.bounds, width)};
}

function deviceRow(model: Model, trace: number): Row | undefined {
  const of = model.trace(trace);
  const lane = of?.lanes.find(({kind}) => kind === "device") ?? of?.lanes.find(({kind}) => kind === "stream");
  if (!of || !lane) return undefined;
  return {
    key: "strip",
    kind: "rank",
    label: "",
    title: "",
    trace: of,
    lanes: [lane],
    top: 0,
    line: DEVICE,
    height: DEVICE,
  };
}

/** Draws the strip without the window. */
export function drawStrip(context: CanvasRenderingContext2D, model: Model, width: number, colours: Palette): void {
  const {traces, level} = stripNeeds(model, width);
  const row = deviceRow(model, traces[0] ?? 0);
  const placed: Placed[] = row ? [{row, y: BARS + 3, clip: 0}] : [];
  const pieces = (trace: number) => model.source.pieces(trace, model.bounds.from, model.bounds.to, level);
  const scene = {
    width,
    height: STRIP,
    view: model.bounds,
    level,
    placed,
    pieces,
    steps: [],
    pattern: undefined,
    colours,
  };
  drawLanes(context, scene);
  const steps = shown(model);
  const most = slowestOf(steps)?.dur_ns ?? 1;
  for (const step of steps) {
    const slowest = step.number === model.slowest?.number;
    const x = xOf(step.ts_ns, model.bounds, width);
    const wide = xOf(step.ts_ns + step.dur_ns, model.bounds, width) - x;
    const height = Math.max(2, (step.dur_ns / most) * (BARS - 2));
    context.fillStyle = slowest ? colours.dim : colours.call;
    context.fillRect(x, BARS - height, Math.max(1, wide - (wide > 4 ? 1 : 0)), height);
    if (wide < 28) continue;
    context.fillStyle = slowest ? colours.card : colours.text;
    context.fillText(String(step.number), x + 4, BARS - 7);
  }
}

interface Drag {
  x: number;
  from: number; // start of the view when the drag began
  inside: boolean;
  moved: boolean;
}

export function Strip({model, window}: {model: Model; window: {current: HTMLDivElement | null}}) {
  const place = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag>();
  const timeAt = (x: number) => timeOf(x, model.bounds, place.current?.clientWidth ?? 1);
  const xIn = (event: PointerEvent) => event.clientX - (place.current?.getBoundingClientRect().left ?? 0);
  const down = (event: PointerEvent) => {
    place.current?.setPointerCapture(event.pointerId);
    const x = xIn(event);
    const time = timeAt(x);
    drag.current = {x, from: model.view.from, inside: time >= model.view.from && time <= model.view.to, moved: false};
  };
  const move = (event: PointerEvent) => {
    const of = drag.current;
    if (!of) return;
    const x = xIn(event);
    of.moved ||= Math.abs(x - of.x) > 3;
    if (!of.moved) return;
    const length = model.view.to - model.view.from;
    if (of.inside) {
      const from = of.from + timeAt(x) - timeAt(of.x);
      model.show({from, to: from + length});
    } else model.show({from: timeAt(Math.min(x, of.x)), to: timeAt(Math.max(x, of.x))});
  };
  const up = (event: PointerEvent) => {
    const of = drag.current;
    drag.current = undefined;
    if (!of || of.moved) return;
    const time = timeAt(xIn(event));
    const step = shown(model).find(({ts_ns, dur_ns}) => ts_ns <= time && time < ts_ns + dur_ns);
    const half = (model.view.to - model.view.from) / 2;
    model.show(step ? {from: step.ts_ns, to: step.ts_ns + step.dur_ns} : {from: time - half, to: time + half});
  };
  return (
    <div ref={place} class="tl-strip" onPointerDown={down} onPointerMove={move} onPointerUp={up}>
      <canvas />
      <div ref={window} class="tl-window" />
    </div>
  );
}
