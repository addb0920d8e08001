// SPDX-License-Identifier: Apache-2.0
// The roles of a job of several programs: how busy the devices of each are, and while whom they idle.
import type {Data, Table} from "../data";
import {duration, percent} from "../format";
import {Scroll} from "../scroll";

function shareOf(roles: Table, row: number, name: string): string {
  const ns = roles.number(row, name);
  const wall = roles.number(row, "wall_ns") ?? 0;
  return ns === null || wall <= 0 ? "–" : percent(ns / wall);
}

/** Those that work while the role idles, over all recorded time. */
function waitsOf(waits: Table | undefined, role: string): {other: string; share: number; ns: number}[] {
  const found = [];
  for (let row = 0; waits && row < waits.rows; row += 1)
    if (waits.text(row, "role") === role && waits.number(row, "iteration") === null)
      found.push({
        other: waits.text(row, "waits_for"),
        share: waits.number(row, "share") ?? 0,
        ns: waits.number(row, "wait_ns") ?? 0,
      });
  return found.sort((a, b) => b.ns - a.ns);
}

export function Roles({data}: {data: Data}) {
  const roles = data.tables.get("roles");
  const waits = data.tables.get("role_waits");
  if (!roles) return null;
  return (
    <section id="roles">
      <header>
        <h2>Roles</h2>
        <span class="dim">the programs of the job, in the time that all of them recorded</span>
      </header>
      <Scroll label="Roles of the job">
        <table>
          <thead>
            <tr>
              {["role", "processes", "GPUs", "busy", "waiting", "idle while these work"].map((head, at) => (
                <th key={head} scope="col" class={at > 0 && at < 5 ? "num" : ""}>
                  <span class="head">{head}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...Array(roles.rows).keys()].map((row) => (
              <tr key={row}>
                <td>
                  {roles.text(row, "role")}
                  {roles.number(row, "leads") === 1 && <span class="dim"> (the findings are about it)</span>}
                </td>
                <td class="num">{roles.number(row, "processes")}</td>
                <td class="num">{roles.number(row, "devices")}</td>
                <td class="num">{shareOf(roles, row, "busy_ns")}</td>
                <td class="num">{shareOf(roles, row, "waiting_ns")}</td>
                <td>
                  {waitsOf(waits, roles.text(row, "role"))
                    .map(({other, share, ns}) => `${other} ${percent(share)} (${duration(ns)})`)
                    .join(", ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
