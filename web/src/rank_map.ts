// SPDX-License-Identifier: Apache-2.0
// The packed ledger of a large job (src/report/rank_map.h): its times, how far each device is from the median device, and
// which devices are alike, so that ten thousand rows become a few that differ and the hosts of the others.
import type {Cell, Column, PackedRankMap, RankDimension} from "./data";
import {Table} from "./data";
import {PARTS} from "./parts";

const ABSENT = 65535;
/** A device differs from this share of a step on, in any step. */
export const DIFFERS = 0.03;
const MOST_APART = 200; // devices that are listed by themselves
const MOST_GROUPS = 24; // hosts, or places of a dimension, that are listed at once

export const OWN = "step without communication";
export const IDLE = "idle, for any reason";
export const WHOLE = "whole step";
/** Devices are grouped by their machine, or by their place in a dimension of the job, as table rank_layout names it. */
export const HOST = "host";

/** A measure is a sum of columns of the ledger, less others. */
const MEASURES: ReadonlyMap<string, {plus: readonly string[]; minus: readonly string[]}> = new Map([
  [OWN, {plus: ["wall_ns"], minus: ["exposed_comm_ns"]}],
  [WHOLE, {plus: ["wall_ns"], minus: []}],
  [IDLE, {plus: PARTS.filter(({idle}) => idle).map(({column}) => column), minus: []}],
  ...PARTS.map(({name, column}): [string, {plus: string[]; minus: string[]}] => [name, {plus: [column], minus: []}]),
]);

function unpacked(cells: string): Uint16Array {
  const bytes = Uint8Array.from(atob(cells), (c) => c.charCodeAt(0));
  return new Uint16Array(bytes.buffer);
}

/** A job's devices × steps in one measure. A cell without a value is NaN. */
export interface Grid {
  ns: Float64Array; // by device, then by step
  more: Float64Array; // than the median device of the step, as a share of the median step
  apart: Float64Array; // by device: the most of `more` that it has in any step, with its sign
}

export class Job {
  readonly devices: number;
  readonly steps: readonly number[];
  readonly step_ns: number; // of the median device, in the median step
  readonly dimensions: readonly string[]; // dimensions of the job's layout; none: not known
  private readonly columns = new Map<string, {unit: number; cells: Uint16Array}>();

  constructor(readonly packed: PackedRankMap) {
    this.devices = packed.ranks.length;
    this.steps = packed.steps;
    this.dimensions = (packed.layout ?? []).map(({name}) => name);
    for (const column of packed.columns)
      this.columns.set(column.name, {unit: column.unit_ns, cells: unpacked(column.cells)});
    this.step_ns = median([...this.ns(WHOLE)].filter((value) => !Number.isNaN(value))) || 1;
  }

  /** Measures of which something was recorded. */
  measures(): string[] {
    return [...MEASURES].filter(([, {plus}]) => plus.some((name) => this.columns.has(name))).map(([name]) => name);
  }

  ns(measure: string): Float64Array {
    const {plus, minus} = MEASURES.get(measure) ?? {plus: [], minus: []};
    const sums = new Float64Array(this.devices * this.steps.length);
    const add = (name: string, sign: number) => {
      const column = this.columns.get(name);
      if (!column) return;
      for (let i = 0; i < sums.length; i += 1) {
        const cell = column.cells[i] ?? ABSENT;
        sums[i] = (sums[i] ?? 0) + (cell === ABSENT ? Number.NaN : sign * cell * column.unit);
      }
    };
    for (const name of plus) add(name, 1);
    for (const name of minus) add(name, -1);
    return sums;
  }

