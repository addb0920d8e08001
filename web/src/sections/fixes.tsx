// SPDX-License-Identifier: Apache-2.0
// What to fix, by what it buys: what is wrong, what it costs, what to type. The evidence unfolds.
import {useState} from "preact/hooks";
import type {Bottleneck, Data, Evidence, Together} from "../data";
import {amounts, bounds, buys, factor, percent} from "../format";
import {quoted, Snippet} from "../snippet";

function severityWord(severity: number): "critical" | "warning" | "minor" {
  return severity > 0.7 ? "critical" : severity >= 0.4 ? "warning" : "minor";
}

function sourceOf(bottleneck: Bottleneck): string | undefined {
  return bottleneck.evidence.find((evidence) => evidence.source)?.source;
}

function Meta({of: bottleneck, places}: {of: Bottleneck; places: Map<string, number>}) {
  const word = severityWord(bottleneck.severity);
  const part = bottleneck.part_of ? places.get(bottleneck.part_of) : undefined;
  const source = sourceOf(bottleneck);
  return (
    <p class="meta">
      <span class={`chip ${word}`}>{word}</span> · {bottleneck.type}
      {bottleneck.share_of_step !== undefined && ` · ${percent(bottleneck.share_of_step)} of the step`}
      {part !== undefined && ` · part of ${part}`}
      {source && (
        <>
          {" · "}
          <code>{source}</code>
        </>
      )}
    </p>
  );
}

function queryFor(evidence: Evidence, path: string): string | undefined {
  if (!evidence.table || !evidence.rows?.length) return undefined;
  return `gapless query ${path} "SELECT * FROM ${quoted(evidence.table)} WHERE id IN (${evidence.rows.join(", ")})"`;
}

function Details({of: bottleneck, path}: {of: Bottleneck; path: string}) {
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
            </li>
          ))}
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

function Fix({
  of: bottleneck,
  place,
  places,
  path,
}: {
  of: Bottleneck;
  place: number;
  places: Map<string, number>;
  path: string;
}) {
  const [open, setOpen] = useState(false);
  const id = `fix-${place}`;
  const worth = bottleneck.gain && buys(bottleneck.gain);
  const saves = worth && bottleneck.saving_per_month && amounts(bottleneck.saving_per_month.expected)[0];
  return (
    <li class="fix" data-bottleneck={bottleneck.id}>
      <div class="row">
        <span class="number">{place}</span>
        <div>
          <h3>{bottleneck.title}</h3>
          <Meta of={bottleneck} places={places} />
        </div>
        <Todo of={bottleneck} />
        <div class="buys">
          {bottleneck.gain && (
            <>
              <b class={worth ? "good" : ""} data-value={bottleneck.gain.expected}>
                {factor(bottleneck.gain.expected)}
              </b>
              <div>{bounds(bottleneck.gain)}</div>
              {saves && <div>{saves} a month</div>}
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
      <div id={id}>{open && <Details of={bottleneck} path={path} />}</div>
    </li>
  );
}

/** No finding: because there is none, or because too little was recorded to tell. */
function Nothing({data: {analyze, page}}: {data: Data}) {
  const noWork = !analyze.breakdown?.length;
  return (
    <div class="todo">
      <p>
        {noWork
          ? "Without work on a GPU there is nothing to weigh what the host does against."
          : "No rule found anything that costs enough to be worth a change."}
      </p>
      {page.advice && <Snippet text={page.advice} label="the advice" />}
      <Snippet text={page.query} label="the query" />
    </div>
  );
}

/** "Fixing 1, 2 and 4 together", by the places in the list. */
function togetherText(together: Together | undefined, places: Map<string, number>): string {
  if (!together) return `Fixing all ${places.size} together`;
  const numbers = together.bottlenecks.map((id) => places.get(id)).filter((place) => place !== undefined);
  if (numbers.length === 1) return `Fixing ${numbers[0]}`;
  return `Fixing ${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)} together`;
}

/** How far such predictions were off when they were tested. */
function trustText(together: Together | undefined): string {
  if (!together) return ", from the time at stake; bounds are assumptions until measured";
  if (together.tested_within_share === undefined) return ", replayed";
  const which = together.tested_of_this_kind ? "predictions of this kind" : "tested predictions";
  return `, replayed; ${which} were within ${percent(together.tested_within_share)} in half of ${together.tested_pairs} tests`;
}

const SHOWN = 5;

export function Fixes({data}: {data: Data}) {
  const {bottlenecks, estimated_speedup: gain} = data.analyze;
  const [all, setAll] = useState(false);
  const places = new Map(bottlenecks.map((bottleneck, at) => [bottleneck.id, at + 1]));
  const shown = all ? bottlenecks : bottlenecks.slice(0, SHOWN);
  return (
    <section id="fixes">
      <header>
        <h2>What to fix, by what it buys</h2>
        {bottlenecks.length > 0 && <span class="dim">what is wrong and what it costs · what to do · speedup</span>}
      </header>
      {bottlenecks.length === 0 && <Nothing data={data} />}
      <ol class="fixes">
        {shown.map((bottleneck, at) => (
          <Fix key={bottleneck.id} of={bottleneck} place={at + 1} places={places} path={data.page.path} />
        ))}
      </ol>
      {(gain || bottlenecks.length > SHOWN) && (
        <div class="together">
          {gain && (
            <span>
              {togetherText(data.analyze.together, places)}: <b>{factor(gain.expected)}</b>{" "}
              <span class="dim">
                ({bounds(gain)}
                {trustText(data.analyze.together)})
              </span>
            </span>
          )}
          {bottlenecks.length > SHOWN && (
            <button type="button" onClick={() => setAll(!all)}>
              {all ? `Show the first ${SHOWN}` : `Show all ${bottlenecks.length}`}
            </button>
          )}
        </div>
      )}
    </section>
  );
}
