// SPDX-License-Identifier: Apache-2.0
// The list of findings by expected gain: problem, cost and command. The evidence unfolds.
import {useState} from "preact/hooks";
import type {Analyze, Bottleneck, Data, Evidence, Table} from "../data";
import {amounts, bounds, factor, percent} from "../format";
import {apartOf, isToFix, listOf, numbersOf, placesOf, trustOf} from "../places";
import {quoted, Snippet} from "../snippet";
import {canJump, jumpTo, targetOfEvidence} from "../timeline/jump";

function severityWord(severity: number): "critical" | "warning" | "minor" {
  return severity > 0.7 ? "critical" : severity >= 0.4 ? "warning" : "minor";
}

function sourceOf(bottleneck: Bottleneck): string | undefined {
  return bottleneck.evidence.find((evidence) => evidence.source)?.source;
}

function Meta({of: bottleneck, analyze}: {of: Bottleneck; analyze: Analyze}) {
  const word = severityWord(bottleneck.severity);
  const part = bottleneck.part_of ? placesOf(analyze.bottlenecks).get(bottleneck.part_of) : undefined;
  const source = sourceOf(bottleneck);
  const whole = analyze.run.steps ? "step" : "time";
  return (
    <p class="meta">
      <span class={`chip ${word}`}>{word}</span> · {bottleneck.type}
      {bottleneck.share_of_step !== undefined && ` · ${percent(bottleneck.share_of_step)} of the ${whole}`}
      {part !== undefined && ` · part of ${part}`}
      {source && (
        <>
          {" · "}
          <code>{source}</code>
        </>
      )}
      {bottleneck.why_first && ` · first: ${bottleneck.why_first}`}
      {bottleneck.apart && ` · ${apartOf(analyze.run)}`}
      {bottleneck.gain?.tested_programs === 0 && ` · untested on ${analyze.breakdown?.length ? "GPUs" : "CPUs"}`}
    </p>
  );
}

/** What is left of the recorded step before the fix, and what the fix takes of it: one row of the waterfall. */
function Fall({of: {gain, step_left: before, apart}}: {of: Bottleneck}) {
  if (!gain) return null;
  const after = before / gain.expected;
  const label = `of the recorded step ${percent(before)} before, ${percent(after)} after`;
  return (
    <div class={`fall ${apart ? "apart" : ""}`} role="img" aria-label={label} title={label}>
      <span style={{width: `${100 * after}%`}} />
      <i style={{width: `${100 * (before - after)}%`}} />
    </div>
  );
}

/** The findings that the same fix cures. */
function Cured({by: head, all}: {by: Bottleneck; all: readonly Bottleneck[]}) {
  const cured = all.filter((one) => one.cured_by === head.id);
  if (cured.length === 0) return null;
  return (
    <ul class="cured" aria-label="Cured by the same fix">
      {cured.map((one) => (
        <li key={one.id} data-bottleneck={one.id}>
          {one.title} <span class="dim">({one.id})</span>
        </li>
      ))}
    </ul>
  );
}

function queryFor(evidence: Evidence, path: string): string | undefined {
  if (!evidence.table || !evidence.rows?.length) return undefined;
  return `gapless query ${path} "SELECT * FROM ${quoted(evidence.table)} WHERE id IN (${evidence.rows.join(", ")})"`;
}

/** Leads to the events that prove it. */
function Shown({by: evidence, of, tables}: {by: Evidence; of: Bottleneck; tables: ReadonlyMap<string, Table>}) {
  const target = canJump() ? targetOfEvidence(evidence, tables) : undefined;
  if (!target) return null;
  return (
    <>
      {" "}
      <button type="button" class="link" onClick={() => jumpTo(target, of.title)}>
        show it
      </button>
    </>
  );
}

interface DetailsProps {
  of: Bottleneck;
  path: string;
  tables: ReadonlyMap<string, Table>;
}

function Details({of: bottleneck, path, tables}: DetailsProps) {
  const saving = bottleneck.saving_per_month;
  const queries = bottleneck.evidence
    .map((evidence) => queryFor(evidence, path))
    .filter((query) => query !== undefined);
  return (
    <div class="details">
      <p class="wide">{bottleneck.description}</p>
      <div>
        <h4>Evidence</h4>
        <ul>
          {bottleneck.evidence.map((evidence) => (
            <li key={evidence.text}>
              {evidence.text}
              {evidence.source && <span class="dim"> · {evidence.source}</span>}
              <Shown by={evidence} of={bottleneck} tables={tables} />
            </li>
          ))}
          {bottleneck.also && <li>{bottleneck.also}</li>}
        </ul>
      </div>
      <div>
        <h4>What to do</h4>
        <ol>
          {bottleneck.recommendations.map((advice) => (
            <li key={advice.text}>
              {advice.text}
              {advice.effort && <span class="dim"> ({advice.effort})</span>}
              {advice.code && <Snippet text={advice.code} label="the code" />}
            </li>
          ))}
        </ol>
      </div>
      {saving && (
        <p>
          Saves {amounts(saving.expected).join(", ")} a month ({amounts(saving.low)[0]} to {amounts(saving.high)[0]}).
        </p>
      )}
      {queries[0] && (
        <div class="wide">
          <h4>The rows behind it</h4>
          <Snippet text={queries[0]} label="the query" />
        </div>
      )}
      <p class="dim wide">
        Why this was found:{" "}
        <code>
          gapless analyze {path} --explain {bottleneck.id}
        </code>
      </p>
    </div>
  );
}

