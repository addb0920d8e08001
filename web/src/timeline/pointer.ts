// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel and fingers over the lanes. The wheel belongs to the page until Ctrl is held or the canvas was clicked.
import type {Event} from "./data";
import type {Model} from "./model";
import {timeOf} from "./view";

interface Point {
  x: number;
  y: number;
}

interface Drag extends Point {
  from: number; // start of the view
  to: number;
  scroll: number;
  selects: boolean;
  moved: boolean;
}

const MOVED = 4; // px that are no click any more
const WHEEL = 0.0018;
const PINCH = 0.01; // a pinch of a touch pad comes as a wheel with Ctrl, in small numbers

export class Pointer {
  private readonly points = new Map<number, Point>();
  private drag: Drag | undefined;
  private pinch: {distance: number; middle: number} | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly model: Model,
    private readonly hover: (event: Event | undefined, at: Point | undefined, text: string) => void,
  ) {
    canvas.addEventListener("pointerdown", this.down);
    canvas.addEventListener("pointermove", this.move);
    canvas.addEventListener("pointerup", this.up);
    canvas.addEventListener("pointercancel", this.cancel);
    canvas.addEventListener("pointerleave", this.leave);
    canvas.addEventListener("dblclick", this.twice);
    canvas.addEventListener("wheel", this.wheel, {passive: false});
  }

  private place(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  private time(x: number): number {
    return timeOf(x, this.model.view, this.model.width);
  }

  private readonly down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const at = this.place(event);
    this.points.set(event.pointerId, at);
    this.canvas.setPointerCapture(event.pointerId);
    const {view, scroll} = this.model;
    this.drag = {...at, from: view.from, to: view.to, scroll, selects: event.shiftKey, moved: false};
    this.pinch = undefined;
    this.hover(undefined, undefined, "");
  };

  private readonly move = (event: PointerEvent) => {
    const at = this.place(event);
    if (this.points.has(event.pointerId)) this.points.set(event.pointerId, at);
    if (this.points.size === 2) this.pinched();
    else if (this.drag) this.dragged(at, event.pointerType === "mouse");
    else this.pointed(at);
  };

  private pinched(): void {
    const [a, b] = [...this.points.values()];
    if (!a || !b) return;
    const distance = Math.max(16, Math.abs(a.x - b.x));
    const middle = (a.x + b.x) / 2;
    if (this.pinch) {
      this.model.zoom(this.pinch.distance / distance, this.time(this.pinch.middle));
      this.model.pan((this.pinch.middle - middle) / this.model.width);
    }
    this.pinch = {distance, middle};
    if (this.drag) this.drag.moved = true;
  }

  private dragged(at: Point, mouse: boolean): void {
    const {drag, model} = this;
    if (!drag || this.pinch) return;
    drag.moved ||= Math.abs(at.x - drag.x) > MOVED || Math.abs(at.y - drag.y) > MOVED;
    if (!drag.moved) return;
    if (drag.selects) {
      const [from, to] = [drag.x, at.x].map((x) => this.time(x)).sort((a, b) => a - b);
      const trace = model.at(drag.x, drag.y)?.row.trace.trace ?? model.traceInFocus();
      if (from !== undefined && to !== undefined) model.drawRange({from, to, trace});
      return;
    }
    const by = ((at.x - drag.x) / model.width) * (drag.to - drag.from);
    if (mouse) model.scrollTo(drag.scroll - (at.y - drag.y)); // fingers scroll the page
    model.show({from: drag.from - by, to: drag.to - by});
  }

  private pointed(at: Point): void {
    const found = this.model.at(at.x, at.y);
    this.hover(found?.event, at, found?.event ? "" : this.model.valueAt(found?.lane, this.time(at.x)));
  }

  private readonly up = (event: PointerEvent) => {
    const {drag, model} = this;
    this.points.delete(event.pointerId);
    if (this.points.size > 0) return;
    this.drag = undefined;
    this.pinch = undefined;
    if (!drag) return;
    if (drag.moved) {
      if (drag.selects) model.selectRange(model.range);
      return;
    }
    const found = model.at(drag.x, drag.y);
    if (found) model.lane = found.lane.lane;
    model.select(found?.event);
  };

  private readonly cancel = (event: PointerEvent) => {
    this.points.delete(event.pointerId);
    this.drag = undefined;
    this.pinch = undefined;
  };

  private readonly leave = () => this.hover(undefined, undefined, "");

  private readonly twice = (event: MouseEvent) => {
    const at = this.place(event);
    if (this.model.at(at.x, at.y)?.event) this.model.focus();
  };

  private readonly wheel = (event: WheelEvent) => {
    const pinches = event.ctrlKey || event.metaKey;
    if (!pinches && document.activeElement !== this.canvas.parentElement) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    const sideways = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
    if (!pinches && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      this.model.pan((sideways * unit) / this.model.width);
      return;
    }
    const by = event.deltaY * unit * (pinches && Math.abs(event.deltaY) < 20 ? PINCH : WHEEL);
    this.model.zoom(Math.exp(Math.max(-1, Math.min(1, by))), this.time(this.place(event).x));
  };
}
