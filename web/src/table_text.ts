// SPDX-License-Identifier: Apache-2.0
// Tables as text for other programs, and what the filter of a column takes.
import type {Cell, Column} from "./data";
import {cell as format} from "./format";

/** Rows as comma-separated values: numbers as they are, in the unit that the header names. */
export function csvOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const quoted = (value: Cell) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return [columns.map(({name}) => name), ...rows].map((cells) => `${cells.map(quoted).join(",")}\n`).join("");
}

/** Rows as a table of Markdown: numbers as people read them. */
export function markdownOf(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const escaped = (text: string) =>
    text
      .replace(/\\/g, "\\\\")
      .replace(/\|/g, "\\|")
      .replace(/[\n\r]+/g, " ");
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  const head = columns.map(({name}) => escaped(name));
  const rule = columns.map(({type}) => (type === "text" ? "---" : "---:"));
  const body = rows.map((cells) => line(cells.map((value, at) => escaped(format(value, columns[at]?.unit ?? "")))));
  return line(head) + line(rule) + body.join("");
}

const UNITS: Record<string, number> = {
  ...{ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9},
  ...{b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, "%": 0.01, k: 1e3, m: 1e6},
};

const COMPARE: Record<string, (value: number, limit: number) => boolean> = {
  ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit,
  "<": (value, limit) => value < limit,
  "<=": (value, limit) => value <= limit,
  "=": (value, limit) => value === limit,
};

/**
 * The test of a column's filter: texts that hold it; numbers by a comparison with a unit (">2ms", "<= 10%"), else those
 * that are written so. Undefined: all.
 */
export function filterOf(text: string, {type, unit}: Column): ((value: Cell) => boolean) | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  if (type === "text") return (value) => value !== null && String(value).toLowerCase().includes(wanted);
  const [, sign = "", number = "", name = ""] =
    wanted.match(/^([<>]=?|=)\s*(-?[\d.]+(?:e[-+]?\d+)?)\s*([a-zµ%]*)$/) ?? [];
  const compare = COMPARE[sign];
  if (!compare) return (value) => value !== null && format(value, unit).toLowerCase().includes(wanted);
  const scale = name === "%" && unit === "percent" ? 1 : (UNITS[name] ?? 1);
  const limit = Number(number) * scale;
  return (value) => typeof value === "number" && compare(value, limit);
}
