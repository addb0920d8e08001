// SPDX-License-Identifier: Apache-2.0
// A table that sorts by its headers, filters by a text and by column, and is copied; TanStack Table does the work.
import {
  type ColumnDef,
  createTable,
  getCoreRowModel,
  getFilteredRowModel,
  getSortedRowModel,
  type SortingState,
  type TableState,
} from "@tanstack/table-core";
import {useMemo, useRef, useState} from "preact/hooks";
import type {Cell, Column, Table} from "./data";
import {Distribution, durationsOf} from "./distribution";
import {cell as format} from "./format";
import {groupable, groupedBy} from "./grouped";
import {Scroll} from "./scroll";
import {csvOf, filterOf, markdownOf} from "./table_text";
import {canJump, isPlace, jumpTo, targetOf} from "./timeline/jump";

const FIRST = 12;
const hidden = new Set(["trace"]);

/** Columns worth a place: those with something in them; ids and the key of the trace only when asked for. */
function columnsOf(table: Table, ids: boolean): {column: Column; at: number}[] {
  return table.columns
    .map((column, at) => ({column, at}))
    .filter(({column}) => ids || !(hidden.has(column.name) || column.unit.startsWith("id:") || column.name === "id"))
    .filter(({at}) => [...Array(table.rows).keys()].some((row) => table.at(row, at) !== null));
}

function title(column: Column): string {
  return column.name.replace(/_(ns|bytes)$/, "").replace(/_/g, " ");
}

const NONE: ReadonlyMap<string, string> = new Map();

/** The state and rows of a TanStack table, kept in this component. */
function useRows(
  table: Table,
  columns: {column: Column; at: number}[],
  filter: string,
  filters: ReadonlyMap<string, string>,
) {
  const sort = table.sort && columns.some(({column}) => column.name === table.sort) ? table.sort : undefined;
  const [sorting, setSorting] = useState<SortingState>(sort ? [{id: sort, desc: true}] : []);
  const data = useMemo(() => [...Array(table.rows).keys()], [table]);
  const definitions = useMemo(
    (): ColumnDef<number, Cell>[] =>
      columns.map(({column, at}) => ({
        id: column.name,
        accessorFn: (row: number) => table.at(row, at) ?? undefined,
        sortUndefined: "last",
        sortDescFirst: column.type !== "text",
        sortingFn: column.type === "text" ? "alphanumeric" : "basic",
        enableGlobalFilter: column.type === "text",
        filterFn: (row, id, text: string) => filterOf(text, column)?.(row.getValue(id) ?? null) ?? true,
      })) as ColumnDef<number, Cell>[],
    [table, columns],
  );
  const shown = new Set(columns.map(({column}) => column.name));
  const columnFilters = [...filters].filter(([id]) => shown.has(id)).map(([id, value]) => ({id, value}));
  const model = useRef(
    createTable<number>({
      data,
      columns: definitions,
      state: {},
      onStateChange: () => {},
      renderFallbackValue: null,
      getCoreRowModel: getCoreRowModel(),
      getSortedRowModel: getSortedRowModel(),
      getFilteredRowModel: getFilteredRowModel(),
      globalFilterFn: "includesString",
      getColumnCanGlobalFilter: (column) => column.columnDef.enableGlobalFilter !== false,
    }),
  ).current;
  model.setOptions((options) => ({
    ...options,
    data,
    columns: definitions,
    state: {...model.initialState, sorting, globalFilter: filter, columnFilters} as TableState,
    onSortingChange: setSorting,
  }));
  return model;
}

const LONG = 48; // characters: a name that is longer shows both of its ends
const TAIL = 16;

/** A text that gives way in its middle. */
function Middle({text}: {text: string}) {
  if (text.length <= LONG) return <>{text}</>;
  return (
    <span class="middle">
      <span>{text.slice(0, -TAIL)}</span>
      <span>{text.slice(-TAIL)}</span>
    </span>
  );
}

type Rows = readonly (readonly Cell[])[];

/** Puts the rows that are filtered and sorted into the clipboard. */
function Copy({columns, rows}: {columns: readonly Column[]; rows: () => Rows}) {
  const [copied, setCopied] = useState("");
  const copy = async (as: string, text: (columns: readonly Column[], rows: Rows) => string) => {
    try {
      await navigator.clipboard.writeText(text(columns, rows()));
      setCopied(as);
      setTimeout(() => setCopied(""), 1500);
    } catch {
      setCopied("refused"); // a page may have no right to the clipboard
    }
  };
  return (
    <span class="copies">
      {[["CSV", csvOf] as const, ["Markdown", markdownOf] as const].map(([as, text]) => (
        <button key={as} type="button" onClick={() => copy(as, text)} aria-label={`Copy as ${as}`}>
          {copied === as ? "copied" : as}
        </button>
      ))}
      {copied === "refused" && <span class="dim">the browser keeps its clipboard from this page</span>}
    </span>
  );
}

/** Leads to what the row is about. */
function Jump({table, row}: {table: Table; row: number}) {
  const target = targetOf(table, row);
  const go = (event: MouseEvent) => {
    event.stopPropagation(); // a click on the row unfolds it
    jumpTo(target, `table ${table.name}`);
  };
  return (
    <th class="jump">
      {isPlace(target) && (
        <button
          type="button"
          onClick={go}
          aria-label={`Show row ${row + 1} in the timeline`}
          title="show in the timeline"
        >
          ↗
        </button>
      )}
    </th>
  );
}

