// SPDX-License-Identifier: Apache-2.0
// A job that is under way: what its processes and its machine report, as it comes, and the slow steps that were recorded.
// What is not reported has no chart.

import {useMemo} from "preact/hooks";
import type {JobProcess, ServedJob} from "schema/serve";
import {bytes, duration, percent} from "../format";
import {Scroll} from "../scroll";
import {useAnswer} from "./ask";
import {type Line, LiveChart} from "./live_chart";
import {Frame} from "./site";

const NS = 1e9;
const MOST_NAMED = 4; // lines whose newest value is said

function nameOf({rank, name}: JobProcess): string {
  return rank === undefined ? name : `rank ${rank}`;
}

function linesOf(job: ServedJob, value: (process: JobProcess, at: number) => number | undefined): Line[] {
  return job.processes
    .map((process) => ({
      name: nameOf(process),
      points: process.at_unix_ms.flatMap((ms, at) => {
        const number = value(process, at);
        return number === undefined ? [] : [[ms, number] as const];
      }),
    }))
    .filter(({points}) => points.length > 0);
}

function rate(process: JobProcess, at: number): number | undefined {
  const samples = process.samples[at] ?? -1;
  const ns = process.step_ns[at] ?? 0;
  return samples < 0 || ns <= 0 ? undefined : (samples * NS) / ns;
}

const GAUGES = [
  {what: "utilization", title: "GPU utilisation", format: percent, most: 1},
  {what: "memory", title: "GPU memory in use", format: bytes},
  {what: "power", title: "GPU power", format: (watts: number) => `${Math.round(watts)} W`},
] as const;

function last(line: Line | undefined, format: (value: number) => string): string {
  const point = line?.points.at(-1);
  return point ? format(point[1]) : "";
}

function Panel(props: {
  id: string;
  title: string;
  lines: readonly Line[];
  format: (value: number) => string;
  marks?: readonly {at: number; name: string}[];
  most?: number;
}) {
  const {id, title, lines, format} = props;
  if (lines.length === 0) return null;
  const named = (line: Line) => `${lines.length > 1 ? `${line.name} ` : ""}${last(line, format)}`;
  const now = lines.length <= MOST_NAMED ? lines.map(named).join(" · ") : `${lines.length} of them`;
  return (
    <section id={id} data-points={lines.reduce((sum, {points}) => sum + points.length, 0)}>
      <header>
        <h2>{title}</h2>
        <span class="dim">{now}</span>
      </header>
      <LiveChart {...props} name={title} label={`${title} over time: ${now}`} />
    </section>
  );
}

function time(ms: number): string {
  return new Date(ms).toLocaleTimeString("en-GB");
}

function runAddress(run: string): string {
  return `/?run=${encodeURIComponent(run)}`;
}

function Events({job}: {job: ServedJob}) {
  if (job.events.length === 0 && job.recordings.length === 0) return null;
  const linked = new Set(job.events.map(({run}) => run));
  const others = job.recordings.filter(({run}) => !linked.has(run));
  return (
    <section id="events">
      <header>
        <h2>Slow steps and recordings</h2>
        <span class="dim">the newest first</span>
      </header>
      <Scroll label="Slow steps and recordings">
        <table class="reasons listed">
          <thead>
            <tr>
              {["when", "what", "recording"].map((name) => (
                <th key={name} scope="col" class="plain">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[
              ...job.events.map(({at_unix_ms, text, run}) => ({at_unix_ms, text, run})),
              ...others.map(({at_unix_ms, name, run}) => ({at_unix_ms, text: name, run})),
            ]
              .sort((a, b) => b.at_unix_ms - a.at_unix_ms)
              .map(({at_unix_ms, text, run}, at) => (
                <tr key={`${at_unix_ms} ${at}`}>
                  <td>{time(at_unix_ms)}</td>
                  <td class="wide">{text}</td>
                  <td>{run && <a href={runAddress(run)}>Open as a run</a>}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Figures({job}: {job: ServedJob}) {
  const steps = job.processes.reduce((most, process) => Math.max(most, process.steps), 0);
  const newest = job.processes.flatMap(({step_ns}) => step_ns.slice(-100)).sort((a, b) => a - b);
  const median = newest[Math.floor(newest.length / 2)];
  const alive = job.processes.filter((process) => process.alive).length;
  const losses = job.processes.flatMap(({loss}) => (loss === undefined ? [] : [loss]));
  return (
    <section class="verdict">
      <div>
        <p class="about mono command">{job.folder}</p>
        <h1 aria-live="polite">
          {job.state === "over"
            ? "The job is over"
            : alive === 0
              ? "The job runs; no process has reported a step yet"
              : `${alive} ${alive === 1 ? "process trains" : "processes train"}`}
        </h1>
      </div>
      <dl class="figures">
        <div class="figure">
          <dt>steps seen</dt>
          <dd data-figure="steps" data-value={steps}>
            {steps.toLocaleString("en-US")}
          </dd>
        </div>
        {median !== undefined && (
          <div class="figure">
            <dt>median of the last steps</dt>
            <dd data-figure="median" data-value={median}>
              {duration(median)}
            </dd>
          </div>
        )}
        {losses[0] !== undefined && (
          <div class="figure">
            <dt>loss</dt>
            <dd>{losses[0].toPrecision(4)}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

export function JobView({id, version}: {id: string; version: string}) {
  const {body: job, problem} = useAnswer<ServedJob>(
    `/api/monitor/${encodeURIComponent(id)}`,
    (body) => body?.state !== "over",
  );
  const lines = useMemo(
    () =>
      job && {
        steps: linesOf(job, ({step_ns}, at) => step_ns[at]),
        waits: linesOf(job, ({wait_ns}, at) => wait_ns[at]).filter(({points}) => points.some(([, ns]) => ns > 0)),
        rates: linesOf(job, rate),
        gauges: GAUGES.map((gauge) => ({
          ...gauge,
          lines: job.gauges
            .filter(({what}) => what === gauge.what)
            .map(({name, at_unix_ms, value}) => ({
              name,
              points: at_unix_ms.map((ms, at) => [ms, value[at] ?? 0] as const),
            })),
        })),
        slow: job.events.map(({at_unix_ms, text}) => ({at: at_unix_ms, name: text})),
      },
    [job],
  );
  document.title = `${job?.folder ?? "Job"} · gapless`;
  return (
    <Frame place={{kind: "monitor", id}} version={version} subject={job?.folder ?? ""} problem={problem}>
      {job && lines && (
        <>
          <Figures job={job} />
          <div class="live">
            <Panel id="steps" title="Step time" lines={lines.steps} format={duration} marks={lines.slow} />
            <Panel
              id="rate"
              title="Samples a second"
              lines={lines.rates}
              format={(value) => Number(value.toPrecision(4)).toLocaleString("en-US")}
            />
            <Panel id="waits" title="Waiting for the next batch" lines={lines.waits} format={duration} />
            {lines.gauges.map(({what, title, format, lines, ...more}) => (
              <Panel key={what} id={what} title={title} lines={lines} format={format} {...more} />
            ))}
          </div>
          <Events job={job} />
        </>
      )}
    </Frame>
  );
}
