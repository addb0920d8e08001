// SPDX-License-Identifier: Apache-2.0
// SQL over a run that is served.
import type {Cell, Column} from "../data";

export interface Answer {
  columns: {name: string; type: Column["type"]; unit?: string; help?: string}[];
  rows: number;
  complete: boolean;
  cells: Cell[][]; // by column
}

export interface Problem {
  message: string;
  hint?: string;
}

/** Returns what a query gives; it throws a Problem. */
export async function query(run: string, sql: string): Promise<Answer> {
  const response = await fetch(`/api/runs/${encodeURIComponent(run)}/query`, {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({sql}),
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw body.error ?? {message: `${response.status} ${response.statusText}`};
  return body as Answer;
}

/** A row of an answer by the names of its columns. */
export function rowsOf(answer: Answer): Record<string, Cell>[] {
  return [...Array(answer.rows).keys()].map((row) =>
    Object.fromEntries(answer.columns.map(({name}, at) => [name, answer.cells[at]?.[row] ?? null])),
  );
}