function Todo({of: bottleneck}: {of: Bottleneck}) {
  const advice = bottleneck.recommendations[0];
  if (!advice) return <div class="todo" />;
  return (
    <div class="todo">
      <div>{advice.text}</div>
      {advice.code && <Snippet text={advice.code} label="the code" />}
    </div>
  );
}

function Fix({of: bottleneck, place, data}: {of: Bottleneck; place: number; data: Data}) {
  const {analyze, page, tables} = data;
  const [open, setOpen] = useState(false);
  const id = `fix-${place}`;
  const saves = bottleneck.gain && bottleneck.saving_per_month && amounts(bottleneck.saving_per_month.expected)[0];
  return (
    <li class="fix" data-bottleneck={bottleneck.id}>
      <div class="row">
        <span class="number">{place}</span>
        <div>
          <h3>{bottleneck.title}</h3>
          <Meta of={bottleneck} analyze={analyze} />
          <Cured by={bottleneck} all={analyze.bottlenecks} />
        </div>
        <Todo of={bottleneck} />
        <div class="buys">
          {bottleneck.gain && (
            <>
              <b class="good" data-value={bottleneck.gain.expected}>
                {factor(bottleneck.gain.expected)}
              </b>
              <div>{bounds(bottleneck.gain)}</div>
              {saves && <div>{saves} a month</div>}
              <Fall of={bottleneck} />
            </>
          )}
        </div>
        <button
          type="button"
          class="more"
          aria-expanded={open}
          aria-controls={id}
          aria-label={`${open ? "Hide" : "Show"} the evidence of ${bottleneck.title}`}
          onClick={() => setOpen(!open)}
        >
          {open ? "▾" : "▸"}
        </button>
      </div>
      <div id={id}>{open && <Details of={bottleneck} path={page.path} tables={tables} />}</div>
    </li>
  );
}

/** The text for an empty list: nothing to fix, or too little was recorded. */
function Nothing({data: {analyze, page, tables}}: {data: Data}) {
  const hasWork = (analyze.breakdown?.length ?? 0) > 0;
  const hasHost = (tables.get("operators")?.rows ?? 0) > 0;
  return (
    <div class="todo">
      <p>
        {hasWork
          ? "No rule found anything that costs enough to be worth a change."
          : hasHost
            ? "No rule found anything in what the host did that costs enough to be worth a change."
            : "Neither work on a GPU nor operators of the host were recorded, so nothing can be judged."}
      </p>
      {page.advice && <Snippet text={page.advice} label="the advice" />}
      <Snippet text={page.query} label="the next command" />
    </div>
  );
}

/** What was found, and is not shortened by what is known to cure it. */
function NotToFix({all}: {all: readonly Bottleneck[]}) {
  const rest = all.filter((one) => !one.cured_by && !isToFix(one));
  if (rest.length === 0) return null;
  return (
    <div class="not-to-fix">
      <h3>Seen; the fixes that are known for it would not shorten the step</h3>
      <ul>
        {rest.map((one) => (
          <li key={one.id} data-bottleneck={one.id}>
            {one.title} ({one.id}, {factor(one.gain?.expected ?? 1)})
          </li>
        ))}
      </ul>
    </div>
  );
}

const SHOWN = 5;

function Sum({analyze, places}: {analyze: Analyze; places: Map<string, number>}) {
  const {together} = analyze;
  if (!together) return null;
  const numbers = numbersOf(together.bottlenecks, places);
  const trust = trustOf(analyze, places);
  return (
    <span>
      Fixing {listOf(numbers)}
      {numbers.length > 1 && " together"}: <b>{factor(together.gain.expected)}</b>{" "}
      <span class="dim">({[bounds(together.gain), ...trust].join("; ")})</span>
    </span>
  );
}

export function Fixes({data}: {data: Data}) {
  const {analyze} = data;
  const [all, setAll] = useState(false);
  const places = placesOf(analyze.bottlenecks);
  const listed = analyze.bottlenecks.filter((one) => places.has(one.id));
  const shown = all ? listed : listed.slice(0, SHOWN);
  return (
    <section id="fixes">
      <header>
        <h2>What to fix, and what each brings after those above it</h2>
        {listed.length > 0 && <span class="dim">what is wrong and what it costs · what to do · speedup</span>}
      </header>
      {listed.length === 0 && <Nothing data={data} />}
      <ol class="fixes">
        {shown.map((bottleneck) => (
          <Fix key={bottleneck.id} of={bottleneck} place={places.get(bottleneck.id) ?? 0} data={data} />
        ))}
      </ol>
      <NotToFix all={analyze.bottlenecks} />
      {(analyze.together || listed.length > SHOWN) && (
        <div class="together">
          <Sum analyze={analyze} places={places} />
          {listed.length > SHOWN && (
            <button type="button" onClick={() => setAll(!all)}>
              {all ? `Show the first ${SHOWN}` : `Show all ${listed.length}`}
            </button>
          )}
        </div>
      )}
    </section>
  );
}
