// SPDX-License-Identifier: Apache-2.0
// The result of `gapless optimize` as the program inlines it (src/report/optimize/page.cc writes it): the document of
// `optimize --json`, whose types `gapless docs` writes, and the words that the other reports have, too. Absent is a missing
// key or an empty text.
import type {Optimize} from "schema/optimize";

export type {Optimize};

export interface Reason {
  fix: string;
  reason: string;
}

export interface Words {
  head: string[]; // of the table; the first is empty
  rows: string[][];
  shares: number[]; // the time of each row, of that of the first
  training?: string; // is it the same?
  metric: string;
  unproved: string;
  tried: Reason[];
  not_tried: Reason[];
  no_time: Reason[];
  found: string[];
  run?: string;
  diff: string;
}

export interface OptimizePage {
  optimize: Optimize;
  page: Words;
}

/** A line of a patch: added, removed, or neither. */
export function kindOf(line: string): "ins" | "del" | "span" {
  return line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span";
}