  /** Stages of a pipeline have different work by intention: by a dimension, devices are held against those of their place. */
  grid(measure: string, by: string = HOST): Grid {
    const ns = this.ns(measure);
    const count = this.steps.length;
    const more = new Float64Array(ns.length).fill(Number.NaN);
    const apart = new Float64Array(this.devices);
    const all = [...Array(this.devices).keys()];
    const peers = by === HOST ? [all] : [...this.groups(all, by).values()];
    for (const group of peers) {
      for (let step = 0; step < count; step += 1) {
        const of = (device: number) => ns[device * count + step] ?? Number.NaN;
        const middle = median(group.map(of).filter((value) => !Number.isNaN(value)));
        for (const device of group) {
          const value = (of(device) - middle) / this.step_ns;
          more[device * count + step] = value;
          if (Math.abs(value) > Math.abs(apart[device] ?? 0)) apart[device] = value;
        }
      }
    }
    return {ns, more, apart};
  }

  /** A device's place in a dimension, from 0; null: in none, or not known. */
  place(device: number, dimension: string): number | null {
    return this.dimension(dimension)?.place[device] ?? null;
  }

  private dimension(name: string): RankDimension | undefined {
    return this.packed.layout?.find((dimension) => dimension.name === name);
  }

  /** Its machine, or "pipeline 2"; "" where that is not known. */
  groupName(device: number, by: string): string {
    if (by === HOST) return this.host(device);
    const place = this.place(device, by);
    return place === null ? "" : `${by} ${place}`;
  }

  /** Devices of the same machine, or of the same place in a dimension, in the order of these. */
  groups(devices: readonly number[], by: string): Map<string, number[]> {
    const groups = new Map<string, number[]>();
    for (const device of devices) {
      const name = this.groupName(device, by);
      const own = groups.get(name);
      if (own) own.push(device);
      else groups.set(name, [device]);
    }
    const placeOf = ([, own]: [string, number[]]) => this.place(own[0] ?? 0, by) ?? -1;
    return by === HOST ? groups : new Map([...groups].sort((a, b) => placeOf(a) - placeOf(b)));
  }

  /** The columns of the picture: the devices of a machine, or of a group of the dimension, in its order. */
  columnsOf(by: string): [string, number[]][] {
    const all = [...Array(this.devices).keys()];
    if (by === HOST) return [...this.groups(all, HOST)];
    const groups = this.dimension(by)?.group ?? [];
    const columns = new Map<number | null, number[]>();
    for (const device of all) {
      const group = groups[device] ?? null;
      const own = columns.get(group);
      if (own) own.push(device);
      else columns.set(group, [device]);
    }
    const at = (device: number) => this.place(device, by) ?? -1;
    return [...columns].map(([group, own]) => {
      own.sort((a, b) => at(a) - at(b));
      return [group === null ? `no ${by} group` : `${by} group of ${this.name(own[0] ?? 0)}`, own];
    });
  }

  host(device: number): string {
    const host = this.packed.host_of[device] ?? null;
    return host === null ? "" : (this.packed.hosts[host] ?? "");
  }