/** Below a row that is open: how long the calls of its kernel take. */
function Unfolded({
  table,
  durations,
  row,
  columns,
}: {
  table: Table;
  durations: Table | undefined;
  row: number;
  columns: number;
}) {
  const at = durationsOf(durations, table, row);
  if (!durations || at === undefined) return null;
  return (
    <tr class="unfolded">
      <td colSpan={columns}>
        <Distribution durations={durations} row={at} />
      </td>
    </tr>
  );
}

interface Shown {
  table: Table;
  filter: string;
  ids: boolean;
  durations?: Table | undefined; // of kernels: the row that is open shows how long its calls take
}

/** A table as it is, or its rows put together by a column. */
export function TableView({table, ...rest}: Shown) {
  const [by, setBy] = useState("");
  const choices = useMemo(() => groupable(table), [table]);
  const shown = useMemo(() => (by === "" ? table : groupedBy(table, by)), [table, by]);
  const grouping = choices.length > 0 && (
    <label class="grouping">
      group by{" "}
      <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
        <option value="">no column</option>
        {choices.map((column) => (
          <option key={column.name} value={column.name}>
            {title(column)}
          </option>
        ))}
      </select>
    </label>
  );
  return <RowsView key={by} table={shown} {...rest} grouping={grouping} />;
}

function RowsView({table, filter, ids, durations, grouping}: Shown & {grouping: preact.ComponentChildren}) {
  const columns = useMemo(() => columnsOf(table, ids), [table, ids]);
  const [filters, setFilters] = useState<ReadonlyMap<string, string>>(new Map());
  const [filtering, setFiltering] = useState(false);
  const model = useRows(table, columns, filter, filtering ? filters : NONE);
  const [all, setAll] = useState(false);
  const [open, setOpen] = useState(-1);
  const rows = model.getRowModel().rows;
  const shown = all ? rows : rows.slice(0, FIRST);
  const jumps = canJump() && rows.slice(0, FIRST).some((row) => isPlace(targetOf(table, row.original)));
  return (
    <>
      <Scroll label={`Table ${table.name}`}>
        <table data-table={table.name}>
          <thead>
            <tr>
              {jumps && (
                <th scope="col" class="plain jump">
                  <span class="sr">in the timeline</span>
                </th>
              )}
              {columns.map(({column}) => {
                const sorted = model.getColumn(column.name)?.getIsSorted() ?? false;
                const unit = column.unit && !column.unit.startsWith("id:") ? ` (${column.unit})` : "";
                return (
                  <th
                    key={column.name}
                    scope="col"
                    class={column.type === "text" ? "" : "num"}
                    aria-sort={sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : "none"}
                    title={`${column.name}${unit}: ${column.help}`}
                  >
                    <button type="button" onClick={() => model.getColumn(column.name)?.toggleSorting()}>
                      {title(column)}
                      {sorted === "asc" ? " ↑" : sorted === "desc" ? " ↓" : ""}
                    </button>
                  </th>
                );
              })}
            </tr>
            {filtering && (
              <tr class="filters">
                {jumps && <td />}
                {columns.map(({column}) => (
                  <td key={column.name}>
                    <input
                      type="search"
                      aria-label={`Filter ${title(column)}`}
                      placeholder={column.type === "text" ? "text" : "> 1"}
                      title={column.type === "text" ? "rows that hold this text" : "as > 2ms, <= 10%, = 3"}
                      value={filters.get(column.name) ?? ""}
                      onInput={(event) => setFilters(new Map(filters).set(column.name, event.currentTarget.value))}
                    />
                  </td>
                ))}
              </tr>
            )}
          </thead>
          <tbody>
            {shown.flatMap((row) => [
              <tr
                key={row.original}
                class={open === row.original ? "open" : ""}
                data-row={row.original}
                onClick={() => setOpen(open === row.original ? -1 : row.original)}
              >
                {jumps && <Jump table={table} row={row.original} />}
                {columns.map(({column, at}) => {
                  const value = table.at(row.original, at);
                  const text = format(value, column.unit);
                  return (
                    <td
                      key={column.name}
                      class={column.type === "text" ? "" : "num"}
                      data-column={column.name}
                      {...(value !== null && {"data-value": value})}
                      title={column.type === "text" ? text : undefined}
                    >
                      {column.type === "text" ? <Middle text={text} /> : text}
                    </td>
                  );
                })}
              </tr>,
              open === row.original && (
                <Unfolded
                  key={`${row.original} unfolded`}
                  {...{table, durations, row: row.original, columns: columns.length + (jumps ? 1 : 0)}}
                />
              ),
            ])}
          </tbody>
        </table>
      </Scroll>
      <div class="below">
        {rows.length > FIRST && (
          <button type="button" onClick={() => setAll(!all)}>
            {all ? `Show ${FIRST}` : `Show all ${rows.length}`}
          </button>
        )}
        <span class="copies">
          <button type="button" aria-pressed={filtering} onClick={() => setFiltering(!filtering)}>
            filter columns
          </button>
        </span>
        {grouping}
        <Copy
          columns={columns.map(({column}) => column)}
          rows={() => rows.map((row) => columns.map(({at}) => table.at(row.original, at)))}
        />
        <span class="dim">
          {rows.length === table.rows ? "" : `${rows.length} of `}
          {table.rows} rows
          {table.allRows > table.rows && ` of ${table.allRows}, the ones with most ${table.sort ?? ""}`}
        </span>
      </div>
    </>
  );
}
