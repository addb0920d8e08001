// SPDX-License-Identifier: Apache-2.0
// The slowest step, zoomable: idle gaps by cause, streams, host threads, on one clock.
import {graphic} from "echarts/core";
import {useCallback, useMemo, useRef, useState} from "preact/hooks";
import {axis, base, type Chart, ChartView, type Option, tip, tooltip} from "../chart";
import type {Data, Table} from "../data";
import {count, duration, percent} from "../format";
import {colour} from "../theme";
import {type Box, type Layout, layOut} from "./lanes";

const DEVICE: Record<string, string> = {communication: "comm", copy: "copy"};
const HOST: Record<string, string> = {annotation: "annotation", operator: "operator"};

function colourOf(table: Table, row: number): string {
  const kind = table.text(row, "kind");
  switch (table.text(row, "lane")) {
    case "idle":
      return colour(kind);
    case "gpu":
      return colour(DEVICE[kind] ?? "compute");
    default:
      return colour(HOST[kind] ?? "call");
  }
}

function tipOf(table: Table, row: number, start: number): string {
  const several = table.number(row, "count") ?? 1;
  const dur = table.number(row, "dur_ns") ?? 0;
  const idle = table.text(row, "lane") === "idle";
  const name = table.text(row, "name");
  const kind = table.text(row, "kind");
  const title = idle ? `idle ${duration(dur)}: ${kind}` : name;
  const lines = [`from ${duration((table.number(row, "ts_ns") ?? 0) - start)} for ${duration(dur)}`];
  if (!idle) lines.push(kind);
  if (idle && name) lines.push(`the host was in ${name}`);
  if (several > 1) {
    const busy = table.number(row, "busy_ns") ?? 0;
    lines.push(
      `${count(several)} short ones together, ${percent(busy / Math.max(dur, 1))} of the length; the longest is named`,
    );
  }
  const op = table.number(row, "gpu_op_id");
  const slice = table.number(row, "slice_id");
  const ids = [op !== null && `gpu_op ${op}`, slice !== null && `slice ${slice}`].filter(Boolean);
  if (ids.length) lines.push(ids.join(", "));
  return tip(title, lines);
}

type Place = {x: number; y: number; width: number; height: number};
interface Api {
  value: (dimension: number) => number;
  coord: (at: [number, number]) => [number, number];
}

function drawer(table: Table, layout: Layout) {
  const onDevice = colour("card");
  const onHost = colour("text");
  const labelled = new Set<number>(); // a label stays on its box until it is given an empty one
  const colours = layout.boxes.map((box) => colourOf(table, box.row));
  return (params: {coordSys: Place; dataIndex: number}, api: Api) => {
    const box = layout.boxes[params.dataIndex];
    if (!box) return undefined;
    const [x, y] = api.coord([api.value(0), box.top]);
    const [right] = api.coord([api.value(1), box.top]);
    const place = {x, y, width: Math.max(right - x, 0.7), height: box.height};
    const shape = graphic.clipRectByRect(place, params.coordSys) as Place | undefined;
    if (!shape) return undefined;
    const lane = table.text(box.row, "lane");
    const label = lane === "idle" ? table.text(box.row, "kind") : table.text(box.row, "name");
    const shows = shape.width > 34 && table.number(box.row, "count") === 1;
    if (shows) labelled.add(params.dataIndex);
    return {
      type: "rect",
      shape,
      style: {fill: colours[params.dataIndex]},
      ...(labelled.has(params.dataIndex) && {
        textConfig: {position: "insideLeft", distance: 3},
        textContent: {
          style: {
            text: shows ? label : "",
            fill: lane === "host" ? onHost : onDevice,
            fontSize: 10.5,
            width: shape.width - 6,
            overflow: "truncate",
            ellipsis: "…",
          },
        },
      }),
    };
  };
}

function optionFor(table: Table, layout: Layout, gutter: number): Option {
  const zoom = {xAxisIndex: 0, filterMode: "none"};
  return {
    ...base(),
    grid: {left: gutter, right: 26, top: 4, height: layout.height},
    tooltip: tooltip({
      formatter: (item: {dataIndex: number}) => {
        const box = layout.boxes[item.dataIndex];
        return box ? tipOf(table, box.row, layout.start) : "";
      },
    }),
    xAxis: axis("", {
      type: "value",
      min: 0,
      max: layout.end,
      axisLabel: {
        color: colour("dim"),
        formatter: (value: number) => duration(value),
        hideOverlap: true,
        showMaxLabel: false,
      },
    }),
    yAxis: {type: "value", min: 0, max: layout.height, inverse: true, show: false},
    dataZoom: [
      {...zoom, type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, preventDefaultMouseMove: false},
      {
        ...zoom,
        type: "slider",
        height: 20,
        bottom: 6,
        labelFormatter: (value: number) => duration(value),
        showDataShadow: false,
      },
    ],
    series: [
      {
        type: "custom",
        clip: true,
        progressive: 0, // all at once: a part of a step would mislead
        renderItem: drawer(table, layout),
        encode: {x: [0, 1], y: 2},
        data: layout.boxes.map((box) => [box.start, box.end, box.top]),
      },
    ],
  };
}

