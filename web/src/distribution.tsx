// SPDX-License-Identifier: Apache-2.0
// How long the calls of one kernel take: the sketch of table kernel_durations as a histogram (src/base/duration_sketch.h).
import type {Table} from "./data";
import {count, duration} from "./format";

export interface Bucket {
  from: number; // ns
  to: number;
  calls: number;
}

const ERROR = 0.01; // of the finest buckets

/** The buckets of a sketch, shortest first, empty ones between them included; nothing where it is no sketch. */
export function bucketsOf(sketch: string): Bucket[] {
  const [, level, zeros, first, counts] = /^(\d+) (\d+) (\d+):([\d,]*)$/.exec(sketch) ?? [];
  if (counts === undefined) return [];
  const growth = ((1 + ERROR) / (1 - ERROR)) ** (2 ** Number(level));
  const buckets: Bucket[] = Number(zeros) > 0 ? [{from: 0, to: 0, calls: Number(zeros)}] : [];
  if (counts === "") return buckets;
  counts.split(",").forEach((calls, at) => {
    const place = Number(first) + at;
    buckets.push({from: growth ** (place - 1), to: growth ** place, calls: Number(calls)});
  });
  return buckets;
}

/** The row of kernel_durations for the kernel of a row of another table; undefined: there is none. */
export function durationsOf(durations: Table | undefined, table: Table, row: number): number | undefined {
  if (!durations) return undefined;
  const name = table.text(row, "kernel") || table.text(row, "name");
  if (name === "") return undefined;
  const [trace, device] = ["trace", "device"].map((key) => table.number(row, key));
  const fits = (key: string, at: number, wanted: number | null | undefined) =>
    wanted === null || wanted === undefined || durations.number(at, key) === wanted;
  for (let at = 0; at < durations.rows; ++at)
    if (durations.text(at, "kernel") === name && fits("trace", at, trace) && fits("device", at, device)) return at;
  return undefined;
}

const WIDTH = 600;
const HEIGHT = 70;

export function Distribution({durations, row}: {durations: Table; row: number}) {
  const buckets = bucketsOf(durations.text(row, "buckets"));
  const most = Math.max(1, ...buckets.map(({calls}) => calls));
  const wide = WIDTH / Math.max(1, buckets.length);
  const [half, nine, longest] = ["p50_ns", "p90_ns", "max_ns"].map((name) => durations.number(row, name) ?? 0);
  const said =
    `${count(durations.number(row, "calls") ?? 0)} calls: half take ${duration(half ?? 0)} or less, ` +
    `nine of ten ${duration(nine ?? 0)}, the longest ${duration(longest ?? 0)}`;
  return (
    <figure class="distribution">
      <figcaption>{said}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={said}>
        {buckets.map(({from, to, calls}, at) => (
          <rect
            key={to}
            x={at * wide}
            y={HEIGHT - (calls / most) * HEIGHT}
            width={Math.max(0.5, wide - 0.5)}
            height={(calls / most) * HEIGHT}
          >
            <title>{`${count(calls)} calls from ${duration(from)} to ${duration(to)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="ends dim">
        <span>{duration(buckets[0]?.from ?? 0)}</span>
        <span>
          each bar{" "}
          {(
            (((1 + ERROR) / (1 - ERROR)) ** (2 ** (Number(durations.text(row, "buckets").split(" ")[0]) || 0)) - 1) *
            100
          ).toFixed(0)}{" "}
          % longer than the one before
        </span>
        <span>{duration(longest ?? 0)}</span>
      </div>
    </figure>
  );
}
