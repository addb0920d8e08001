// SPDX-License-Identifier: Apache-2.0
// A search of `gapless optimize` that is served. While it is under way the page follows it: what is being tried, what was
// kept and why, how much of the budget is left. Then it shows the result, the patch and the command first.

import {useEffect, useState} from "preact/hooks";
import type {OptimizeProgress, ServedSearch} from "schema/serve";
import {factor} from "../format";
import {OptimizeParts, ReasonTable} from "../optimize/app";
import type {Optimize} from "../optimize/data";
import {Scroll} from "../scroll";
import {useAnswer} from "./ask";
import {INAPPLICABLE, interval, wordsOf} from "./search_words";
import {Frame} from "./site";

const OVER = ["done", "failed", "stopped"];

function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 90 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Seconds since then, as long as something is under way. */
function useElapsed(begunMs: number, untilMs: number | undefined): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (untilMs !== undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [untilMs]);
  return Math.max(0, ((untilMs ?? now) - begunMs) / 1000);
}

const HEADS: Record<string, string> = {
  recording: "Recording the command",
  trying: "Trying fixes",
  done: "Done",
  failed: "The search failed",
  stopped: "The search was stopped before its end",
};

function Progress({state, progress}: {state: string; progress: OptimizeProgress}) {
  const over = OVER.includes(state);
  const elapsed = useElapsed(progress.began_unix_ms, over ? progress.updated_unix_ms : undefined);
  const left = progress.budget_s - elapsed;
  const used = Math.min(1, elapsed / progress.budget_s);
  return (
    <section class="verdict" id="progress">
      <div>
        <p class="mono command">{progress.command}</p>
        <h1 aria-live="polite">{HEADS[state] ?? state}</h1>
        {progress.trial && (
          <p data-trial={progress.trial.fix ?? ""}>
            {progress.trial.what}
            {progress.trial.pairs !== undefined && <span class="dim"> · {progress.trial.pairs} pairs so far</span>}
          </p>
        )}
        <p class="dim">
          {progress.of > 0 && `${progress.done} of ${progress.of} candidates decided · `}
          {clock(elapsed)} of {clock(progress.budget_s)} used
        </p>
        <div class="budget" role="img" aria-label={`${Math.round(100 * used)} % of the budget is used`}>
          <i style={{width: `${100 * used}%`}} />
        </div>
      </div>
      {!over && (
        <dl class="figures">
          <div class="figure">
            <dt>budget left</dt>
            <dd>{clock(left)}</dd>
          </div>
        </dl>
      )}
    </section>
  );
}

function Decisions({progress}: {progress: OptimizeProgress}) {
  // What was decided of a fix last is what holds: for one there was no time at first, another was taken out again.
  const latest = [...new Map(progress.decisions.map((one) => [one.fix, one])).values()];
  const shown = latest.filter(({outcome}) => !INAPPLICABLE.includes(outcome));
  const folded = latest.filter(({outcome}) => INAPPLICABLE.includes(outcome));
  return (
    <section id="decisions">
      <header>
        <h2>Decided</h2>
        <span class="dim">in the order it was</span>
      </header>
      {shown.length === 0 && <p class="dim">Nothing yet.</p>}
      {shown.length > 0 && (
        <Scroll label="Decisions">
          <table class="reasons listed">
            <thead>
              <tr>
                {["fix", "kept", "measured", "why"].map((name) => (
                  <th key={name} scope="col" class="plain">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map(({fix, outcome, measured, reason, pairs}, at) => (
                <tr key={`${fix} ${at}`} data-fix={fix} data-outcome={outcome}>
                  <th scope="row" class="plain mono">
                    {fix}
                  </th>
                  <td class={`chip ${outcome === "accepted" ? "good" : "minor"}`}>
                    {outcome === "accepted" ? "kept" : outcome.replace(/_/g, " ")}
                  </td>
                  <td class="value" data-value={measured?.expected}>
                    {measured ? `${interval(measured)}, ${pairs} pairs` : ""}
                  </td>
                  <td class="wide">{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {folded.length > 0 && (
        <details>
          <summary>
            {folded.length} {folded.length === 1 ? "fix does" : "fixes do"} not apply
          </summary>
          <ReasonTable rows={folded} />
        </details>
      )}
    </section>
  );
}

export function SearchView({id, version}: {id: string; version: string}) {
  const route = `/api/optimize/${encodeURIComponent(id)}`;
  const {body: search, problem} = useAnswer<ServedSearch>(
    route,
    (body) => !body || !OVER.includes(body.state) || (body.state === "done" && !body.has_result),
  );
  const result = useAnswer<Optimize>(search?.has_result ? `${route}/result` : undefined);
  const optimize = result.body;
  const command = optimize?.command ?? search?.progress?.command ?? "";
  document.title = `${command || "Optimise"} · gapless`;
  const sped = optimize?.proved && optimize.speedup ? ` ${factor(optimize.speedup.expected)}` : "";
  return (
    <Frame
      place={{kind: "optimize", id}}
      version={version}
      subject={`${search?.path ?? ""}${sped}`}
      problem={problem || result.problem}
    >
      {optimize && <OptimizeParts inlined={{optimize, page: wordsOf(optimize, search?.diff ?? "")}} folded />}
      {search?.progress && !optimize && <Progress state={search.state} progress={search.progress} />}
      {search?.progress && !optimize && <Decisions progress={search.progress} />}
      {search && !search.progress && !optimize && !problem && (
        <section>
          <h1>{HEADS[search.state] ?? search.state}</h1>
          <p class="dim">
            The folder holds decisions of a search, and neither its result nor how far it is: an earlier version of
            gapless began it.
          </p>
        </section>
      )}
    </Frame>
  );
}
