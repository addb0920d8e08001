// SPDX-License-Identifier: Apache-2.0
// The picture: strip, axis, names, lanes, on canvases that are painted once a frame at most.
import {options} from "preact";
import {useContext, useEffect, useRef, useState} from "preact/hooks";
import {duration} from "../format";
import {onPrint, PAPER} from "../print";
import {ThemeContext} from "../theme";
import type {Event} from "./data";
import {titleOf} from "./details";
import {drawLanes, prepared, type Scene} from "./draw";
import {type Asked, press} from "./keys";
import {inSight} from "./lanes";
import type {Model} from "./model";
import {Names} from "./names";
import {drawAxis, drawOver} from "./overlay";
import {type Palette, palette} from "./palette";
import {Pointer} from "./pointer";
import {drawStrip, STRIP, Strip, stripNeeds} from "./strip";
import {xOf} from "./view";

const AXIS = 24;
const LEAST = 160; // px of lanes
const MOST = 680;
const MOST_PRINTED = 3000;

type Ref<T> = {current: T | null};

interface Canvases {
  main: Ref<HTMLCanvasElement>;
  over: Ref<HTMLCanvasElement>;
  axis: Ref<HTMLCanvasElement>;
  place: Ref<HTMLDivElement>;
  base: Ref<HTMLSpanElement>;
  window: Ref<HTMLDivElement>;
}

/** Paints what changed, when the browser is about to show it. */
class Painter {
  colours: Palette = palette();
  hover: Event | undefined;
  private frame = 0;
  private strip = "";
  private strips = 0;

  constructor(
    readonly model: Model,
    readonly on: Canvases,
  ) {}

  ask = () => {
    if (this.frame === 0) this.frame = requestAnimationFrame(this.paint);
  };

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
  }

  /** Other colours, or other tiles: the strip is drawn again, too. */
  renew(colours = false): void {
    if (colours) this.colours = palette();
    this.strips += 1;
    this.ask();
  }

  readonly paint = () => {
    this.frame = 0;
    const {model, on, colours} = this;
    const {width, height, view, level} = model;
    const placed = inSight(model.layout, model.scroll, height);
    const pieces = new Map(placed.map(({row: {trace}}) => [trace.trace, model.pieces(trace.trace)] as const));
    const steps = model.stepsOf(model.traceInFocus());
    const scene: Scene = {
      ...{width, height, view, level, placed, steps, colours, pattern: model.pattern},
      pieces: (trace) => pieces.get(trace) ?? [],
    };
    const main = on.main.current && prepared(on.main.current, scene);
    if (main) drawLanes(main, scene);
    this.paintOver();
    const axis = on.axis.current && prepared(on.axis.current, {width, height: AXIS});
    if (axis && on.base.current) on.base.current.textContent = drawAxis(axis, model, {width, height: AXIS}, colours);
    this.paintStrip();
    const drawn = placed.filter(({row}) => row.lanes.length > 0).map(({row}) => row.trace.trace);
    const seen = {traces: [...new Set(drawn)], from: view.from, to: view.to, level};
    model.source.want([seen, stripNeeds(model, width)]);
  };

  paintOver(): void {
    const {model, on} = this;
    const over = on.over.current && prepared(on.over.current, model);
    if (over) drawOver(over, model, this.hover, model, this.colours);
  }

  private paintStrip(): void {
    const {model, on} = this;
    const {width, view, bounds} = model;
    const canvas = on.window.current?.parentElement?.querySelector("canvas");
    const is = `${width} ${this.strips}`;
    if (canvas && is !== this.strip) {
      const context = prepared(canvas, {width, height: STRIP});
      if (context) drawStrip(context, model, width, this.colours);
      this.strip = is;
    }
    const from = xOf(view.from, bounds, width);
    const style = on.window.current?.style;
    if (!style) return;
    style.transform = `translateX(${from}px)`;
    style.width = `${Math.max(3, xOf(view.to, bounds, width) - from)}px`;
  }
}

/** Runs the change of a state at once: the browser prints what is there when it asks. */
function atOnce(change: () => void): void {
  const {debounceRendering} = options;
  options.debounceRendering = (draw) => draw();
  change();
  if (debounceRendering) options.debounceRendering = debounceRendering;
  else delete options.debounceRendering;
}

/** The lines of the tooltip over an event. */
function tipOf(model: Model, event: Event): [string, string] {
  const idle = model.lanes.get(event.lane)?.info.kind === "idle";
  const several = event.count > 1 ? `, ${event.count} short ones together, the longest is named` : "";
  const kind = idle || event.kind === event.name ? "" : ` · ${event.kind}`;
  return [titleOf(model, event), `${duration(event.end - event.start)}${kind}${several}`];
}

