// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/style/noNonNullAssertion: places are within their arrays, and a frame has no time to ask
// Paints the lanes in sight. A frame must be ready in a few milliseconds, however many events a recording has: what is
// narrower than a pixel is put together, rectangles are filled colour by colour, and texts are cut once.
import {bytes, duration, plain} from "../format";
import {
  type Curve,
  type Event,
  firstAfter,
  type LaneInfo,
  type Piece,
  type Spans,
  type StepSpan,
  type Tile,
} from "./data";
import {isCurve, type Placed} from "./lanes";
import {colourOf, EVENT_COLOURS, NAMES, type Palette} from "./palette";
import {type View, xOf} from "./view";

export const LABEL_FROM = 34; // px: a narrower event has no name on it
const LOWEST = 11; // px: a lower one has none either
const FONT_SIZE = 10.5;
const DIMMED = 0.22;

/** The size of a picture in CSS pixels. */
export interface Place {
  width: number;
  height: number;
}

export interface Scene extends Place {
  view: View;
  level: number;
  placed: readonly Placed[];
  pieces: (trace: number) => readonly Piece[];
  steps: readonly StepSpan[];
  pattern: RegExp | undefined;
  colours: Palette;
}

/** Makes the canvas as large as its place, sharp on every screen, and empty. */
export function prepared(canvas: HTMLCanvasElement, {width, height}: Place): CanvasRenderingContext2D | null {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** The text with its middle left out: both ends of a name say what it is. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  if (most < 2) return "";
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

const widths = new Map<string, number>(); // text -> width in the font of labels
const cuts = new Map<string, string>();
let fontOfWidths = "";

function widthOf(context: CanvasRenderingContext2D, text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size > 50_000) widths.clear();
  const width = context.measureText(text).width;
  widths.set(text, width);
  return width;
}

/** The text, shortened to fit. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.font !== fontOfWidths) {
    widths.clear();
    cuts.clear();
    fontOfWidths = context.font;
  }
  if (widthOf(context, text) <= width) return text;
  const key = `${Math.floor(width / 4)} ${text}`; // widths in steps of 4 px: while zooming, texts are not cut anew
  const known = cuts.get(key);
  if (known !== undefined) return known;
  if (cuts.size > 50_000) cuts.clear();
  let most = Math.min(text.length - 1, Math.floor((text.length * width) / widthOf(context, text)) + 1);
  let cut = shortened(text, most);
  while (most > 1 && context.measureText(cut).width > Math.floor(width / 4) * 4) cut = shortened(text, --most);
  cuts.set(key, cut);
  return cut;
}

/** Rectangles by colour, dimmed or not: [x, y, width, height] one after the other. */
class Boxes {
  readonly all: number[][] = Array.from({length: 2 * EVENT_COLOURS}, () => []);

  add(colour: number, x: number, y: number, width: number, height: number): void {
    this.all[colour]?.push(x, y, width, height);
  }

  fill(context: CanvasRenderingContext2D, colours: Palette): void {
    this.all.forEach((boxes, at) => {
      if (boxes.length === 0) return;
      context.globalAlpha = at < EVENT_COLOURS ? 1 : DIMMED;
      context.fillStyle = colours[NAMES[at % EVENT_COLOURS] ?? "unknown"];
      for (let i = 0; i < boxes.length; i += 4)
        context.fillRect(boxes[i] ?? 0, boxes[i + 1] ?? 0, boxes[i + 2] ?? 0, boxes[i + 3] ?? 0);
    });
    context.globalAlpha = 1;
  }
}

interface Label {
  text: string;
  x: number;
  y: number;
  width: number;
  colour: number;
  dim: boolean;
}

interface Look {
  colours: Uint8Array; // kind -> colour
  matches: Uint8Array | undefined; // name -> 1: it matches
}

const looks = new WeakMap<Tile, Map<string, Uint8Array>>();
const matched = new WeakMap<Tile, {pattern: RegExp; matches: Uint8Array}>();

function lookOf(tile: Tile, lane: LaneInfo, pattern: RegExp | undefined): Look {
  const known = looks.get(tile) ?? new Map<string, Uint8Array>();
  looks.set(tile, known);
  let colours = known.get(lane.kind);
  if (!colours) {
    colours = Uint8Array.from(tile.kinds, (kind) => colourOf(kind, lane.kind));
    known.set(lane.kind, colours);
  }
  if (!pattern) return {colours, matches: undefined};
  let found = matched.get(tile);
  if (found?.pattern !== pattern) {
    found = {pattern, matches: Uint8Array.from(tile.names, (name) => (pattern.test(name) ? 1 : 0))};
    matched.set(tile, found);
  }
  return {colours, matches: found.matches};
}

