// SPDX-License-Identifier: Apache-2.0
// The owner of a row's time or memory (rank and device), and the control that selects an owner.
import type {Table} from "./data";

/** "rank 3 · GPU 0", "GPU 0", "host memory"; recordings without a rank are numbered. */
export function ownerOf(table: Table, row: number): string {
  const rank = table.number(row, "rank");
  const device = table.number(row, "device");
  const several = table.column("trace").some((trace) => trace !== table.number(0, "trace"));
  const whose = rank !== null ? `rank ${rank} · ` : several ? `trace ${table.number(row, "trace")} · ` : "";
  return whose + (device === null ? "host memory" : `GPU ${device}`);
}

interface Props {
  label: string;
  names: readonly string[];
  value: string;
  choose: (name: string) => void;
}

/** Nothing where there is nothing to choose. */
export function Choice({label, names, value, choose}: Props) {
  if (names.length < 2) return null;
  return (
    <select aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
