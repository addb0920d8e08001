// SPDX-License-Identifier: Apache-2.0
// A flame graph of calls: as wide as their time, callees below callers. A click or Enter on a call makes it the whole;
// arrows go from call to call.
import {useState} from "preact/hooks";
import {duration, percent} from "../format";
import type {Flame} from "./source";

const MOST_DEPTH = 40;
const NARROWEST = 0.002; // share of the width; narrower calls are not drawn

interface Box {
  path: string;
  node: Flame;
  depth: number;
  left: number; // shares of the width
  width: number;
}

/** The boxes below a root, and how much of it they are. */
export function boxesOf(roots: readonly Flame[]): Box[] {
  const boxes: Box[] = [];
  const whole = roots.reduce((sum, {total_ns}) => sum + total_ns, 0) || 1;
  const add = (nodes: readonly Flame[], depth: number, left: number, path: string) => {
    let at = left;
    for (const node of [...nodes].sort((a, b) => b.total_ns - a.total_ns)) {
      const width = node.total_ns / whole;
      const own = `${path}/${node.name}`;
      if (width >= NARROWEST && depth < MOST_DEPTH) {
        boxes.push({path: own, node, depth, left: at, width});
        add(node.children, depth + 1, at, own);
      }
      at += width;
    }
  };
  add(roots, 0, 0, "");
  return boxes;
}

/** The box that an arrow leads to. */
function neighbour(boxes: readonly Box[], from: Box, key: string): Box | undefined {
  const inside = (outer: Box, inner: Box) => inner.path.startsWith(`${outer.path}/`);
  if (key === "ArrowDown") return boxes.find((box) => box.depth === from.depth + 1 && inside(from, box));
  if (key === "ArrowUp") return boxes.find((box) => box.depth === from.depth - 1 && inside(box, from));
  const line = boxes.filter(({depth}) => depth === from.depth).sort((a, b) => a.left - b.left);
  const at = line.indexOf(from);
  return key === "ArrowRight" ? line[at + 1] : key === "ArrowLeft" ? line[at - 1] : undefined;
}

const COLOUR: Record<string, string> = {annotation: "annotation", operator: "operator"};

export function FlameGraph({roots, find}: {roots: readonly Flame[]; find: (name: string) => void}) {
  const [path, setPath] = useState<readonly Flame[]>([]);
  const [at, setAt] = useState("");
  const zoomed = path.at(-1);
  const boxes = boxesOf(zoomed ? [zoomed] : roots);
  if (boxes.length === 0) return null;
  const whole = roots.reduce((sum, {total_ns}) => sum + total_ns, 0) || 1;
  const current = boxes.find((box) => box.path === at) ?? boxes[0];
  const into = (box: Box) => {
    if (box.node !== zoomed) setPath([...path, box.node]);
    else setPath(path.slice(0, -1));
    setAt("");
  };
  const key = (event: KeyboardEvent, box: Box) => {
    const next = neighbour(boxes, box, event.key);
    if (event.key === "Escape" && path.length > 0) setPath(path.slice(0, -1));
    else if (event.key === "/") find(box.node.name);
    else if (!next) return;
    event.preventDefault();
    if (!next) return;
    setAt(next.path);
    const all = (event.currentTarget as HTMLElement).parentElement?.children;
    (all?.[boxes.indexOf(next)] as HTMLElement | undefined)?.focus();
  };
  const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
  return (
    <div class="tl-flame">
      <h3>Calls of the host</h3>
      <p class="dim">
        as wide as their time in the selection; a click makes a call the whole, again leads back, arrows go from call to
        call
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: boxes of a picture are no set of fields */}
      <div role="group" aria-label="Flame graph" style={{height: `${depth * 20}px`}}>
        {boxes.map((box) => (
          <button
            key={box.path}
            type="button"
            tabIndex={box === current ? 0 : -1}
            style={{
              left: `${100 * box.left}%`,
              width: `${100 * box.width}%`,
              top: `${20 * box.depth}px`,
              background: `var(--${COLOUR[box.node.kind] ?? "call"})`,
            }}
            title={`${box.node.name}\n${duration(box.node.total_ns)}, ${percent(box.node.total_ns / whole)}; itself ${duration(box.node.self_ns)}`}
            onClick={() => into(box)}
            onKeyDown={(event) => key(event, box)}
          >
            {box.node.name}
          </button>
        ))}
      </div>
      {zoomed && (
        <button type="button" onClick={() => setPath([])}>
          whole selection
        </button>
      )}
    </div>
  );
}
