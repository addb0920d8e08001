// SPDX-License-Identifier: Apache-2.0
// The map of a large job: ranks × steps, those that differ first and alike ones folded, beside where they stand in the
// machine. Both are canvases that draw what is in view only: ten thousand ranks are no elements.
import {useContext, useEffect, useMemo, useRef, useState} from "preact/hooks";
import type {PackedRankMap} from "../data";
import {duration, percent} from "../format";
import {cellOf, DIFFERS, type Grid, HOST, Job, OWN, type Row, rowsOf, tableOf} from "../rank_map";
import {TableView} from "../table_view";
import {colour, ThemeContext} from "../theme";
import {canJump, jumpTo} from "../timeline/jump";

const ROW = 18;
const HEAD = 22;
const MOST_HEIGHT = 26 * ROW + HEAD;
const CLEAR = 0.1; // a tenth of a step more than the median is drawn in the full colour

type Rgb = [number, number, number];

function rgb(name: string): Rgb {
  const hex = colour(name);
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}

/** From less than the median by neutral to more. */
function scale(): (more: number) => string {
  const [less, middle, most] = [rgb("compute"), rgb("soft"), rgb("data")];
  return (more) => {
    const part = Math.min(1, Math.abs(more) / CLEAR);
    const end = more < 0 ? less : most;
    return `rgb(${middle.map((value, i) => Math.round(value + ((end[i] ?? 0) - value) * part)).join(" ")})`;
  };
}

/** A canvas as wide as its place, sharp on every screen. */
function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context?.scale(ratio, ratio);
  if (context) context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return context;
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

interface At {
  row: number;
  step: number;
}

interface Drawn {
  job: Job;
  grid: Grid;
  by: string;
  rows: Row[];
  at: At;
  focused: boolean;
}

function names(width: number): number {
  return Math.min(260, Math.round(width * 0.4));
}

function drawRows(context: CanvasRenderingContext2D, drawn: Drawn, width: number, height: number, top: number): void {
  const {job, grid, rows, at, focused} = drawn;
  const left = names(width);
  const cell = (width - left) / job.steps.length;
  const fill = scale();
  const [text, dim, accent] = [colour("text"), colour("dim"), colour("accent")];
  context.textBaseline = "middle";
  const first = Math.floor(top / ROW);
  for (let row = first; row < Math.min(rows.length, first + Math.ceil(height / ROW) + 1); row += 1) {
    const one = rows[row];
    if (!one) continue;
    const y = HEAD + row * ROW - top;
    context.fillStyle = one.devices.length > 1 ? dim : text;
    const mark = one.devices.length === 1 ? "" : one.folded ? "▸ " : "▾ ";
    context.fillText(fitted(context, mark + one.name, left - 10 - one.depth * 14), one.depth * 14, y + ROW / 2);
    for (let step = 0; step < job.steps.length; step += 1) {
      const {more} = cellOf(job, grid, one, step);
      if (Number.isNaN(more)) continue;
      context.fillStyle = fill(more);
      context.fillRect(left + step * cell, y, Math.max(1, cell - 1), ROW - 1);
    }
    if (focused && row === at.row) {
      context.strokeStyle = accent;
      context.lineWidth = 2;
      context.strokeRect(left + at.step * cell + 1, y + 1, Math.max(2, cell - 3), ROW - 3);
    }
  }
  context.fillStyle = colour("card");
  context.fillRect(0, 0, width, HEAD);
  context.fillStyle = dim;
  const every = Math.max(1, Math.ceil(44 / cell));
  context.fillText("step", left - 34, HEAD / 2);
  for (let step = 0; step < job.steps.length; step += every)
    context.fillText(String(job.steps[step]), left + step * cell + 3, HEAD / 2);
}

/** With whom a device is compared. */
function peersOf(job: Job, device: number, by: string): string {
  const group = by === HOST ? "" : job.groupName(device, by);
  return group ? `the median rank of ${group}` : "the median rank";
}

function sentence({job, grid, by, rows, at}: Drawn, measure: string): string {
  const row = rows[at.row];
  if (!row) return "";
  const {device, ns, more} = cellOf(job, grid, row, at.step);
  const host = job.host(device);
  const who = row.devices.length > 1 ? `${row.name}; most apart is ${job.name(device)}` : row.name;
  const where = host && !row.name.startsWith(host) ? ` on ${host}` : "";
  if (Number.isNaN(ns)) return `${who}${where}, step ${job.steps[at.step]}: not recorded`;
  const than = `${duration(Math.abs(more) * job.step_ns)} ${more < 0 ? "less" : "more"} than ${peersOf(job, device, by)}`;
  return `${who}${where}, step ${job.steps[at.step]}: ${measure} ${duration(ns)}, ${than} (${percent(Math.abs(more))} of a step)`;
}

