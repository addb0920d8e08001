// SPDX-License-Identifier: Apache-2.0
// Rows of a table put together by the values of one of its columns.
import {type Cell, type Column, Table} from "./data";

/** Columns of numbers that name something; rows may be put together by them. */
const KEYS = new Set(["rank", "device", "stream", "tid", "step"]);
const COUNTS = new Set(["calls", "kernels", "events", "gaps", "launches", "operations", "copies", "messages"]);
/** Points in time, and what is one value of several: their sums mean nothing. */
const NO_SUM = /(^|_)(ts|start|end|at|mean|median|p\d+|min|max|least|longest|shortest|slowest|typical|peak)(_|$)/;

function adds(column: Column): boolean {
  if (column.type === "text") return false;
  return COUNTS.has(column.name) || (["ns", "bytes"].includes(column.unit) && !NO_SUM.test(column.name));
}

/** The columns by which rows can be put together: those that repeat a value. */
export function groupable(table: Table): Column[] {
  return table.columns.filter((column) => {
    if (column.type !== "text" && !KEYS.has(column.name)) return false;
    const cells = table.column(column.name).filter((cell) => cell !== null);
    const different = new Set(cells).size;
    return different > 1 && different < cells.length;
  });
}

/** A row for each value of the column: how many rows have it, and the sums of their times, bytes and counts. */
export function groupedBy(table: Table, name: string): Table {
  const by = table.columns.find((column) => column.name === name);
  const summed = table.columns.filter((column) => column !== by && adds(column));
  const groups = new Map<Cell, number[]>();
  table.column(name).forEach((cell, row) => {
    const rows = groups.get(cell);
    if (rows) rows.push(row);
    else groups.set(cell, [row]);
  });
  const sum = (column: Column, rows: readonly number[]): Cell => {
    const known = rows.map((row) => table.number(row, column.name)).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((all, value) => all + value, 0);
  };
  const sort = summed.find((column) => column.name === table.sort) ?? summed[0];
  const count: Column = {name: "rows", type: "int", unit: "", help: "rows of the table that are put together"};
  return new Table(
    {
      name: table.name,
      help: table.help,
      rows: groups.size,
      sort: sort?.name ?? "rows",
      columns: [...(by ? [by] : []), count, ...summed],
      cells: [
        ...(by ? [[...groups.keys()]] : []),
        [...groups.values()].map((rows) => rows.length),
        ...summed.map((column) => [...groups.values()].map((rows) => sum(column, rows))),
      ],
    },
    [],
  );
}
