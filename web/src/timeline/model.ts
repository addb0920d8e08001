// SPDX-License-Identifier: Apache-2.0
// The state of a timeline and what one can do with it, without a picture: the view, the lanes, what is selected, and what
// was found. Whoever draws it listens to `changed`.
import {type Address, read} from "./address";
import {
  type Event,
  eachEvent,
  eventOf,
  firstAfter,
  idKindOf,
  type LaneInfo,
  type Piece,
  type StepSpan,
  slowestOf,
  type TraceInfo,
} from "./data";
import {counted} from "./draw";
import type {Target} from "./jump";
import {type Choice, inSight, isCurve, type Layout, layOut, NOTHING, pinnedHeight, type Row} from "./lanes";
import {type EventInfo, type Found, patternOf, type Selection, type Source} from "./source";
import {around, clamped, levelOf, panned, timeOf, type View, zoomed} from "./view";

export interface Range extends View {
  trace: number;
}

const MOST_NEIGHBOURS = 24; // views that a search for the next event looks at

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export class Model {
  view: View;
  readonly bounds: View;
  width = 800;
  height = 400; // height of the lanes in sight
  scroll = 0;
  layout: Layout = NOTHING;
  choice: Choice;
  lane: number | undefined; // the one that keys and the list are about
  event: Event | undefined;
  info: EventInfo | undefined;
  range: Range | undefined;
  sums: Selection | undefined;
  query = "";
  found: Found | undefined;
  hit = -1;
  pattern: RegExp | undefined;
  said = ""; // for screen readers
  refused = {search: "", sums: ""}; // why the source has none
  readonly lanes = new Map<number, {info: LaneInfo; trace: TraceInfo}>();
  readonly slowest: StepSpan | undefined;
  tiles = 0; // how often tiles came
  private readonly steps = new Map<number, StepSpan[]>(); // trace -> steps
  /** Called when the picture is another; `more`: what is around it, too. */
  changed: (more: boolean) => void = () => {};
  /** Called when the view or what is selected became another; `jump`: the way back is worth a place in the history. */
  moved: (jump: boolean) => void = () => {};

  /** `slowest`: the step that is shown first; else the one that took the host longest. */
  constructor(
    readonly source: Source,
    slowest?: StepSpan,
  ) {
    const {overview} = source;
    this.bounds = {from: Math.min(overview.from_ns, overview.to_ns - 1), to: overview.to_ns};
    for (const trace of overview.traces) for (const info of trace.lanes) this.lanes.set(info.lane, {info, trace});
    for (const step of overview.steps) {
      const steps = this.steps.get(step.trace);
      if (steps) steps.push(step);
      else this.steps.set(step.trace, [step]);
    }
    this.slowest = slowest ?? slowestOf(overview.steps);
    const first = this.slowest?.trace ?? overview.traces[0]?.trace ?? 0;
    this.choice = {open: new Set([first]), pinned: new Set(), hidden: new Set(), filter: ""};
    this.view = this.slowest
      ? clamped({from: this.slowest.ts_ns, to: this.slowest.ts_ns + this.slowest.dur_ns}, this.bounds)
      : this.bounds;
    this.relay();
  }

  get level(): number {
    return levelOf(this.view, this.width);
  }

  pieces(trace: number): readonly Piece[] {
    return this.source.pieces(trace, this.view.from, this.view.to, this.level);
  }

  trace(number: number): TraceInfo | undefined {
    return this.source.overview.traces.find(({trace}) => trace === number);
  }

  stepsOf(trace: number): readonly StepSpan[] {
    return this.steps.get(trace) ?? [];
  }

  /** The step that holds the middle of the view on the trace that is looked at, else on that of the slowest. */
  step(): StepSpan | undefined {
    const middle = (this.view.from + this.view.to) / 2;
    return this.stepAt(this.traceInFocus(), middle) ?? this.stepAt(this.slowest?.trace ?? 0, middle);
  }

  stepAt(trace: number, time: number): StepSpan | undefined {
    return this.stepsOf(trace).find(({ts_ns, dur_ns}) => ts_ns <= time && time < ts_ns + dur_ns);
  }

  traceInFocus(): number {
    const {overview} = this.source;
    const of = this.lane === undefined ? undefined : this.lanes.get(this.lane)?.trace.trace;
    return of ?? this.slowest?.trace ?? overview.traces[0]?.trace ?? 0;
  }

  // ---- the view

  show(view: View, jump = false): void {
    this.view = clamped(view, this.bounds);
    this.changed(false);
    this.moved(jump);
  }

  zoom(factor: number, at = (this.view.from + this.view.to) / 2): void {
    this.show(zoomed(this.view, factor, at, this.bounds));
  }

  pan(share: number): void {
    this.show(panned(this.view, share, this.bounds));
  }

  showStep(number: number, trace = this.traceInFocus(), jump = false): boolean {
    const all = this.source.overview.steps.filter((step) => step.number === number);
    const step = all.find((one) => one.trace === trace) ?? all[0];
    if (step) this.show({from: step.ts_ns, to: step.ts_ns + step.dur_ns}, jump);
    return step !== undefined;
  }

  showSlowest(): void {
    const {slowest} = this;
    if (slowest) this.show({from: slowest.ts_ns, to: slowest.ts_ns + slowest.dur_ns});
  }

  /** The span that is selected fills the view; without one the whole run. */
  focus(): void {
    const span = this.event ? {from: this.event.start, to: this.event.end} : this.range;
    this.show(span ? around(span.from, span.to, this.bounds) : this.bounds);
  }

  // ---- lanes

  private relay(): void {
    this.layout = layOut(this.source.overview, this.choice);
    this.scrollTo(this.scroll);
  }

  choose(choice: Partial<Choice>): void {
    this.choice = {...this.choice, ...choice};
    this.relay();
    this.changed(true);
  }

  toggle(of: "open" | "pinned" | "hidden", number: number): void {
    const next = new Set(this.choice[of]);
    if (!next.delete(number)) next.add(number);
    this.choose({[of]: next});
  }

  /** Scrolls the lanes; true if there was something to scroll. */
  scrollTo(top: number): boolean {
    const most = Math.max(0, this.layout.height - (this.height - pinnedHeight(this.layout, this.height)));
    const next = Math.min(most, Math.max(0, top));
    const moved = next !== this.scroll;
    this.scroll = next;
    if (moved) this.changed(true);
    return moved;
  }

  resize(width: number, height: number): void {
    this.width = width;
    this.height = height;
    this.scrollTo(this.scroll);
    this.changed(true);
  }

  /** Brings a lane into sight: its rank opens, and the rows scroll to it. */
  reveal(lane: number): void {
    const of = this.lanes.get(lane);
    if (!of) return;
    const open = new Set(this.choice.open).add(of.trace.trace);
    const hidden = new Set(this.choice.hidden);
    hidden.delete(lane);
    this.choice = {...this.choice, open, hidden};
    this.relay();
    if (!this.rowOf(lane) && this.choice.filter) {
      this.choice = {...this.choice, filter: ""};
      this.relay();
    }
    const row = this.rowOf(lane);
    const room = this.height - pinnedHeight(this.layout, this.height);
    if (row && (row.top < this.scroll || row.top + Math.min(row.height, room) > this.scroll + room))
      this.scrollTo(row.top - room / 4);
    this.lane = lane;
  }

  rowOf(lane: number): Row | undefined {
    return this.layout.rows.find((row) => row.kind === "lane" && row.lanes[0]?.lane === lane);
  }

  /** Keys go to the next lane, or the one before. */
  moveLane(by: number): void {
    const rows = this.layout.rows.filter((row) => row.lanes.some((lane) => !isCurve(lane)));
    const here = rows.findIndex((row) => row.lanes.some(({lane}) => lane === this.lane));
    const next = rows[Math.min(rows.length - 1, Math.max(0, here < 0 ? 0 : here + by))];
    if (!next?.lanes[0]) return;
    const room = this.height - pinnedHeight(this.layout, this.height);
    if (next.top < this.scroll) this.scrollTo(next.top);
    else if (next.top + next.height > this.scroll + room) this.scrollTo(next.top + Math.min(next.height, room) - room);
    this.lane = next.lanes[0].lane;
    this.said = next.title;
    this.changed(true);
  }

  // ---- events

  /** The events of a lane in the view, by start. */
  events(lane: number, view = this.view): Event[] {
    const of = this.lanes.get(lane);
    const events: Event[] = [];
    if (!of) return events;
    const pieces = this.source.pieces(of.trace.trace, view.from, view.to, levelOf(view, this.width));
    eachEvent(pieces, lane, view.from, view.to, (tile, spans, line, at) =>
      events.push(eventOf(tile, of.trace.trace, lane, spans, line, at)),
    );
    return events.sort((a, b) => a.start - b.start || a.line - b.line);
  }

  select(event: Event | undefined, jump = false): void {
    this.event = event;
    this.info = undefined;
    if (event) this.lane = event.lane;
    this.changed(true);
    this.moved(jump);
    const lane = event && this.lanes.get(event.lane);
    if (!lane || event.id < 0) return;
    this.source
      .event(idKindOf(lane.info.kind), event.id)
      .then((info) => {
        if (this.event !== event) return;
        this.info = info;
        this.changed(true);
      })
      .catch(() => {}); // the panel has what the tile said
  }

  /** The event before or after the selected one on its lane; the view follows it. */
  neighbour(by: 1 | -1): void {
    const lane = this.event?.lane ?? this.lane;
    if (lane === undefined) return;
    const {event} = this;
    let view = this.view;
    for (let tried = 0; tried < MOST_NEIGHBOURS; ++tried) {
      const line = this.events(lane, view).filter((one) => !event || one.line === event.line);
      const next = event
        ? by > 0
          ? line.find(({start}) => start > event.start)
          : line.filter(({start}) => start < event.start).at(-1)
        : line[0];
      if (next) {
        if (next.start < this.view.from || next.end > this.view.to) {
          const length = Math.max(this.view.to - this.view.from, (next.end - next.start) * 1.3);
          const middle = (next.start + next.end) / 2;
          this.view = clamped({from: middle - length / 2, to: middle + length / 2}, this.bounds);
        }
        this.select(next);
        return;
      }
      const moved = panned(view, 0.8 * by, this.bounds);
      if (moved.from === view.from) return;
      view = moved;
    }
  }

  /** Goes to an event by its id. */
  async open(kind: "gpu_op" | "slice", id: number, jump: boolean): Promise<boolean> {
    const info = await this.source.event(kind, id).catch(() => undefined);
    if (!info) return false;
    this.reveal(info.lane);
    const [start, end] = [info.ts_ns, info.ts_ns + info.dur_ns];
    const length = (end - start) / (this.view.to - this.view.from);
    const inside = this.view.from <= start && end <= this.view.to && length > 0.01;
    if (!inside) {
      const middle = (start + end) / 2;
      const half = Math.max((end - start) * 4, 2000);
      this.view = clamped({from: middle - half, to: middle + half}, this.bounds);
    }
    const drawn = this.events(info.lane).find((event) => event.id === id && event.start === start);
    const {trace, lane, name} = info;
    const event = drawn ?? {trace, lane, line: 0, start, end, name, kind: "", count: 1, busy: end - start, id};
    this.select(event, jump);
    if (!this.info) this.info = info;
    return true;
  }

  /** Finds what is at a place of the canvas: an event that is as close as a pointer can tell, and its lane. */
  at(x: number, y: number): {lane: LaneInfo; row: Row; event: Event | undefined} | undefined {
    const placed = inSight(this.layout, this.scroll, this.height).find(
      (one) => y >= Math.max(one.y, one.clip) && y < one.y + one.row.height,
    );
    if (!placed) return undefined;
    const {row} = placed;
    const line = Math.floor((y - placed.y) / row.line);
    const lane = row.kind === "rank" ? row.lanes[line] : row.lanes[0];
    if (!lane) return undefined;
    const time = timeOf(x, this.view, this.width);
    const near = (3 * (this.view.to - this.view.from)) / this.width;
    let [best, far] = [undefined as Event | undefined, near];
    const trace = row.trace.trace;
    eachEvent(this.pieces(trace), lane.lane, time - near, time + near, (tile, spans, of, place) => {
      if (of !== (row.kind === "rank" ? 0 : line)) return;
      const distance = Math.max(0, (spans.start[place] ?? 0) - time, time - (spans.end[place] ?? 0));
      if (best && distance >= far) return;
      far = distance;
      best = eventOf(tile, trace, lane.lane, spans, of, place);
    });
    return {lane, row, event: best};
  }

  /** The line of a linked event, as far as it is drawn. */
  lineOf(link: {lane: number; ts_ns: number; id: number}): number {
    const of = this.lanes.get(link.lane);
    let line = 0;
    if (of)
      eachEvent(this.pieces(of.trace.trace), link.lane, link.ts_ns, link.ts_ns + 1, (_, spans, at, place) => {
        if (spans.id[place] === link.id) line = at;
      });
    return line;
  }

  /** The value of a counter's lane at a time, in words. */
  valueAt(lane: LaneInfo | undefined, time: number): string {
    const of = lane && this.lanes.get(lane.lane);
    if (!lane || !of || !isCurve(lane)) return "";
    for (const {tile, from, to} of this.pieces(of.trace.trace)) {
      const curve = tile.curves.get(lane.lane);
      if (!curve || time < from || time >= to) continue;
      const at = firstAfter(curve.end, time, 0, curve.end.length);
      const [low, high] = [curve.low[at], curve.high[at]];
      if (low === undefined || high === undefined || (curve.start[at] ?? 0) > time) continue;
      const most = counted(high, lane.unit);
      return `${lane.label}: ${low === high ? most : `${counted(low, lane.unit)} to ${most}`}`;
    }
    return "";
  }

  // ---- ranges

  /** The range while it is being drawn: it has no sums yet. */
  drawRange(range: Range): void {
    this.range = {...clamped(range, this.bounds), trace: range.trace};
    this.sums = undefined;
    this.changed(true);
  }

  selectRange(range: Range | undefined): void {
    this.range = range && {...clamped(range, this.bounds), trace: range.trace};
    this.sums = undefined;
    this.refused.sums = "";
    this.changed(true);
    this.moved(false);
    const {range: of} = this;
    if (!of) return;
    this.source
      .selection(of.from, of.to, of.trace)
      .then((sums) => {
        if (this.range !== of) return;
        this.sums = sums;
        this.changed(true);
      })
      .catch((error) => {
        if (this.range !== of) return;
        this.refused.sums = messageOf(error);
        this.changed(true);
      });
  }

  /** The selected event's span becomes the selected range. */
  mark(): void {
    if (this.event) this.selectRange({from: this.event.start, to: this.event.end, trace: this.event.trace});
  }

  clear(): void {
    this.event = undefined;
    this.info = undefined;
    this.query = "";
    this.pattern = undefined;
    this.found = undefined;
    this.selectRange(undefined);
  }

  // ---- searching

  async search(query: string): Promise<void> {
    this.query = query;
    this.pattern = patternOf(query);
    this.refused.search = "";
    this.found = undefined;
    this.hit = -1;
    this.changed(true);
    // Something that is no pattern here may be one of the server's.
    if (!this.pattern && !(this.source.served && /^re:./.test(query))) return;
    const found = await this.source.search(query).catch((error) => {
      if (this.query === query) this.refused.search = messageOf(error);
      return {total: 0, hits: []};
    });
    if (this.query !== query) return;
    this.found = found;
    this.said = `${found.total} found`;
    this.changed(true);
  }

  goToHit(place: number): void {
    const hits = this.found?.hits ?? [];
    if (hits.length === 0) return;
    this.hit = (place + hits.length) % hits.length;
    const hit = hits[this.hit];
    if (!hit) return;
    this.said = `${this.hit + 1} of ${hits.length}: ${hit.name}`;
    if (hit.id >= 0 && (hit.kind === "gpu_op" || hit.kind === "slice")) {
      void this.open(hit.kind, hit.id, false);
      return;
    }
    this.reveal(hit.lane);
    this.view = around(hit.ts_ns, hit.ts_ns + hit.dur_ns, this.bounds);
    this.select(this.events(hit.lane).find(({start}) => start === hit.ts_ns));
  }

  // ---- from elsewhere

  /** Goes to a place that another part of the page names; false where the timeline does not have it. */
  async jump(target: Target): Promise<boolean> {
    const {overview} = this.source;
    const byRank = target.rank === undefined ? undefined : overview.traces.find(({rank}) => rank === target.rank);
    const trace = target.trace ?? byRank?.trace;
    if (target.gpu_op !== undefined && (await this.open("gpu_op", target.gpu_op, true))) return true;
    if (target.slice !== undefined && (await this.open("slice", target.slice, true))) return true;
    const isThere = trace === undefined ? target.rank === undefined : this.trace(trace) !== undefined;
    if (!isThere) return false; // a report draws some of the ranks of a large job
    const first = trace === undefined ? undefined : this.trace(trace)?.lanes[0];
    if (first) this.reveal(first.lane);
    if (target.from !== undefined) {
      const to = Math.max(target.from + 1, target.to ?? target.from + 1e6);
      this.show(around(target.from, to, this.bounds), true);
      this.selectRange({from: target.from, to, trace: trace ?? this.traceInFocus()});
      return true;
    }
    return target.step !== undefined && this.showStep(target.step, trace ?? this.traceInFocus(), true);
  }

  address(): Address {
    const lane = this.event && this.lanes.get(this.event.lane);
    const kind = lane && idKindOf(lane.info.kind);
    const id = this.event && this.event.id >= 0 ? this.event.id : undefined;
    return {
      from: this.view.from,
      to: this.view.to,
      op: kind === "gpu_op" ? id : undefined,
      slice: kind === "slice" ? id : undefined,
      range: this.range && [this.range.from, this.range.to],
      trace: this.range?.trace,
    };
  }

  /** Shows what an address says; false where it is none of a timeline. */
  async restore(hash: string): Promise<boolean> {
    const address = read(hash);
    if (!address) return false;
    const id = address.op ?? address.slice;
    if (id !== undefined) await this.open(address.op === undefined ? "slice" : "gpu_op", id, false);
    else this.select(undefined);
    if (address.from !== undefined && address.to !== undefined && address.from < address.to)
      this.view = clamped({from: address.from, to: address.to}, this.bounds);
    const [from, to] = address.range ?? [];
    const trace = address.trace ?? this.traceInFocus();
    this.selectRange(from === undefined || to === undefined ? undefined : {from, to, trace});
    return true;
  }
}
