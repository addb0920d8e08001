// SPDX-License-Identifier: Apache-2.0
// The section about the recording: its files, the data lost in reading, and the kinds of data that it lacks.
import type {Data} from "../data";
import {count, duration} from "../format";
import {Scroll} from "../scroll";

const MOST = 200;

/** What was read and is not in the tables, by text. */
function statsOf(data: Data): Map<string, {times: number; files: number}> {
  const stats = new Map<string, {times: number; files: number}>();
  for (const {text, count: times} of data.analyze.read_stats) {
    const known = stats.get(text);
    stats.set(text, {times: (known?.times ?? 0) + times, files: (known?.files ?? 0) + 1});
  }
  return stats;
}

export function Recording({data}: {data: Data}) {
  const {traces} = data.analyze;
  const files = data.page.recordings ?? traces.length;
  const stats = statsOf(data);
  const others = data.page.notes
    .filter((note) => ![...stats.keys()].some((text) => note.text.includes(text)))
    .slice(0, MOST);
  return (
    <section id="recording">
      <header>
        <h2>Recording</h2>
        <span class="dim">
          {files === 1 ? "1 file" : `${files} files`},{" "}
          {count(data.page.events ?? traces.reduce((sum, trace) => sum + trace.event_count, 0))} events
        </span>
      </header>
      <Scroll label="Files">
        <table>
          <thead>
            <tr>
              {["file", "format", "rank", "role", "events", "length"].map((name) => (
                <th key={name} scope="col" class={name === "events" || name === "length" ? "num" : ""}>
                  <span style={{display: "block", padding: "5px 10px"}}>{name}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {traces.slice(0, MOST).map((trace) => (
              <tr key={trace.trace}>
                <td title={trace.path}>{trace.path}</td>
                <td>{trace.format}</td>
                <td>{trace.rank ?? "–"}</td>
                <td>{trace.role}</td>
                <td class="num">{count(trace.event_count)}</td>
                <td class="num">{duration(trace.dur_ns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {files > MOST && <p class="dim">and {count(files - MOST)} more</p>}
      {stats.size > 0 && (
        <ul>
          {[...stats].map(([text, {times, files}]) => (
            <li key={text}>
              {text}{" "}
              <span class="dim">
                ({times === 1 ? "once" : `${count(times)} times`}
                {files > 1 && ` in ${files} files`})
              </span>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul>
          {others.map((note) => (
            <li key={note.text}>{note.text}</li>
          ))}
        </ul>
      )}
    </section>
  );
}
