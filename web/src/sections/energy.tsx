// SPDX-License-Identifier: Apache-2.0
// The energy of a step by what it is spent on, and of a day by finding: the figures of `gapless report --style energy`.
import type {Data} from "../data";
import {amounts, duration, energy, percent} from "../format";
import {PARTS} from "../parts";
import {Scroll} from "../scroll";

const SOURCES: Record<string, string> = {
  given: "power as given",
  counter: "power by the energy counters, while the steps ran",
  sampled: "power as sampled while the steps ran",
};

function partOf(column: string): {name: string; colour: string} {
  const part = PARTS.find((one) => one.column === `${column}_ns`);
  return {name: part?.name ?? column, colour: part ? `var(--${part.key})` : "none"};
}

export function Energy({data: {energy: account}}: {data: Data}) {
  if (!account) return null;
  const step = account.joules_per_step;
  const host = account.host;
  return (
    <section id="energy">
      <header>
        <h2>
          {step === undefined ? `Energy: ${amounts(account.day).join(" · ")} a day` : `A step takes ${energy(step)}`}
        </h2>
        <span class="dim">
          {account.gpus} {account.gpus === 1 ? "GPU" : "GPUs"} × {Math.round(account.watts)} W,{" "}
          {SOURCES[account.watts_source]}; {amounts(account.day).join(" · ")} a day
          {host && `; processors of the host ${Math.round(host.processor_watts)} W beside them`}
        </span>
      </header>
      <Scroll label="Energy by what it is spent on">
        <table>
          <thead>
            <tr>
              {["part of a step", "time", "power", "energy", "share"].map((head, at) => (
                <th key={head} scope="col" class={at > 0 ? "num" : ""}>
                  <span class="head">{head}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {account.parts.map(({name, step_ns, watts, joules}) => (
              <tr key={name} data-part={name} data-joules={joules}>
                <td>
                  <i class="swatch" style={{background: partOf(name).colour}} />
                  {partOf(name).name}
                </td>
                <td class="num">{duration(step_ns)}</td>
                <td class="num">{Math.round(watts)} W</td>
                <td class="num">{energy(joules)}</td>
                <td class="num">{step ? percent(joules / step) : "–"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {account.findings.length > 0 && (
        <Scroll label="Energy of the findings">
          <table>
            <thead>
              <tr>
                {["finding", "share of a step", "takes a day", "its fix saves a day"].map((head, at) => (
                  <th key={head} scope="col" class={at > 0 ? "num" : ""}>
                    <span class="head">{head}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {account.findings.map(({id, title, share_of_step, day, saved}) => (
                <tr key={id} data-bottleneck={id}>
                  <td>{title}</td>
                  <td class="num">{percent(share_of_step)}</td>
                  <td class="num">{amounts(day).join(" · ") || "–"}</td>
                  <td class="num">{amounts(saved).join(" · ") || "–"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
