// SPDX-License-Identifier: Apache-2.0
// Jumps from any part of the page to the timeline, and back to where one came from.
import type {Evidence, Table} from "../data";

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
  element: Element | null; // that had the focus, …
  offset: number; // … and how far it was from the top of the window
  top: number; // how far the page was scrolled
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
  const element = document.activeElement;
  go?.(target, {name: back, element, offset: element?.getBoundingClientRect().top ?? 0, top: scrollY});
}

/** Shows the place that a jump came from as it was seen: what is above it may be longer now. */
export function goBack({element, offset, top}: Origin): void {
  if (element instanceof HTMLElement && element.isConnected && element !== document.body) {
    scrollBy(0, element.getBoundingClientRect().top - offset);
    element.focus({preventScroll: true});
  } else scrollTo(0, top);
}

/** True if the target says a place in time, or an event that has one. */
export function isPlace({from, gpu_op, slice, step}: Target): boolean {
  return [from, gpu_op, slice, step].some((one) => one !== undefined);
}

/** Columns that name a host slice; in others it is a part of the name of what they count. */
const SLICES = ["slice_id", "launch_id"];

/** The place in time that a row of a table is about: its event, when it was, or its step. */
export function targetOf(table: Table, row: number): Target {
  const number = (name: string) => table.number(row, name) ?? undefined;
  const from = number("ts_ns");
  const slice = SLICES.map(number).find((id) => id !== undefined);
  return {
    trace: number("trace"),
    rank: number("rank"),
    gpu_op: number("gpu_op_id") ?? (table.name === "gpu_op" ? number("id") : undefined),
    slice: from === undefined ? slice : undefined, // the slice of a gap is only what the host did meanwhile
    from,
    to: from === undefined ? undefined : from + (number("dur_ns") ?? 0),
    step: number("step"),
  };
}

/** The place in time of what proves a finding: its first row, as far as this page holds it. */
export function targetOfEvidence({table, rows}: Evidence, tables: ReadonlyMap<string, Table>): Target | undefined {
  const id = rows?.[0];
  if (table === undefined || id === undefined) return undefined;
  if (table === "gpu_op") return {gpu_op: id};
  if (table === "slice") return {slice: id};
  const held = tables.get(table);
  const row = held?.column("id").indexOf(id) ?? -1;
  if (!held || row < 0) return undefined;
  const target = targetOf(held, row);
  return isPlace(target) ? target : undefined;
}