  name(device: number): string {
    const rank = this.packed.ranks[device] ?? null;
    return rank === null ? `GPU ${this.packed.devices[device]} of recording ${device}` : `rank ${rank}`;
  }
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** A row of the map: one device, or several that are alike. */
export interface Row {
  key: string;
  name: string;
  devices: readonly number[];
  depth: number;
  folded: boolean; // it has rows below it that are not shown
}

/** Runs of places, so that a row's name says what it holds: [[0, 24], [24, 48], …]. */
function pieces(count: number, most: number): [number, number][] {
  const size = Math.ceil(count / Math.min(count, most));
  return Array.from({length: Math.ceil(count / size)}, (_, i) => [i * size, Math.min(count, (i + 1) * size)]);
}

function addDevices(job: Job, devices: readonly number[], depth: number, rows: Row[]): void {
  for (const device of devices)
    rows.push({key: `device ${device}`, name: job.name(device), devices: [device], depth, folded: false});
}

/** Groups and, where one is open, what it holds: at most MOST_GROUPS rows at once, then devices. */
function addGroup(job: Job, groups: [string, number[]][], depth: number, open: ReadonlySet<string>, rows: Row[]): void {
  for (const [from, to] of pieces(groups.length, MOST_GROUPS)) {
    const here = groups.slice(from, to);
    const devices = here.flatMap(([, own]) => own);
    const [first, last] = [here[0]?.[0] ?? "", here[here.length - 1]?.[0] ?? ""];
    const ranks = devices.length === 1 ? "1 rank" : `${devices.length} ranks`;
    const which = here.length === 1 ? first || "not recorded" : `${first} … ${last}`;
    const key = `groups ${first} ${last}`;
    const folded = !open.has(key);
    rows.push({key, name: `${which}: ${ranks}`, devices, depth, folded});
    if (folded) continue;
    if (here.length === 1) addDevices(job, devices, depth + 1, rows);
    else addGroup(job, here, depth + 1, open, rows);
  }
}

/** Rows of those that differ first, each by itself; then the others by their group. */
export function rowsOf(job: Job, grid: Grid, open: ReadonlySet<string>, by: string): {rows: Row[]; differ: number} {
  const order = [...Array(job.devices).keys()];
  order.sort((a, b) => Math.abs(grid.apart[b] ?? 0) - Math.abs(grid.apart[a] ?? 0));
  const differ = order.filter((device) => Math.abs(grid.apart[device] ?? 0) >= DIFFERS);
  const listed = new Set(differ.slice(0, MOST_APART));
  const rows: Row[] = [];
  addDevices(job, [...listed], 0, rows);
  const alike = [...Array(job.devices).keys()].filter((device) => !listed.has(device));
  addGroup(job, [...job.groups(alike, by)], 0, open, rows);
  return {rows, differ: differ.length};
}

/** Returns what a row shows in a step: the device, of several the one that differs most. */
export function cellOf(job: Job, grid: Grid, row: Row, step: number): {device: number; ns: number; more: number} {
  const count = job.steps.length;
  let best = {device: row.devices[0] ?? 0, ns: Number.NaN, more: Number.NaN};
  for (const device of row.devices) {
    const more = grid.more[device * count + step] ?? Number.NaN;
    if (Number.isNaN(best.more) || Math.abs(more) > Math.abs(best.more))
      best = {device, ns: grid.ns[device * count + step] ?? Number.NaN, more};
  }
  return best;
}

function mean(values: Float64Array, from: number, count: number): Cell {
  let sum = 0;
  let there = 0;
  for (let i = from; i < from + count; i += 1) {
    const value = values[i] ?? Number.NaN;
    if (!Number.isNaN(value)) {
      sum += value;
      there += 1;
    }
  }
  return there > 0 ? Math.round(sum / there) : null;
}

/** The devices as a table that sorts. */
export function tableOf(job: Job, measure: string, grid: Grid): Table {
  const columns: Column[] = [
    {name: "rank", type: "int", unit: "", help: "rank of the process"},
    {name: "host", type: "text", unit: "", help: "machine"},
    {name: "device", type: "int", unit: "", help: "device number"},
    {
      name: "difference_ns",
      type: "int",
      unit: "ns",
      help: `${measure}: most that it differs from the median in a step`,
    },
  ];
  const count = job.steps.length;
  const all = [...Array(job.devices).keys()];
  const cells: (number | null)[][] = [
    job.packed.ranks,
    job.packed.host_of,
    job.packed.devices,
    all.map((device) => Math.round((grid.apart[device] ?? 0) * job.step_ns)),
  ];
  for (const {name, place} of job.packed.layout ?? []) {
    columns.push({name, type: "int", unit: "", help: `place in its ${name} group, from 0`});
    cells.push(place);
  }
  for (const name of job.measures()) {
    const ns = job.ns(name);
    columns.push({name: `${name}_ns`, type: "int", unit: "ns", help: `${name}, mean of the steps`});
    cells.push(all.map((device) => mean(ns, device * count, count) as number | null));
  }
  return new Table(
    {name: "ranks of the map", help: "", rows: job.devices, sort: "difference_ns", columns, cells},
    job.packed.hosts,
  );
}
