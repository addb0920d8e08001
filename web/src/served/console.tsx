// SPDX-License-Identifier: Apache-2.0
// SQL over the run that is served: a query, what it gives as a table and as a chart, and the queries one keeps.
import {useCallback, useMemo, useState} from "preact/hooks";
import {axis, base, ChartView, type Option, tip, tooltip} from "../chart";
import {type Column, type Data, Table} from "../data";
import {cell as format} from "../format";
import {TableView} from "../table_view";
import {colour} from "../theme";
import {shortened} from "../timeline/draw";
import {type Answer, type Problem, query} from "./query";

const KEPT = "gapless.queries"; // in the browser's storage, for all runs
const MOST_KEPT = 30;
const MOST_POINTS = 5000;
const MOST_BARS = 40;
const MOST_LETTERS = 30;
const FIRST = "SELECT name, calls, total_ns FROM kernels ORDER BY total_ns DESC LIMIT 20";

function kept(): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(all) ? all.filter((one) => typeof one === "string") : [];
  } catch {
    return []; // no storage, or not ours
  }
}

function keep(all: readonly string[]): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(all.slice(0, MOST_KEPT)));
  } catch {
    // they last as long as the page
  }
}

/** The answer as the page's tables are: a text is a place in a list of texts. */
function tableOf(answer: Answer): Table {
  const texts: string[] = [];
  const cells = answer.columns.map((column, at) =>
    (answer.cells[at] ?? []).map((value) => {
      if (column.type !== "text") return typeof value === "number" ? value : null;
      return value === null ? null : texts.push(String(value)) - 1;
    }),
  );
  const columns = answer.columns.map((column) => ({...column, unit: column.unit ?? "", help: column.help ?? ""}));
  return new Table({name: "result", help: "", rows: answer.rows, columns, cells}, texts);
}

/** The column to draw: a time, an amount or a share before a mere number. */
function drawnOf(numbers: readonly Column[]): Column | undefined {
  return numbers.find(({unit}) => unit !== "" && !unit.startsWith("id:")) ?? numbers[0];
}

/** Bars of a number by the first text, or a line of one number over another; undefined: the result has neither. */
function chartOf(table: Table): {option: () => Option; height: number} | undefined {
  const numbers = table.columns.filter((column) => column.type !== "text" && !column.unit.startsWith("id:"));
  const label = table.columns.find((column) => column.type === "text");
  const over = label ?? numbers[0];
  const shown = drawnOf(label ? numbers : numbers.slice(1));
  if (!over || !shown || table.rows < 2) return undefined;
  const rows = [...Array(Math.min(table.rows, label ? MOST_BARS : MOST_POINTS)).keys()];
  const name = (row: number) => format(table.at(row, table.columns.indexOf(over)), over.unit);
  const amount = (): object => ({
    ...axis(shown.name, {type: "value"}),
    axisLabel: {color: colour("dim"), formatter: (value: number) => format(value, shown.unit)},
  });
  const names = (): object => ({
    ...axis(label ? "" : over.name, {type: "category", data: rows.map(name), inverse: label !== undefined}),
    ...(label && {axisLabel: {color: colour("dim"), formatter: (text: string) => shortened(text, MOST_LETTERS)}}),
  });
  const below = {nameLocation: "middle", nameGap: 26};
  const option = (): Option => ({
    ...base(),
    grid: label ? {left: 210, right: 60, top: 8, bottom: 40} : {left: 76, right: 16, top: 30, bottom: 40},
    tooltip: tooltip({
      trigger: "axis",
      formatter: (items: {dataIndex: number}[]) => {
        const row = items[0]?.dataIndex ?? 0;
        return tip(name(row), [`${shown.name} ${format(table.number(row, shown.name), shown.unit)}`]);
      },
    }),
    xAxis: {...(label ? amount() : names()), ...below},
    yAxis: label ? names() : amount(),
    series: [
      {
        type: label ? "bar" : "line",
        showSymbol: false,
        itemStyle: {color: colour("accent")},
        lineStyle: {color: colour("accent")},
        data: rows.map((row) => table.number(row, shown.name)),
      },
    ],
  });
  return {option, height: label ? 60 + rows.length * 20 : 260};
}

function Result({answer}: {answer: Answer}) {
  const table = useMemo(() => tableOf(answer), [answer]);
  const chart = useMemo(() => chartOf(table), [table]);
  const [drawn, setDrawn] = useState(false);
  return (
    <>
      {!answer.complete && <p class="dim">There are more rows; the first {answer.rows} are here.</p>}
      {chart && (
        <label class="dim">
          <input type="checkbox" checked={drawn} onChange={(event) => setDrawn(event.currentTarget.checked)} /> as a
          chart
        </label>
      )}
      {chart && drawn && (
        <ChartView height={chart.height} label="The result as a chart; the table below has it" option={chart.option} />
      )}
      <TableView key={answer.columns.map(({name}) => name).join()} table={table} filter="" ids />
    </>
  );
}

export function Console({data}: {data: Data}) {
  const run = data.served?.run ?? "0";
  const [sql, setSql] = useState(FIRST);
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<Problem>();
  const [running, setRunning] = useState(false);
  const [saved, setSaved] = useState(kept);
  const start = useCallback(async () => {
    setRunning(true);
    setProblem(undefined);
    try {
      setAnswer(await query(run, sql));
    } catch (error) {
      setAnswer(undefined);
      setProblem(error as Problem);
    } finally {
      setRunning(false);
    }
  }, [run, sql]);
  const save = (all: string[]) => {
    keep(all);
    setSaved(all);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    start();
  };
  return (
    <section id="sql">
      <header>
        <h2>SQL</h2>
        <span class="dim">over the tables of this run, as with gapless query; Ctrl+Enter runs it</span>
        <div class="controls">
          {data.tables.size > 0 && (
            <select
              aria-label="Begin with a table"
              value=""
              onChange={(event) => setSql(`SELECT * FROM ${event.currentTarget.value} LIMIT 100`)}
            >
              <option value="">tables …</option>
              {[...data.tables.values()].map(({name, help}) => (
                <option key={name} value={name} title={help}>
                  {name}
                </option>
              ))}
            </select>
          )}
          {saved.length > 0 && (
            <select aria-label="Kept queries" value="" onChange={(event) => setSql(event.currentTarget.value)}>
              <option value="">kept …</option>
              {saved.map((one) => (
                <option key={one} value={one}>
                  {one.length > 80 ? `${one.slice(0, 80)}…` : one}
                </option>
              ))}
            </select>
          )}
        </div>
      </header>
      <textarea
        class="sql"
        aria-label="Query"
        rows={4}
        spellcheck={false}
        value={sql}
        onInput={(event) => setSql(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div class="below">
        <button type="button" onClick={start} disabled={running}>
          {running ? "running …" : "Run"}
        </button>
        {saved.includes(sql) ? (
          <button type="button" onClick={() => save(saved.filter((one) => one !== sql))}>
            Forget
          </button>
        ) : (
          <button type="button" onClick={() => save([sql, ...saved])}>
            Keep
          </button>
        )}
      </div>
      <div aria-live="polite">
        {problem && (
          <p class="problem" role="alert">
            {problem.message}
            {problem.hint && <span class="dim"> {problem.hint}</span>}
          </p>
        )}
        {answer && <Result answer={answer} />}
      </div>
    </section>
  );
}
