// SPDX-License-Identifier: Apache-2.0
// The page of `gapless optimize`: what was proved, the time of each state of the command, and the fixes that did not stay.
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import {factor} from "../format";
import {Scroll} from "../scroll";
import {Snippet} from "../snippet";
import {initialTheme, setTheme, ThemeContext} from "../theme";
import {Top} from "../top";
import {kindOf, type OptimizePage, type Reason, type Words} from "./data";

function Section({id, title, children}: {id: string; title: string; children: ComponentChildren}) {
  return (
    <section id={id}>
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </section>
  );
}

function Verdict({inlined: {optimize, page}}: {inlined: OptimizePage}) {
  return (
    <section class="verdict">
      <div>
        <p class="mono command">{optimize.command}</p>
        {optimize.about && <p class="about">{optimize.about}</p>}
        <h1>{optimize.conclusion}.</h1>
        {page.training && <p>Training: {page.training}.</p>}
        {page.metric && (
          <p>
            {optimize.metric_name}: {page.metric}.
          </p>
        )}
        {page.unproved && <p>The command stays as it is: {page.unproved}.</p>}
        {optimize.budget_use && <p class="dim">{optimize.budget_use}.</p>}
      </div>
      {optimize.proved && optimize.speedup && (
        <dl class="figures">
          <div class="figure gain">
            <dt>proved</dt>
            <dd>
              {factor(optimize.speedup.expected)} <small>faster</small>
            </dd>
          </div>
        </dl>
      )}
    </section>
  );
}

function Stages({head, rows, shares}: Words) {
  return (
    <Scroll label="The command in each state">
      <table>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={name} scope="col" class={at === 0 ? "plain" : "plain num"}>
                {name || "state"}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={cells[0]}>
              {cells.map((cell, at) =>
                at === 0 ? (
                  <th key={head[at]} scope="row" class="plain state">
                    {cell}
                    <i style={{width: `${100 * (shares[row] ?? 0)}%`}} />
                  </th>
                ) : (
                  <td key={head[at]} class="num">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

export function ReasonTable({rows}: {rows: readonly Reason[]}) {
  return (
    <table class="reasons">
      <tbody>
        {rows.map(({fix, reason}, at) => (
          <tr key={`${fix} ${at}`}>
            <th scope="row" class="plain mono">
              {fix}
            </th>
            <td>{reason}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Reasons({id, title, rows}: {id: string; title: string; rows: readonly Reason[]}) {
  if (rows.length === 0) return null;
  return (
    <Section id={id} title={title}>
      <ReasonTable rows={rows} />
    </Section>
  );
}

function Patch({inlined: {optimize, page}}: {inlined: OptimizePage}) {
  const by_hand = optimize.by_hand ?? [];
  if (!page.diff && by_hand.length === 0) return null;
  return (
    <Section id="patch" title="The patch">
      {page.diff && (
        <Scroll label="The patch">
          <pre class="patch">
            {page.diff
              .trimEnd()
              .split("\n")
              .map((line, at) => {
                const Line = kindOf(line);
                return <Line key={at}>{`${line}\n`}</Line>;
              })}
          </pre>
        </Scroll>
      )}
      {optimize.patch_tested && <p>Tested {optimize.patch_tested}.</p>}
      {by_hand.map((change) => (
        <p key={change}>By hand: {change}.</p>
      ))}
    </Section>
  );
}

/** The result: what was proved, how to have it, and what did not stay. `folded`: fixes that do not apply are behind a line. */
export function OptimizeParts({inlined, folded = false}: {inlined: OptimizePage; folded?: boolean}) {
  const {optimize, page} = inlined;
  return (
    <>
      {optimize.warnings.map((warning) => (
        <section key={warning} class="notice">
          <p>Warning: {warning}.</p>
        </section>
      ))}
      <Verdict inlined={inlined} />
      {folded && <Run run={page.run} />}
      {folded && <Patch inlined={inlined} />}
      <Section id="stages" title="What was measured">
        <Stages {...page} />
      </Section>
      {!folded && <Run run={page.run} />}
      {!folded && <Patch inlined={inlined} />}
      <Reasons id="tried" title="Tried, and not kept" rows={page.tried} />
      {folded && page.not_tried.length > 0 ? (
        <section id="not-tried">
          <details>
            <summary>
              Not tried: {page.not_tried.length} {page.not_tried.length === 1 ? "fix" : "fixes"}
            </summary>
            <ReasonTable rows={page.not_tried} />
          </details>
        </section>
      ) : (
        <Reasons id="not-tried" title="Not tried" rows={page.not_tried} />
      )}
      <Reasons id="no-time" title="No time was left for" rows={page.no_time} />
    </>
  );
}

function Run({run}: {run: string | undefined}) {
  if (!run) return null;
  return (
    <Section id="run" title="Run it">
      <Snippet text={run} label="the command" />
    </Section>
  );
}

export function OptimizeApp({inlined}: {inlined: OptimizePage}) {
  const {optimize, page} = inlined;
  const [theme, choose] = useState(initialTheme);
  const toggle = () => choose(setTheme(theme === "dark" ? "light" : "dark"));
  return (
    <ThemeContext.Provider value={theme}>
      <Top subject={optimize.command} path={optimize.command} sections={[]} theme={theme} toggle={toggle} />
      <main class="wrap">
        <OptimizeParts inlined={inlined} />
        {page.found.length > 0 && (
          <Section id="found" title="What the recording showed">
            <ol>
              {page.found.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ol>
          </Section>
        )}
        <footer>
          Bars are the time of a step, against that of the command as it is. Written by gapless{" "}
          {optimize.gapless.version}. This file holds all it shows and connects to nothing.
        </footer>
      </main>
    </ThemeContext.Provider>
  );
}