/** A state of a device in words: "idle: data". */
export function stateName(kind: string): string {
  return kind.replace(/^(idle|exposed)_/, "$1: ");
}

/** One line of events of a piece. Boxes that touch within a pixel and have one colour become one. */
function drawLine(
  scene: Scene,
  boxes: Boxes,
  labels: Label[],
  piece: Piece,
  spans: Spans,
  lane: LaneInfo,
  line: number,
  y: number,
  height: number,
) {
  const {view, width} = scene;
  const {colours, matches} = lookOf(piece.tile, lane, scene.pattern);
  const scale = width / (view.to - view.from);
  const from = Math.max(view.from, piece.from);
  const to = Math.min(view.to, piece.to);
  const high = spans.lines[line + 1] ?? 0;
  const {start, end, kind, name, count} = spans;
  let [left, right, colour] = [0, 0, -1];
  for (let at = firstAfter(end, from, spans.lines[line] ?? 0, high); at < high && start[at]! < to; ++at) {
    const begins = start[at]! > from ? start[at]! : from;
    const ends = end[at]! < to ? end[at]! : to;
    let x = (begins - view.from) * scale;
    let till = (ends - view.from) * scale;
    if (start[at]! < piece.from) x = Math.round(x); // no seam where two tiles meet
    if (end[at]! > piece.to) till = Math.round(till);
    let fill = colours[kind[at]!]!;
    const dim = matches !== undefined && matches[name[at]!] === 0;
    if (dim) fill += EVENT_COLOURS;
    const size = till - x;
    if (size < 3) {
      x = Math.floor(x);
      till = Math.max(x + 1, Math.round(till));
      if (fill === colour && x <= right && right - left < 64) {
        if (till > right) right = till;
        continue;
      }
      if (x < right) x = right;
      if (till <= x) continue;
    } else if (ends === end[at]) till -= Math.min(1, size * 0.2); // a line between neighbours
    if (colour >= 0) boxes.add(colour, left, y, right - left, height);
    [left, right, colour] = [x, till, fill];
    if (size < LABEL_FROM || height < LOWEST || (start[at]! < piece.from && piece.from > view.from)) continue;
    const whole = Math.min(width, (end[at]! - view.from) * scale) - x;
    const text =
      lane.kind === "idle" || lane.kind === "device"
        ? stateName(piece.tile.kinds[kind[at]!]!)
        : piece.tile.names[name[at]!]!;
    const several = count[at]! > 1 ? `${count[at]} × ` : "";
    labels.push({
      text: several + text,
      x: x + 3,
      y: y + height / 2,
      width: whole - 6,
      colour: colours[kind[at]!]!,
      dim,
    });
  }
  if (colour >= 0) boxes.add(colour, left, y, right - left, height);
}

function drawSpans(scene: Scene, boxes: Boxes, labels: Label[], lane: LaneInfo, {row, y, clip}: Placed, top: number) {
  for (const piece of scene.pieces(row.trace.trace)) {
    const spans = piece.tile.spans.get(lane.lane);
    if (!spans) continue;
    const lines = row.kind === "rank" ? 1 : Math.min(spans.lines.length - 1, Math.round(row.height / row.line));
    for (let line = 0; line < lines; ++line) {
      const at = y + top + line * row.line;
      const height = row.line - 1;
      if (at + height <= clip || at >= scene.height) continue;
      const from = Math.max(at, clip);
      drawLine(scene, boxes, labels, piece, spans, lane, line, from, at + height - from);
    }
  }
}

/** The most of a counter in what is seen. */
function mostOf(pieces: readonly Piece[], lane: number, {from, to}: View): number {
  let most = 0;
  for (const {tile} of pieces) {
    const curve = tile.curves.get(lane);
    if (!curve) continue;
    for (
      let at = firstAfter(curve.end, from, 0, curve.end.length);
      at < curve.end.length && curve.start[at]! < to;
      ++at
    )
      most = Math.max(most, curve.high[at]!);
  }
  return most;
}