interface MapProps {
  job: Job;
  grid: Grid;
  by: string; // how devices are grouped, and with whom each is compared
  measure: string;
}

const KEYS: ReadonlyMap<string, (at: At, rows: number, steps: number) => At> = new Map([
  ["ArrowDown", ({row, step}, rows) => ({row: Math.min(rows - 1, row + 1), step})],
  ["ArrowUp", ({row, step}) => ({row: Math.max(0, row - 1), step})],
  ["ArrowRight", ({row, step}, _, steps) => ({row, step: Math.min(steps - 1, step + 1)})],
  ["ArrowLeft", ({row, step}) => ({row, step: Math.max(0, step - 1)})],
  ["PageDown", ({row, step}, rows) => ({row: Math.min(rows - 1, row + 20), step})],
  ["PageUp", ({row, step}) => ({row: Math.max(0, row - 20), step})],
  ["Home", ({step}) => ({row: 0, step})],
  ["End", ({step}, rows) => ({row: rows - 1, step})],
]);

function HeatMap({job, grid, measure, by}: MapProps) {
  const theme = useContext(ThemeContext);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState<At>({row: 0, step: 0});
  const [focused, setFocused] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const {rows, differ} = useMemo(() => rowsOf(job, grid, open, by), [job, grid, open, by]);
  const height = Math.min(MOST_HEIGHT, HEAD + rows.length * ROW);
  const here = {row: Math.min(at.row, rows.length - 1), step: at.step};
  const drawn = {job, grid, by, rows, at: here, focused};

  useEffect(() => {
    const place = scroller.current;
    const draw = () => {
      const context = place && canvas.current && prepared(canvas.current, place.clientWidth, height);
      if (context) drawRows(context, drawn, place.clientWidth, height, place.scrollTop);
    };
    draw();
    place?.addEventListener("scroll", draw);
    const observer = new ResizeObserver(draw);
    if (place) observer.observe(place);
    return () => {
      place?.removeEventListener("scroll", draw);
      observer.disconnect();
    };
  }, [theme, job, grid, rows, here.row, here.step, focused, height]);

  /** Opens or closes a group; of one rank, shows the step in the timeline. */
  const enter = ({row, step}: At) => {
    const one = rows[row];
    const [device, another] = one?.devices ?? [];
    if (!one || device === undefined) return;
    if (another === undefined) {
      const rank = job.packed.ranks[device] ?? undefined;
      if (canJump() && rank !== undefined) jumpTo({rank, step: job.steps[step]}, "the ranks");
      return;
    }
    const next = new Set(open);
    if (!next.delete(one.key)) next.add(one.key);
    setOpen(next);
  };
  const press = (event: KeyboardEvent) => {
    const move = KEYS.get(event.key);
    if (event.key === "Enter" || event.key === " ") enter(here);
    else if (!move) return;
    event.preventDefault();
    if (!move) return;
    const next = move(here, rows.length, job.steps.length);
    setAt(next);
    const place = scroller.current;
    if (!place) return;
    const y = next.row * ROW;
    if (y < place.scrollTop) place.scrollTop = y;
    else if (y + ROW + HEAD > place.scrollTop + height) place.scrollTop = y + ROW + HEAD - height;
  };
  const pointed = (event: MouseEvent): At | undefined => {
    const place = scroller.current;
    if (!place) return undefined;
    const box = place.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - HEAD + place.scrollTop) / ROW);
    const left = names(place.clientWidth);
    const step = Math.floor(((event.clientX - box.left - left) / (place.clientWidth - left)) * job.steps.length);
    if (row < 0 || row >= rows.length) return undefined;
    return {row, step: Math.max(0, Math.min(job.steps.length - 1, step))};
  };
  const move = (event: MouseEvent) => {
    const next = pointed(event);
    if (next) setAt(next);
  };
  const click = (event: MouseEvent) => {
    const next = pointed(event);
    if (next) enter(next);
  };
  const alike = job.devices - differ;
  return (
    <>
      <p class="dim">
        {differ} of {job.devices} ranks differ from the median rank{by === HOST ? "" : ` of their ${by} place`} by{" "}
        {percent(DIFFERS)} of a step or more; {alike} are alike and folded by {by}
      </p>
      <div
        ref={scroller}
        class="rank-map"
        style={{height: `${height}px`}}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move over a picture
        tabIndex={0}
        role="application"
        aria-label={`Heat map of ${job.devices} ranks and ${job.steps.length} steps; arrows move, Enter opens a group${canJump() ? " or shows the step in the timeline" : ""}`}
        aria-describedby="rank-map-cell"
        onKeyDown={press}
        onMouseMove={move}
        onClick={click}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        <div style={{height: `${HEAD + rows.length * ROW}px`}}>
          <canvas ref={canvas} />
        </div>
      </div>
      <p id="rank-map-cell" class="rank-cell" aria-live="polite">
        {sentence(drawn, measure)}
      </p>
    </>
  );
}

