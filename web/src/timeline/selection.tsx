// SPDX-License-Identifier: Apache-2.0
// The content of a selected range: sums as tables, and a flame graph of the host's calls.
import {useMemo} from "preact/hooks";
import {Table} from "../data";
import {duration} from "../format";
import {TableView} from "../table_view";
import {traceName} from "./data";
import {FlameGraph} from "./flame";
import type {Model, Range} from "./model";
import type {Sums} from "./source";

function tableOf({name, help, columns, cells}: Sums): Table {
  const sort = columns.find((column) => column.unit === "ns")?.name;
  return new Table({name, help, rows: cells[0]?.length ?? 0, columns, cells, ...(sort && {sort})}, []);
}

export function SelectionPanel({model, range}: {model: Model; range: Range}) {
  const {sums} = model;
  const tables = useMemo(() => (sums?.tables ?? []).map(tableOf).filter(({rows}) => rows > 0), [sums]);
  const {traces} = model.source.overview;
  return (
    <div class="tl-panel" data-panel="selection">
      <header>
        <h3>Selected: {duration(range.to - range.from)}</h3>
        {traces.length > 1 && (
          <select
            aria-label="Sums of"
            value={range.trace}
            onChange={(event) => model.selectRange({...range, trace: Number(event.currentTarget.value)})}
          >
            {traces.map((trace) => (
              <option key={trace.trace} value={trace.trace}>
                {traceName(trace)}
              </option>
            ))}
          </select>
        )}
        <button type="button" onClick={() => model.focus()}>
          zoom to it
        </button>
        <button type="button" onClick={() => model.selectRange(undefined)} aria-label="Close the selection">
          ×
        </button>
      </header>
      {!model.source.served && (
        <p class="dim">From what this report holds: short neighbours that were put together count as one.</p>
      )}
      {model.refused.sums && <p class="tl-problem">No sums: {model.refused.sums}</p>}
      {sums && tables.length === 0 && <p class="dim">Nothing is recorded in it.</p>}
      <div class="tl-tables">
        {tables.map((table) => (
          <div key={table.name}>
            <h3>{table.name.replace(/_/g, " ")}</h3>
            <p class="dim">{table.help}</p>
            <TableView table={table} filter="" ids={false} />
          </div>
        ))}
      </div>
      {sums && (
        <FlameGraph
          key={`${range.from} ${range.to} ${range.trace}`}
          roots={sums.flame}
          find={(name) => void model.search(name)}
        />
      )}
    </div>
  );
}