/** Steps from the least to the most within each stretch; below the least it is an area. */
function drawSteps(
  context: CanvasRenderingContext2D,
  scene: Scene,
  curve: Curve,
  piece: Piece,
  y: number,
  height: number,
  most: number,
) {
  const {view, width} = scene;
  const [from, to] = [Math.max(view.from, piece.from), Math.min(view.to, piece.to)];
  const yOf = (value: number) => y + height - (Math.max(0, value) / most) * (height - 2);
  let drawn = Number.NEGATIVE_INFINITY;
  for (
    let at = firstAfter(curve.end, from, 0, curve.end.length);
    at < curve.end.length && curve.start[at]! < to;
    ++at
  ) {
    const x = xOf(Math.max(from, curve.start[at]!), view, width);
    const till = Math.max(x + 0.5, xOf(Math.min(to, curve.end[at]!), view, width));
    if (till - drawn < 0.5) continue;
    drawn = till;
    const [low, high] = [yOf(curve.low[at]!), yOf(curve.high[at]!)];
    context.globalAlpha = 0.3;
    context.fillRect(x, low, till - x, y + height - low);
    context.globalAlpha = 0.9;
    context.fillRect(x, high - 1, till - x, Math.max(1.5, low - high));
  }
  context.globalAlpha = 1;
}

function drawCurve(context: CanvasRenderingContext2D, scene: Scene, lane: LaneInfo, {row, y, clip}: Placed) {
  const pieces = scene.pieces(row.trace.trace);
  const most = mostOf(pieces, lane.lane, scene.view);
  context.save();
  context.beginPath();
  context.rect(0, clip, scene.width, scene.height - clip);
  context.clip();
  context.fillStyle = scene.colours.call;
  for (const piece of pieces) {
    const curve = piece.tile.curves.get(lane.lane);
    if (curve && most > 0) drawSteps(context, scene, curve, piece, y, row.height, most);
  }
  context.fillStyle = scene.colours.text;
  context.textAlign = "right";
  context.fillText(counted(most, lane.unit), scene.width - 4, y + 8);
  context.textAlign = "left";
  context.restore();
}

/** A counter's value in its unit. */
export function counted(value: number, unit: string | undefined): string {
  if (unit === "bytes" || unit === "B") return bytes(value);
  if (unit === "ns") return duration(value);
  return unit ? `${plain(value)} ${unit}` : plain(value);
}

function drawGround(context: CanvasRenderingContext2D, scene: Scene) {
  const {colours, width, height, view} = scene;
  for (const {row, y, clip} of scene.placed) {
    if (row.kind !== "rank") continue;
    context.fillStyle = colours.soft;
    const from = Math.max(clip, y - 2);
    context.fillRect(0, from, width, Math.max(0, y + row.height + 2 - from));
  }
  const shown = scene.steps.filter(({ts_ns, dur_ns}) => ts_ns + dur_ns > view.from && ts_ns < view.to);
  if (shown.length > width / 12) return;
  context.fillStyle = colours.line;
  for (const step of shown) context.fillRect(Math.round(xOf(step.ts_ns, view, width)), 0, 1, height);
}

/** Draws all lanes in sight. */
export function drawLanes(context: CanvasRenderingContext2D, scene: Scene): void {
  const boxes = new Boxes();
  const labels: Label[] = [];
  context.font = `${FONT_SIZE}px ${scene.colours.font}`;
  context.textBaseline = "middle";
  drawGround(context, scene);
  for (const placed of scene.placed) {
    placed.row.lanes.forEach((lane, at) => {
      if (isCurve(lane)) drawCurve(context, scene, lane, placed);
      else drawSpans(scene, boxes, labels, lane, placed, at * placed.row.line);
    });
  }
  boxes.fill(context, scene.colours);
  for (const label of labels) {
    const text = fitted(context, label.text, label.width);
    if (!text) continue;
    context.fillStyle = label.dim ? scene.colours.dim : (scene.colours.labels[label.colour] ?? scene.colours.text);
    context.fillText(text, label.x, label.y);
  }
}

/** The place of an event on the canvas; undefined where its lane is not in sight. */
export function boxOf(
  event: Pick<Event, "trace" | "lane" | "line" | "start" | "end">,
  {placed, view, width}: Pick<Scene, "placed" | "view" | "width">,
) {
  const own = placed.find(({row}) => row.kind === "lane" && row.lanes[0]?.lane === event.lane);
  const {row, y, clip} = own ?? placed.find(({row}) => row.kind === "rank" && row.trace.trace === event.trace) ?? {};
  if (!row || y === undefined) return undefined;
  const x = xOf(event.start, view, width);
  const top = own ? y + event.line * row.line : y;
  if (top + row.line <= (clip ?? 0)) return undefined;
  return {x, y: top, width: Math.max(2, xOf(event.end, view, width) - x), height: (own ? row.line : row.height) - 1};
}
