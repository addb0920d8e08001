// SPDX-License-Identifier: Apache-2.0
// Every table that an analysis filled, the usual ones first; each is also a table of `gapless query`.
import {useState} from "preact/hooks";
import type {Data} from "../data";
import {Snippet} from "../snippet";
import {TableView} from "../table_view";

const FIRST = [
  ["kernels", "Kernels"],
  ["operators", "Operators"],
  ["copies", "Copies"],
  ["syncs", "Syncs"],
  ["idle", "Idle gaps"],
  ["collective_groups", "Collectives"],
  ["ranks", "Ranks"],
] as const;
const PICTURES = new Set(["slowest_step", "memory_curve"]); // drawn elsewhere

export function Tables({data}: {data: Data}) {
  const tabs = FIRST.filter(([name]) => data.tables.has(name));
  const [name, setName] = useState<string>(tabs[0]?.[0] ?? [...data.tables.keys()][0] ?? "");
  const [filter, setFilter] = useState("");
  const [ids, setIds] = useState(false);
  const others = [...data.tables.keys()].filter((key) => !tabs.some(([tab]) => tab === key) && !PICTURES.has(key));
  const table = data.tables.get(name);
  if (!table) return null;
  const order = table.sort ? ` ORDER BY ${table.sort} DESC` : "";
  return (
    <section id="tables">
      <header>
        <h2>Tables</h2>
        <span class="dim">{table.help}</span>
      </header>
      <div class="below" style={{marginTop: 0, marginBottom: "10px"}}>
        <div class="tabs" role="tablist" aria-label="Tables">
          {tabs.map(([key, label]) => (
            <button key={key} type="button" role="tab" aria-selected={key === name} onClick={() => setName(key)}>
              {label}
            </button>
          ))}
        </div>
        <select
          aria-label="More tables"
          value={others.includes(name) ? name : ""}
          onChange={(event) => event.currentTarget.value && setName(event.currentTarget.value)}
        >
          <option value="">more tables…</option>
          {others.map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
        <input
          type="search"
          placeholder="filter"
          aria-label="Rows that hold this text"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <label>
          <input type="checkbox" checked={ids} onChange={(event) => setIds(event.currentTarget.checked)} /> ids
        </label>
      </div>
      <TableView key={name} table={table} filter={filter} ids={ids} durations={data.tables.get("kernel_durations")} />
      <div class="below">
        <Snippet text={`gapless query ${data.page.path} "SELECT * FROM ${name}${order}"`} label="the query" />
      </div>
    </section>
  );
}
