// SPDX-License-Identifier: Apache-2.0
// Numbers the findings of the list to fix, and formats lists of such numbers; the same as in src/report/amounts.cc.
import type {Analyze, Bottleneck} from "./data";
import {buys} from "./format";

/** Fixing it brings something, or nobody knows what. */
export function isToFix(bottleneck: Bottleneck): boolean {
  return !bottleneck.gain || buys(bottleneck.gain);
}

/** The number of each finding, by its id; those that hang under another one, or are not to be fixed, have none. */
export function placesOf(bottlenecks: readonly Bottleneck[]): Map<string, number> {
  const listed = bottlenecks.filter((one) => !one.cured_by && isToFix(one));
  return new Map(listed.map((one, at) => [one.id, at + 1]));
}

/** "1", "1 and 2", "1, 2 and 4". */
export function listOf(words: readonly (string | number)[]): string {
  if (words.length < 2) return words.join();
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

export function numbersOf(ids: readonly string[], places: Map<string, number>): number[] {
  return ids
    .map((id) => places.get(id))
    .filter((place) => place !== undefined)
    .sort((a, b) => a - b);
}

/** Why a fix is a choice beside the plan. */
export function apartOf(run: Analyze["run"]): string {
  return run.workload === "training" ? "changes the training" : "changes what is computed at once";
}

/** Returns what the sum leaves out, and what it rests on. */
export function trustOf({together, breakdown, run}: Analyze, places: Map<string, number>): string[] {
  if (!together) return [];
  const remarks = [];
  const estimated = numbersOf(together.estimated, places);
  const leftOut = numbersOf(together.left_out, places);
  if (estimated.length === together.bottlenecks.length) remarks.push("from the affected time, not replayed");
  else if (estimated.length > 0) remarks.push(`${listOf(estimated)} from the affected time, not replayed`);
  if (leftOut.length > 0)
    remarks.push(`without ${listOf(leftOut)}, ${leftOut.length === 1 ? "" : "each of "}which ${apartOf(run)}`);
  if (together.untested.length > 0)
    remarks.push(`${listOf(together.untested)} untested on ${breakdown?.length ? "GPUs" : "CPUs"}`);
  return remarks;
}