function place(tip: HTMLDivElement, at: {x: number; y: number}, width: number): void {
  tip.style.left = `${Math.max(0, Math.min(at.x + 14, width - tip.offsetWidth))}px`;
  tip.style.top = `${at.y + 18}px`;
}

/** The size of the place is the size of the picture; on paper all lanes are shown. */
function useSize(model: Model, place: Ref<HTMLDivElement>, printing: boolean) {
  const all = model.layout.pinnedHeight + model.layout.height;
  const most = printing ? MOST_PRINTED : Math.max(LEAST, Math.min(MOST, Math.round(innerHeight * 0.62)));
  const height = Math.max(printing ? 0 : LEAST, Math.min(all, most));
  const measure = () => {
    const width = place.current?.clientWidth ?? 0;
    if (width > 0 && (width !== model.width || height !== model.height)) model.resize(width, height);
  };
  useEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (place.current) observer.observe(place.current);
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, [model, height]);
  return {height, measure};
}

interface Props {
  model: Model;
  asked: Asked;
  /** Something beside the picture is another: draw that again. */
  redraw: () => void;
  /** The element that takes the keys. */
  place: Ref<HTMLDivElement>;
}

export function Stage({model, asked, redraw, place: keys}: Props) {
  const theme = useContext(ThemeContext);
  const [printing, setPrinting] = useState(false);
  const on: Canvases = {
    main: useRef(null),
    over: useRef(null),
    axis: useRef(null),
    place: keys,
    base: useRef(null),
    window: useRef(null),
  };
  const tip = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter>();
  painter.current ??= new Painter(model, on);
  const {height, measure} = useSize(model, on.place, printing);

  useEffect(() => {
    const paint = painter.current;
    const canvas = on.main.current;
    if (!paint || !canvas) return;
    model.changed = (more) => {
      paint.ask();
      if (more) redraw();
    };
    model.source.onChange(() => {
      model.tiles += 1;
      paint.renew();
      redraw();
    });
    new Pointer(canvas, model, (event, at, text) => {
      const other = event?.start !== paint.hover?.start || event?.lane !== paint.hover?.lane;
      paint.hover = event;
      if (other) paint.paintOver();
      if (!tip.current) return;
      const [title, line] = event ? tipOf(model, event) : [text, ""];
      tip.current.hidden = !title || !at;
      tip.current.replaceChildren(Object.assign(document.createElement("b"), {textContent: title}), line);
      if (at) place(tip.current, at, model.width);
    });
    redraw(); // its size is known by now
    return () => paint.stop();
  }, [model]);

  useEffect(() => painter.current?.renew(true), [theme]);
  useEffect(() => {
    if (bar.current && Math.abs(bar.current.scrollTop - model.scroll) > 1) bar.current.scrollTop = model.scroll;
  });
  useEffect(() => {
    return onPrint((paper) => {
      atOnce(() => setPrinting(paper));
      measureRef.current();
      atOnce(redraw);
      painter.current?.renew(true);
      painter.current?.stop();
      painter.current?.paint();
    });
  }, [model]);
  const measureRef = useRef(measure);
  measureRef.current = measure;

  const key = (event: KeyboardEvent) => press(event, model, asked) && event.preventDefault();
  return (
    <div class="tl" style={printing ? {width: `${PAPER}px`} : {}}>
      <div class="tl-head">
        <span class="tl-base" ref={on.base} />
        <div>
          <Strip model={model} window={on.window} />
          <canvas ref={on.axis} class="tl-axis" />
        </div>
      </div>
      <div class="tl-body" style={{height: `${height}px`}}>
        <Names model={model} />
        <div
          class="tl-place"
          ref={on.place}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move over a picture
          tabIndex={0}
          role="application"
          aria-label="Timeline: W and S zoom, A and D move, arrows up and down choose a lane, brackets go from event to event, ? shows all keys"
          aria-describedby="tl-said"
          onKeyDown={key}
        >
          <canvas ref={on.main} class="tl-main" />
          <canvas ref={on.over} class="tl-over" />
          <div ref={tip} class="tl-tip" hidden />
        </div>
        <div ref={bar} class="tl-bar" onScroll={(event) => model.scrollTo(event.currentTarget.scrollTop)} tabIndex={-1}>
          <div style={{height: `${model.layout.height + Math.min(model.layout.pinnedHeight, height * 0.4)}px`}} />
        </div>
      </div>
    </div>
  );
}
