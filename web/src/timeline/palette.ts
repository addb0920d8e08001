// SPDX-License-Identifier: Apache-2.0
// The colours of events: those of style.css, where one colour has one meaning.
import {colour} from "../theme";
import type {LaneKind} from "./data";

export const NAMES = [
  "compute",
  "comm",
  "copy",
  "data",
  "launch",
  "sync",
  "host",
  "unknown",
  "annotation",
  "operator",
  "call",
  "soft",
  "card",
  "line",
  "text",
  "dim",
  "accent",
  "page",
] as const;

export type Palette = Record<(typeof NAMES)[number], string> & {
  font: string;
  labels: string[]; // the colour of texts on each of the colours of events
};

/** Colours of events are the first of NAMES. */
export const EVENT_COLOURS = 11;

/** The relative luminance of a colour as #rrggbb (WCAG). */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

/** The colours as they are now. */
export function palette(): Palette {
  const colours = Object.fromEntries(NAMES.map((name) => [name, colour(name)])) as unknown as Palette;
  colours.labels = NAMES.slice(0, EVENT_COLOURS).map((name) => {
    const [text, card] = [contrast(colours[name], colours.text), contrast(colours[name], colours.card)];
    return text > card ? colours.text : colours.card;
  });
  colours.font = getComputedStyle(document.body).fontFamily;
  return colours;
}

const DEVICE: Record<string, number> = {
  communication: 1,
  comm: 1,
  copy: 2,
  data: 3,
  launch: 4,
  sync: 5,
  host: 6,
  unknown: 7,
};
const HOST: Record<string, number> = {annotation: 8, operator: 9};

/** The place in NAMES of the colour of a kind of event. */
export function colourOf(kind: string, lane: LaneKind): number {
  switch (lane) {
    case "steps":
    case "annotations":
      return 8;
    case "thread":
    case "samples":
      return HOST[kind] ?? 10;
    case "calls":
      return 7;
    case "idle":
      return DEVICE[kind.replace(/^idle[^a-z]*/, "")] ?? 7;
    case "device":
      return DEVICE[kind.replace(/^(idle|exposed)[^a-z]*/, "")] ?? 0;
    default:
      return kind === "communication" ? 1 : kind === "copy" ? 2 : 0;
  }
}
