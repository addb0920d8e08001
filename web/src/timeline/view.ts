// SPDX-License-Identifier: Apache-2.0
// The window of time that is seen, as arithmetic: zooming, panning, levels of detail, and ticks whose labels differ.

/** A stretch of time, in ns since the run's first event. */
export interface View {
  from: number;
  to: number;
}

export const SHORTEST = 64; // ns that a view holds at least: a kernel takes thousands
const TICK_WIDTH = 96; // px between two labels at least

/** The view within the bounds: shorter than them, moved rather than cut. */
export function clamped(view: View, bounds: View): View {
  const all = Math.max(SHORTEST, bounds.to - bounds.from);
  const middle = (view.from + view.to) / 2;
  const length = Math.min(all, Math.max(SHORTEST, view.to - view.from));
  const from = Math.min(Math.max(middle - length / 2, bounds.from), bounds.from + all - length);
  return {from, to: from + length};
}

/** Zooms by `factor` (below 1 is closer); the time `at` stays where it is. */
export function zoomed(view: View, factor: number, at: number, bounds: View): View {
  const length = Math.min(bounds.to - bounds.from, Math.max(SHORTEST, (view.to - view.from) * factor));
  const share = (at - view.from) / (view.to - view.from);
  const from = at - share * length;
  return clamped({from, to: from + length}, bounds);
}

/** Moves by a share of the length. */
export function panned(view: View, share: number, bounds: View): View {
  const by = share * (view.to - view.from);
  return clamped({from: view.from + by, to: view.to + by}, bounds);
}

/** The span with a margin on both sides. */
export function around(from: number, to: number, bounds: View): View {
  const margin = Math.max((to - from) * 0.15, SHORTEST);
  return clamped({from: from - margin, to: to + margin}, bounds);
}

/** The level of detail of a view: the finest whose pixel, 2^level ns, is not longer than one of the canvas. */
export function levelOf(view: View, width: number): number {
  return Math.max(0, Math.floor(Math.log2((view.to - view.from) / Math.max(1, width))));
}

export function xOf(time: number, view: View, width: number): number {
  return ((time - view.from) / (view.to - view.from)) * width;
}

export function timeOf(x: number, view: View, width: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

const UNITS = [
  [1, "ns"],
  [1e3, "µs"],
  [1e6, "ms"],
  [1e9, "s"],
] as const;

/** A time exact to `step` ns, in the unit that fits `size`. */
function exact(time: number, step: number, size: number): string {
  const [unit, name] = [...UNITS].reverse().find(([unit]) => size >= unit) ?? UNITS[0];
  const decimals = Math.max(0, Math.ceil(Math.log10(unit / step) - 1e-9));
  return `${(time / unit).toFixed(decimals)} ${name}`;
}

export interface Axis {
  base: number; // the labels count from here
  said: string; // how far `base` is from the reference; empty: it is the reference
  ticks: {at: number; label: string}[];
}

/** The least of 1, 2, 5, 10, 20, … that is not less. */
function round(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - 1e-9)) ?? 10;
  return Math.max(1, Math.round(factor * power));
}

/**
 * Ticks of a view. Labels count from `reference` (the start of a step) as long as four digits tell them apart; closer
 * ones from a round time before the view, which `said` names.
 */
export function axisOf(view: View, width: number, reference: number): Axis {
  const step = round(Math.max(1, ((view.to - view.from) / Math.max(1, width)) * TICK_WIDTH));
  const furthest = Math.max(Math.abs(view.from - reference), Math.abs(view.to - reference));
  const near = furthest / step < 1e4;
  const coarse = step * 1000;
  const base = near ? reference : reference + Math.floor((view.from - reference) / coarse) * coarse;
  const size = near ? furthest : Math.max(view.to - base, step);
  const ticks = [];
  for (let at = Math.ceil((view.from - base) / step); base + at * step <= view.to; ++at) {
    const label = `${near || at < 0 ? "" : "+"}${exact(at * step, step, size)}`;
    ticks.push({at: base + at * step, label: at === 0 ? "0" : label});
  }
  return {base, said: near ? "" : exact(base - reference, coarse, Math.abs(base - reference)), ticks};
}
