// SPDX-License-Identifier: Apache-2.0
// Jumps from any part of the page to the timeline, and back to where one came from.

export interface Target {
  trace?: number | undefined;
  rank?: number | undefined;
  from?: number | undefined; // ns since the run's first event
  to?: number | undefined;
  gpu_op?: number | undefined;
  slice?: number | undefined;
  step?: number | undefined;
}

export interface Origin {
  name: string; // as in "back to …"
  top: number; // how far the page was scrolled
  element: Element | null; // that had the focus
}

type Go = (target: Target, origin: Origin) => void;

let go: Go | undefined;
let possible = false;

/** Says that this page has a timeline, before its parts are drawn. */
export function allowJumps(): void {
  possible = true;
}

export function canJump(): boolean {
  return possible;
}

/** The timeline says how to get there; undefined when it leaves the page. */
export function onJump(how: Go | undefined): void {
  go = how;
}

/** Shows the target in the timeline; a button there leads back to the place that is named. */
export function jumpTo(target: Target, back = "where you were"): void {
  go?.(target, {name: back, top: scrollY, element: document.activeElement});
}

/** True if the target says a place in time, or an event that has one. */
export function isPlace({from, gpu_op, slice, step}: Target): boolean {
  return [from, gpu_op, slice, step].some((one) => one !== undefined);
}
