// SPDX-License-Identifier: Apache-2.0
// A chart over the time of day whose lines grow: it is drawn once, and then given what is new.
import {useCallback, useEffect, useRef} from "preact/hooks";
import {axis, base, type Chart, ChartView, legend, type Option, tip, tooltip} from "../chart";
import {colour} from "../theme";

export interface Line {
  name: string;
  points: readonly (readonly [number, number])[]; // Unix time in ms, value
}

interface Props {
  name: string;
  label: string; // text for screen readers
  lines: readonly Line[];
  format: (value: number) => string;
  /** Instants to mark, and their names. */
  marks?: readonly {at: number; name: string}[];
  most?: number; // of the axis
}

const COLOURS = ["compute", "comm", "copy", "call"];

function time(ms: number): string {
  return new Date(ms).toLocaleTimeString("en-GB");
}

function optionOf({name, lines, format, marks = [], most}: Props): Option {
  const many = lines.length > COLOURS.length;
  return {
    ...base(),
    grid: {left: 8, right: 20, top: lines.length > 1 && !many ? 34 : 16, bottom: 8, containLabel: true},
    ...(lines.length > 1 && !many && {legend: legend()}),
    tooltip: tooltip({
      trigger: "item",
      formatter: (item: {seriesName: string; data: [number, number]}) =>
        tip(time(item.data[0]), [`${lines.length > 1 ? item.seriesName : name} ${format(item.data[1])}`]),
    }),
    xAxis: axis("", {
      type: "time",
      splitNumber: innerWidth < 640 ? 2 : 4,
      splitLine: {show: false},
      axisLabel: {color: colour("dim"), hideOverlap: true, formatter: time, padding: [0, 8]},
    }),
    yAxis: axis("", {
      type: "value",
      min: 0,
      ...(most !== undefined && {max: most}),
      axisLabel: {color: colour("dim"), formatter: format},
    }),
    series: lines.map(({name: line, points}, at) => ({
      name: line,
      type: "line",
      symbol: "circle",
      symbolSize: 4,
      showSymbol: points.length < 200,
      sampling: "minmax", // a slow step must not get lost, nor what it costs
      lineStyle: {width: many ? 1 : 1.5, color: colour(many ? "compute" : (COLOURS[at] ?? "compute"))},
      itemStyle: {color: colour(many ? "compute" : (COLOURS[at] ?? "compute"))},
      data: points,
      ...(at === 0 && {
        markLine: {
          silent: true,
          symbol: "none",
          label: {show: false},
          lineStyle: {color: colour("data"), type: "dashed"},
          data: marks.map((mark) => ({xAxis: mark.at, name: mark.name})),
        },
      }),
    })),
  };
}

export function LiveChart(props: Props) {
  const newest = useRef(props);
  newest.current = props;
  const chart = useRef<Chart | null>(null);
  const option = useCallback(() => optionOf(newest.current), []);
  const ready = useCallback((drawn: Chart) => {
    chart.current = drawn;
  }, []);
  useEffect(() => {
    if (chart.current && !chart.current.isDisposed())
      chart.current.setOption(optionOf(props), {replaceMerge: ["series"]});
  }, [props.lines, props.marks]);
  return <ChartView height={220} label={props.label} option={option} ready={ready} />;
}
