// SPDX-License-Identifier: Apache-2.0
// Marks over the lanes: what is pointed at and selected, the selected range, arrows between events that belong
// together; and the axis above them.
import {duration} from "../format";
import type {Event} from "./data";
import {boxOf, type Place} from "./draw";
import {inSight} from "./lanes";
import type {Model} from "./model";
import type {Palette} from "./palette";
import {axisOf, xOf} from "./view";

type Context = CanvasRenderingContext2D;
type Box = NonNullable<ReturnType<typeof boxOf>>;

function arrow(context: Context, from: Box, to: Box): void {
  const [x, y] = [from.x + Math.min(from.width, 8) / 2, from.y + from.height / 2];
  const [tipX, tipY] = [to.x, to.y + to.height / 2];
  const bend = Math.max(24, Math.abs(tipX - x) / 3);
  context.beginPath();
  context.moveTo(x, y);
  context.bezierCurveTo(x + bend, y, tipX - bend, tipY, tipX, tipY);
  context.stroke();
  context.beginPath();
  context.moveTo(tipX, tipY);
  context.lineTo(tipX - 7, tipY - 4);
  context.lineTo(tipX - 7, tipY + 4);
  context.fill();
}

/** Links point from what came first to what came after. */
function drawLinks(context: Context, model: Model, box: Box, where: Parameters<typeof boxOf>[1]): void {
  for (const link of model.info?.links ?? []) {
    const other = boxOf({...link, line: model.lineOf(link), start: link.ts_ns, end: link.ts_ns + link.dur_ns}, where);
    if (!other) continue;
    if (link.ts_ns < (model.info?.ts_ns ?? 0)) arrow(context, other, box);
    else arrow(context, box, other);
  }
}

function drawRange(context: Context, model: Model, {width, height}: Place, colours: Palette): void {
  const {range, view} = model;
  if (!range) return;
  const [from, to] = [xOf(range.from, view, width), xOf(range.to, view, width)];
  context.fillStyle = colours.accent;
  context.globalAlpha = 0.13;
  context.fillRect(from, 0, to - from, height);
  context.globalAlpha = 1;
  context.fillRect(from, 0, 1, height);
  context.fillRect(to - 1, 0, 1, height);
  const text = duration(range.to - range.from);
  const wide = context.measureText(text).width + 10;
  const x = Math.min(Math.max(2, (from + to - wide) / 2), width - wide - 2);
  if (to < 0 || from > width) return;
  context.fillRect(x, 3, wide, 17);
  context.fillStyle = colours.card;
  context.fillText(text, x + 5, 12);
}

/** Draws what lies over the lanes. */
export function drawOver(
  context: Context,
  model: Model,
  hover: Event | undefined,
  place: Place,
  colours: Palette,
): void {
  context.font = `11px ${colours.font}`;
  context.textBaseline = "middle";
  drawRange(context, model, place, colours);
  const placed = inSight(model.layout, model.scroll, model.height);
  const where = {placed, view: model.view, width: place.width};
  const outlined = (event: Event, width: number, colour: string) => {
    const box = boxOf(event, where);
    context.strokeStyle = colour;
    context.lineWidth = width;
    if (box) context.strokeRect(box.x - width / 2, box.y - width / 2, box.width + width, box.height + width);
    return box;
  };
  if (hover && hover.start !== model.event?.start) outlined(hover, 1, colours.text);
  if (!model.event) return;
  const box = outlined(model.event, 2, colours.text);
  context.strokeStyle = colours.accent;
  context.fillStyle = colours.accent;
  context.lineWidth = 1.5;
  if (box) drawLinks(context, model, box, where);
}

/** Draws the ticks; returns what they count from, in words. */
export function drawAxis(context: Context, model: Model, {width, height}: Place, colours: Palette): string {
  const step = model.step();
  const axis = axisOf(model.view, width, step?.ts_ns ?? model.bounds.from);
  context.font = `11px ${colours.font}`;
  context.textBaseline = "middle";
  let free = 0;
  for (const {at, label} of axis.ticks) {
    const x = xOf(at, model.view, width);
    context.fillStyle = colours.line;
    context.fillRect(Math.round(x), height - 7, 1, 7);
    const wide = context.measureText(label).width;
    const left = Math.min(Math.max(x - wide / 2, 0), width - wide);
    if (left < free) continue; // at an edge
    free = left + wide + 6;
    context.fillStyle = colours.dim;
    context.fillText(label, left, height / 2 - 2);
  }
  const from = step ? `step ${step.number}` : "start";
  return axis.said ? `${from} + ${axis.said}` : `from ${step ? `${from}’s start` : "the start"}`;
}
