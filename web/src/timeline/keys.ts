// SPDX-License-Identifier: Apache-2.0
// The keys of a timeline, as in Perfetto.
import type {Model} from "./model";

export interface Asked {
  search: () => void; // puts the cursor into the search
  help: () => void; // shows or hides the list of keys
  leave: () => void; // gives the wheel back to the page
}

type Act = (model: Model, asked: Asked) => void;

function withLane(model: Model, act: (lane: number) => void) {
  if (model.lane !== undefined) act(model.lane);
}

export const KEYS: readonly {keys: readonly string[]; says: string; act: Act}[] = [
  {keys: ["w", "+", "="], says: "zoom in", act: (model) => model.zoom(1 / 1.4)},
  {keys: ["s", "-"], says: "zoom out", act: (model) => model.zoom(1.4)},
  {keys: ["a", "ArrowLeft"], says: "move to earlier", act: (model) => model.pan(-0.2)},
  {keys: ["d", "ArrowRight"], says: "move to later", act: (model) => model.pan(0.2)},
  {keys: ["ArrowUp"], says: "lane above", act: (model) => model.moveLane(-1)},
  {keys: ["ArrowDown"], says: "lane below", act: (model) => model.moveLane(1)},
  {keys: ["PageUp"], says: "lanes further up", act: (model) => model.scrollTo(model.scroll - model.height * 0.8)},
  {keys: ["PageDown"], says: "lanes further down", act: (model) => model.scrollTo(model.scroll + model.height * 0.8)},
  {keys: ["[", ","], says: "event before, of its lane", act: (model) => model.neighbour(-1)},
  {keys: ["]", "."], says: "event after, of its lane", act: (model) => model.neighbour(1)},
  {keys: ["f"], says: "what is selected fills the view", act: (model) => model.focus()},
  {keys: ["m"], says: "select the time of the event", act: (model) => model.mark()},
  {keys: ["Enter"], says: "open or close its rank", act: (model) => model.toggle("open", model.traceInFocus())},
  {
    keys: ["p"],
    says: "pin its lane to the top",
    act: (model) => withLane(model, (lane) => model.toggle("pinned", lane)),
  },
  {keys: ["h"], says: "hide its lane", act: (model) => withLane(model, (lane) => model.toggle("hidden", lane))},
  {keys: ["/"], says: "search", act: (_, asked) => asked.search()},
  {keys: ["n"], says: "next that was found", act: (model) => model.goToHit(model.hit + 1)},
  {keys: ["N"], says: "one found before", act: (model) => model.goToHit(model.hit - 1)},
  {keys: ["0"], says: "whole recording", act: (model) => model.show(model.bounds)},
  {
    keys: ["Escape"],
    says: "select nothing; again: the wheel scrolls the page",
    act: (model, asked) => (model.event || model.range || model.query ? model.clear() : asked.leave()),
  },
  {keys: ["?"], says: "show the keys", act: (_, asked) => asked.help()},
];

/** Does what the key says; false where it says nothing. */
export function press(event: KeyboardEvent, model: Model, asked: Asked): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const key = event.key.length === 1 && event.key !== "N" ? event.key.toLowerCase() : event.key;
  const found = KEYS.find(({keys}) => keys.includes(key));
  found?.act(model, asked);
  return found !== undefined;
}
