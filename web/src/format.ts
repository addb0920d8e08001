// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, the same way as in the terminal (src/base/strings.cc).
import type {Amount, Cell, Gain} from "./data";

const group = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});

function digits(value: number, significant: number): string {
  const magnitude = Math.floor(Math.log10(Math.abs(value) * (1 + 0.5 * 10 ** -significant)));
  return value.toFixed(Math.max(0, significant - 1 - magnitude));
}

/** "412 ns", "17.3 µs", "176.5 ms", "12.04 s", "1 h 02 min": always 3–4 significant digits. */
export function duration(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size >= 3599.5e9) {
    const minutes = Math.round(size / 60e9);
    return `${ns < 0 ? "-" : ""}${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  }
  const [unit, name] = size < 999.95e3 ? [1e3, "µs"] : size < 999.95e6 ? [1e6, "ms"] : [1e9, "s"];
  const shown = size / unit;
  const more = shown >= 99.95 || (unit === 1e9 && shown >= 9.9995);
  return `${digits(ns / unit, more ? 4 : 3)} ${name}`;
}

/** "56.2 %"; two decimals below 1 %. */
export function percent(share: number): string {
  const value = share * 100;
  return `${value.toFixed(value !== 0 && Math.abs(value) < 0.995 ? 2 : 1)} %`;
}

/** Decimal units: "1.02 GB". */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = count;
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit + 1 < units.length) {
    value /= 1000;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${Number(value.toPrecision(3))} ${units[unit]}`;
}

export function count(value: number): string {
  return group.format(value);
}

/** A number without a unit: whole ones grouped, others with three significant digits. */
export function plain(value: number): string {
  if (Number.isInteger(value)) return count(value);
  const size = Math.abs(value);
  if (size >= 1000) return count(value);
  if (size !== 0 && size < 0.001) return value.toExponential(1);
  return String(Number(value.toPrecision(3)));
}

/** "1.33×". */
export function factor(value: number): string {
  return `${value < 9.995 ? value.toFixed(2) : value.toFixed(1)}×`;
}

/** Returns true if a gain is visible: 1.00× is not. */
export function buys(gain: Gain): boolean {
  return gain.expected >= 1.005;
}

export function bounds(gain: Gain): string {
  return `${gain.low.toFixed(2)}–${gain.high.toFixed(2)}`;
}

/** Three digits that mean something, thousands separated: "41,300", "12.3", "0.0021". */
function threeDigits(value: number): string {
  if (value <= 0) return "0";
  const magnitude = Math.floor(Math.log10(value * (1 + 5e-4)));
  if (magnitude < 2) return value.toFixed(Math.min(2 - magnitude, 12));
  const unit = 10 ** (magnitude - 2);
  return count(Math.round(value / unit) * unit);
}

/** Joules of a step: "295 J", "41.3 kJ". */
export function energy(joules: number): string {
  return joules < 1e4 ? `${threeDigits(joules)} J` : `${threeDigits(joules / 1e3)} kJ`;
}

/** Returns what is known of an amount: ["$ 41,300", "12,400 kWh", "4,960 kg CO₂"]. */
export function amounts(amount: Amount): string[] {
  const parts: string[] = [];
  if (amount.money !== undefined) parts.push(`$ ${threeDigits(amount.money)}`);
  if (amount.kwh !== undefined) parts.push(`${threeDigits(amount.kwh)} kWh`);
  if (amount.carbon_kg !== undefined) parts.push(`${threeDigits(amount.carbon_kg)} kg CO₂`);
  return parts;
}

/** A cell of a table by its column's unit; "–" for what was not recorded. */
export function cell(value: Cell, unit: string): string {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  switch (unit) {
    case "ns":
      return duration(value);
    case "bytes":
      return bytes(value);
    case "share":
      return percent(value);
    case "percent":
      return `${value.toFixed(1)} %`;
    case "FLOP":
      return value >= 1e9 ? `${plain(value / 1e9)} GFLOP` : `${plain(value / 1e6)} MFLOP`;
    case "":
      return plain(value);
    default:
      return unit.startsWith("id:") ? String(value) : `${plain(value)} ${unit}`;
  }
}