/** Machines, or the groups of a dimension, as columns of their devices, in bands as wide as the page. */
function Layout({job, grid, measure, by}: MapProps) {
  const theme = useContext(ThemeContext);
  const place = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [said, setSaid] = useState("");
  const groups = useMemo(() => job.columnsOf(by), [job, by]);
  const deepest = Math.min(64, Math.max(...groups.map(([, devices]) => devices.length)));
  const size = (width: number) => {
    const side = Math.max(4, Math.min(14, Math.floor(width / Math.min(groups.length, 160))));
    const across = Math.max(1, Math.floor(width / side));
    return {side, across, band: deepest * side + 8, bands: Math.ceil(groups.length / across)};
  };
  useEffect(() => {
    const draw = () => {
      const width = place.current?.clientWidth ?? 0;
      if (!canvas.current || width === 0) return;
      const {side, across, band, bands} = size(width);
      const context = prepared(canvas.current, width, bands * band);
      const fill = scale();
      groups.forEach(([, devices], at) => {
        devices.slice(0, deepest).forEach((device, i) => {
          if (!context) return;
          context.fillStyle = fill(grid.apart[device] ?? 0);
          context.fillRect((at % across) * side, Math.floor(at / across) * band + i * side, side - 1, side - 1);
        });
      });
    };
    draw();
    const observer = new ResizeObserver(draw);
    if (place.current) observer.observe(place.current);
    return () => observer.disconnect();
  }, [theme, job, grid, groups]);
  const move = (event: MouseEvent) => {
    const box = place.current?.getBoundingClientRect();
    if (!box) return;
    const {side, across, band} = size(box.width);
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const group = groups[Math.floor(y / band) * across + Math.floor(x / side)];
    const device = group?.[1][Math.floor((y % band) / side)];
    if (device === undefined) return;
    const more = grid.apart[device] ?? 0;
    const than = `${duration(Math.abs(more) * job.step_ns)} ${more < 0 ? "less" : "more"} than ${peersOf(job, device, by)}`;
    const where = [group?.[0] || "no host recorded", by === HOST ? "" : job.groupName(device, by)].filter(Boolean);
    setSaid(`${where.join(", ")}, ${job.name(device)}: ${measure}, ${than} in its step that differs most`);
  };
  return (
    <>
      <h3>Where they stand</h3>
      <p class="dim">
        {by === HOST
          ? "a column is a host, a square one of its GPUs"
          : `a column is a ${by} group, a square one of its ranks, in their order`}
        , in the colour of the step that differs most
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the table says the same to the keyboard */}
      <div ref={place} class="rank-layout" onMouseMove={move}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${groups.length} ${by === HOST ? "hosts" : `${by} groups`} with ${job.devices} GPUs; the table has the numbers`}
        />
      </div>
      <p class="rank-cell">{said}</p>
    </>
  );
}

export function RankMap({packed}: {packed: PackedRankMap}) {
  const job = useMemo(() => new Job(packed), [packed]);
  const [measure, setMeasure] = useState(OWN);
  const [by, setBy] = useState(job.dimensions.includes("pipeline") ? "pipeline" : HOST);
  const grid = useMemo(() => job.grid(measure, by), [job, measure, by]);
  const table = useMemo(() => tableOf(job, measure, grid), [job, measure, grid]);
  const left = packed.all_steps - packed.steps.length;
  return (
    <section id="ranks">
      <header>
        <h2>Ranks, step by step</h2>
        <span class="dim">
          blue takes less than the median rank, orange more; the full colour is {percent(CLEAR)} of a step
        </span>
        <div class="controls">
          <select
            aria-label="Time to compare"
            value={measure}
            onChange={(event) => setMeasure(event.currentTarget.value)}
          >
            {job.measures().map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          {job.dimensions.length > 0 && (
            <select aria-label="Group ranks by" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
              {[HOST, ...job.dimensions].map((name) => (
                <option key={name} value={name}>
                  by {name}
                </option>
              ))}
            </select>
          )}
        </div>
      </header>
      <HeatMap job={job} grid={grid} measure={measure} by={by} />
      <Layout job={job} grid={grid} measure={measure} by={by} />
      <h3>Every rank</h3>
      <TableView table={table} filter="" ids={false} />
      {left > 0 && (
        <p class="dim">
          {packed.steps.length} of {packed.all_steps} steps are in this report
        </p>
      )}
    </section>
  );
}