/** The window shown, as ns. */
function windowOf(chart: Chart, layout: Layout): [number, number] {
  const zoom = (chart.getOption() as {dataZoom: {startValue?: number; endValue?: number}[]}).dataZoom[0];
  return [zoom?.startValue ?? 0, zoom?.endValue ?? layout.end];
}

function show(chart: Chart, layout: Layout, from: number, to: number) {
  const length = Math.min(Math.max(to - from, 1000), layout.end);
  const start = Math.min(Math.max(from, 0), layout.end - length);
  chart.dispatchAction({type: "dataZoom", startValue: start, endValue: start + length});
}

const NONE: Box = {row: 0, start: 0, end: 0, top: 0, height: 0};

const KEYS: Record<string, [number, number]> = {w: [0.25, -0.25], s: [-0.5, 0.5], a: [-0.25, -0.25], d: [0.25, 0.25]};

function Lanes({table, layout}: {table: Table; layout: Layout}) {
  const chart = useRef<Chart>();
  const gutter = innerWidth <= 640 ? 84 : 160;
  const option = useCallback(() => optionFor(table, layout, gutter), [table, layout, gutter]);
  const ready = useCallback((made: Chart) => {
    chart.current = made;
  }, []);
  const move = (from: number, to: number) => {
    if (!chart.current) return;
    const [start, end] = windowOf(chart.current, layout);
    show(chart.current, layout, start + from * (end - start), end + to * (end - start));
  };
  const gaps = layout.boxes.filter((box) => table.text(box.row, "lane") === "idle");
  const longest = gaps.reduce(
    (most, gap) => (gap.end - gap.start > most.end - most.start ? gap : most),
    gaps[0] ?? NONE,
  );
  const toLongest = () => {
    if (!chart.current) return;
    const margin = (longest.end - longest.start) * 0.15;
    show(chart.current, layout, longest.start - margin, longest.end + margin);
  };
  return (
    <>
      <div class="controls below" style={{marginTop: 0, marginBottom: "8px"}}>
        <button type="button" onClick={() => move(0.25, -0.25)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => move(-0.5, 0.5)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => chart.current?.dispatchAction({type: "dataZoom", start: 0, end: 100})}>
          whole step
        </button>
        {gaps.length > 0 && (
          <button type="button" onClick={toLongest}>
            longest gap
          </button>
        )}
        <span class="dim">Ctrl + wheel zooms, dragging moves; with keys W, S, A, D</span>
      </div>
      {/* biome-ignore-start lint/a11y: the keys that move the timeline need its focus; a group of lanes is no form */}
      <div
        class="lanes"
        role="group"
        aria-label="Timeline; keys W, S, A, D zoom and move"
        tabIndex={0}
        onKeyDown={(event) => {
          const by = KEYS[event.key.toLowerCase()];
          if (by) move(...by);
        }}
      >
        {/* biome-ignore-end lint/a11y: the keys */}
        {layout.lanes.map((lane) => (
          <div
            key={`${lane.top}`}
            class={`lane-name ${lane.kind === "rank" ? "rank" : ""}`}
            style={{top: `${lane.top + 5}px`}}
            title={lane.title}
          >
            {lane.label}
          </div>
        ))}
        <ChartView
          height={layout.height + 66}
          label="Timeline of the slowest step; table slowest_step has its rows"
          option={option}
          ready={ready}
        />
      </div>
    </>
  );
}

export function Timeline({data}: {data: Data}) {
  const table = data.tables.get("slowest_step");
  const traces = table ? ([...new Set(table.column("trace"))] as number[]) : [];
  const [hostOf, setHostOf] = useState(traces[0] ?? 0);
  const layout = useMemo(() => (table ? layOut(table, hostOf) : undefined), [table, hostOf]);
  if (!table || !layout) return null;
  const ranks = new Map(data.analyze.traces.map((trace) => [trace.trace, trace.rank]));
  const own = table.number(0, "dur_ns") ?? 0;
  const listed = data.analyze.traces.filter((trace) => trace.role === "primary" && trace.execution === 0).length;
  const recorded = data.page.recordings ?? listed;
  const median = data.analyze.run.step_ns?.median;
  return (
    <section id="timeline">
      <header>
        <h2>{layout.step === null ? "Timeline" : `The slowest step: ${layout.step}`}</h2>
        <span class="dim">
          {duration(own)}
          {layout.step !== null && median !== undefined && `, median ${duration(median)}`}
        </span>
        <div class="controls">
          {traces.length > 1 && (
            <select
              aria-label="Host threads of"
              value={hostOf}
              onChange={(event) => setHostOf(Number(event.currentTarget.value))}
            >
              {traces.map((trace) => (
                <option key={trace} value={trace}>
                  host threads of {ranks.get(trace) === undefined ? `trace ${trace}` : `rank ${ranks.get(trace)}`}
                </option>
              ))}
            </select>
          )}
        </div>
      </header>
      <Lanes table={table} layout={layout} />
      {traces.length < recorded && (
        <p class="dim">
          {traces.length} of {recorded} recordings, those whose own work differs most from the median first
        </p>
      )}
      {layout.hidden > 0 && (
        <p class="dim">
          {layout.hidden} more streams and threads are in table <code>slowest_step</code>
        </p>
      )}
    </section>
  );
}
