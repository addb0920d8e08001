// SPDX-License-Identifier: Apache-2.0
// Two runs that are served, held against each other: the causes that lead from a step of the one to a step of the other.
import {useEffect, useMemo, useState} from "preact/hooks";
import type {Why, WhyCause} from "schema/why";
import {type Column, type Data, Table} from "../data";
import {duration} from "../format";
import {TableView} from "../table_view";
import {useRuns} from "./runs";

function signed(ns: number): string {
  return `${ns < 0 ? "−" : "+"}${duration(Math.abs(ns))}`;
}

/** The rows of a cause, as the page's tables are. */
function tableOf(cause: WhyCause): Table {
  const texts: string[] = [];
  const text = (value: string | undefined) => (value === undefined ? null : texts.push(value) - 1);
  const column = (name: string, type: Column["type"], unit: string, help: string): Column => ({name, type, unit, help});
  const columns = [
    column("name", "text", "", "kernel, kind of copy, operator, call or frame"),
    column("operator", "text", "", "innermost operator that launched it"),
    column("difference_ns", "int", "ns", "what it adds to the difference of a step"),
    column("before_ns", "int", "ns", "its time in a step of the other run"),
    column("here_ns", "int", "ns", "its time in a step of this run"),
    column("before_calls", "real", "", "calls in a step of the other run"),
    column("here_calls", "real", "", "calls in a step of this run"),
    column("source_line", "text", "", "line of the user's code"),
  ];
  const rows = cause.rows ?? [];
  const cells = [
    rows.map((row) => text(row.name)),
    rows.map((row) => text(row.operator)),
    rows.map((row) => row.ns),
    rows.map((row) => row.a_ns),
    rows.map((row) => row.b_ns),
    rows.map((row) => row.a_calls),
    rows.map((row) => row.b_calls),
    rows.map((row) => text(row.source_line)),
  ];
  return new Table({name: cause.title, help: "", rows: rows.length, sort: "difference_ns", columns, cells}, texts);
}

/** From the other run's step over what changed to this run's step. */
function Falls({why, chosen, choose}: {why: Why; chosen: string; choose: (id: string) => void}) {
  const whole = Math.max(why.a.step_ns, why.b.step_ns, 1);
  let at = why.a.step_ns;
  const bar = (from: number, to: number, worse: boolean) => (
    <div class="track">
      <span style={{width: `${(100 * Math.min(from, to)) / whole}%`}} />
      <i class={worse ? "worse" : ""} style={{width: `${(100 * Math.abs(to - from)) / whole}%`}} />
    </div>
  );
  return (
    <ol class="waterfall">
      <li>
        <span class="what">a step of the other run</span>
        {bar(why.a.step_ns, why.a.step_ns, false)}
        <span class="number" data-step={why.a.step_ns}>
          {duration(why.a.step_ns)}
        </span>
      </li>
      {why.causes.map((cause) => {
        const from = at;
        at += cause.ns;
        return (
          <li key={cause.id} data-cause={cause.id}>
            <button
              type="button"
              class="what link"
              aria-pressed={chosen === cause.id}
              onClick={() => choose(chosen === cause.id ? "" : cause.id)}
            >
              {cause.title}
            </button>
            {bar(from, at, cause.ns > 0)}
            <span class="number" data-value={cause.ns}>
              {signed(cause.ns)}
            </span>
          </li>
        );
      })}
      <li>
        <span class="what">a step of this run</span>
        {bar(why.b.step_ns, why.b.step_ns, false)}
        <span class="number" data-step={why.b.step_ns}>
          {duration(why.b.step_ns)}
        </span>
      </li>
    </ol>
  );
}

export function Compare({data}: {data: Data}) {
  const run = data.served?.run ?? "";
  const others = useRuns().filter(({id}) => id !== run);
  const [other, setOther] = useState("");
  const [why, setWhy] = useState<Why>();
  const [problem, setProblem] = useState("");
  const [chosen, setChosen] = useState("");
  const selected = other || others[0]?.id || "";
  useEffect(() => {
    if (!selected) return;
    setProblem("");
    fetch(`/api/runs/${encodeURIComponent(run)}/compare?with=${encodeURIComponent(selected)}`)
      .then(async (response) => {
        const body = await response.json();
        if (!response.ok) throw new Error(body.error?.message ?? response.statusText);
        setWhy(body as Why);
      })
      .catch((error: Error) => {
        setWhy(undefined);
        setProblem(error.message);
      });
  }, [run, selected]);
  const table = useMemo(() => {
    const cause = why?.causes.find(({id}) => id === chosen) ?? why?.causes[0];
    return cause && tableOf(cause);
  }, [why, chosen]);
  if (others.length === 0) return null;
  return (
    <section id="compare">
      <header>
        <h2>Beside another run</h2>
        <span class="dim">what makes a step longer or shorter; the causes add up</span>
        <div class="controls">
          <select aria-label="The other run" value={selected} onChange={(event) => setOther(event.currentTarget.value)}>
            {others.map(({id, subject, path}) => (
              <option key={id} value={id} title={path}>
                {subject}
              </option>
            ))}
          </select>
        </div>
      </header>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {why && (
        <>
          <p>
            A is {why.a.name}, B is this run. {why.sentence}
          </p>
          <Falls why={why} chosen={chosen} choose={setChosen} />
          {(why.notes ?? []).map((note) => (
            <p class="dim" key={note}>
              {note}
            </p>
          ))}
          {table && table.rows > 0 && (
            <>
              <h3>{table.name}</h3>
              <TableView key={table.name} table={table} filter="" ids={false} />
            </>
          )}
        </>
      )}
    </section>
  );
}
