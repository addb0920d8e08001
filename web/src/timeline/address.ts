// SPDX-License-Identifier: Apache-2.0
// The address of what a timeline shows, behind the # of the page's: #timeline?from=…&to=…&op=….

export interface Address {
  from?: number | undefined;
  to?: number | undefined;
  op?: number | undefined; // an operation of a device
  slice?: number | undefined;
  range?: [number, number] | undefined; // the selected range, …
  trace?: number | undefined; // … and of which trace
}

const START = "#timeline?";

export function written(address: Address): string {
  const parts: string[] = [];
  const add = (name: string, value: number | undefined) => {
    if (value !== undefined) parts.push(`${name}=${Math.round(value)}`);
  };
  add("from", address.from);
  add("to", address.to);
  add("op", address.op);
  add("slice", address.slice);
  if (address.range) parts.push(`range=${address.range.map(Math.round).join("-")}`);
  add("trace", address.trace);
  return START + parts.join("&");
}

/** Undefined where the hash is not an address of a timeline; what is no number is left out. */
export function read(hash: string): Address | undefined {
  if (!hash.startsWith(START)) return undefined;
  const parts = new URLSearchParams(hash.slice(START.length));
  const number = (name: string) => {
    const text = parts.get(name) ?? "";
    return /^-?\d+$/.test(text) ? Number(text) : undefined;
  };
  const [, start, end] = parts.get("range")?.match(/^(\d+)-(\d+)$/) ?? [];
  return {
    from: number("from"),
    to: number("to"),
    op: number("op"),
    slice: number("slice"),
    range: start && end && Number(start) < Number(end) ? [Number(start), Number(end)] : undefined,
    trace: number("trace"),
  };
}
