// SPDX-License-Identifier: Apache-2.0
// Causal profile: what the step takes as one kernel after the other gets cheaper, down to nothing.
import {useCallback} from "preact/hooks";
import {axis, base, ChartView, type Option, tip, tooltip} from "../chart";
import type {SweptPart} from "../data";
import {duration, percent} from "../format";
import {colour} from "../theme";

const COLOURS = ["compute", "comm", "copy", "data", "launch", "sync"] as const;

/** A name as long as a legend can hold. */
function short(name: string): string {
  return name.length > 48 ? `${name.slice(0, 47)}…` : name;
}

function optionFor(parts: readonly SweptPart[]): Option {
  const least = Math.min(...parts.flatMap((part) => part.points.map(([, step]) => step)));
  const share = {color: colour("dim"), formatter: (value: number) => `${Math.round(value * 100)} %`};
  return {
    ...base(),
    grid: {left: 56, right: 20, top: 12, bottom: 44},
    tooltip: tooltip({
      formatter: (item: {seriesIndex: number; data: [number, number]}) => {
        const part = parts[item.seriesIndex];
        if (!part) return "";
        const [cost, step] = item.data;
        return tip(part.name, [
          `${duration(part.time_ns)} a step now`,
          `at ${percent(cost)} of that the step takes ${percent(step)}`,
        ]);
      },
    }),
    xAxis: axis("what the kernel costs", {
      type: "value",
      min: 0,
      max: 1,
      inverse: true,
      nameLocation: "middle",
      nameGap: 28,
      axisLabel: share,
    }),
    yAxis: axis("", {type: "value", min: Math.floor(least * 20) / 20, max: 1, axisLabel: share}),
    series: parts.map((part, at) => ({
      type: "line",
      name: short(part.name),
      symbolSize: 7,
      lineStyle: {color: colour(COLOURS[at % COLOURS.length] ?? "compute")},
      itemStyle: {color: colour(COLOURS[at % COLOURS.length] ?? "compute")},
      data: part.points,
    })),
  };
}

export function Sweep({parts}: {parts: readonly SweptPart[]}) {
  const option = useCallback(() => optionFor(parts), [parts]);
  if (parts.length === 0) return null;
  return (
    <div class="sweep">
      <h3>
        What a cheaper kernel would buy <span class="dim">how long a step is when one kernel costs less</span>
      </h3>
      <ChartView
        height={230}
        label="Lines of step time over the cost of each kernel; the list names them"
        option={option}
      />
      <ol>
        {parts.map((part, at) => (
          <li key={part.name}>
            <i class="swatch" style={{background: `var(--${COLOURS[at % COLOURS.length] ?? "compute"})`}} />
            <span class="name" title={part.name}>
              {part.name}
            </span>
            <span class="dim">
              {duration(part.time_ns)} a step; without it {percent(part.points.at(-1)?.[1] ?? 1)} of the step
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
