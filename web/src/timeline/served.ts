// SPDX-License-Identifier: Apache-2.0
// The timeline that `gapless serve` has: tiles are fetched as they are seen, and kept as long as there is room.
import {type Overview, type Piece, type Tile, tileOf, type WrittenTile} from "./data";
import type {EventInfo, Found, Seen, Selection, Source} from "./source";

export const MOST_REQUESTS = 6; // at once, as browsers have connections to one server
const MOST_BYTES = 192e6;
const PIXELS = 1024; // width of a tile
const COARSEST = 44; // 2^44 ns are five hours a pixel
const AGAIN_MS = 4000; // until a request that failed is sent again

interface Place {
  trace: number;
  level: number;
  at: number;
}

const keyOf = ({trace, level, at}: Place) => `${trace}/${level}/${at}`;

/** Tiles by their place, the least recently used leave first when they take more than `most` bytes. */
export class TileCache {
  private readonly tiles = new Map<string, Tile>();
  private bytes = 0;

  constructor(private readonly most: number) {}

  get(place: Place): Tile | undefined {
    const key = keyOf(place);
    const tile = this.tiles.get(key);
    if (!tile) return undefined;
    this.tiles.delete(key); // to the end: it was used last
    this.tiles.set(key, tile);
    return tile;
  }

  has(place: Place): boolean {
    return this.tiles.has(keyOf(place));
  }

  put(place: Place, tile: Tile): void {
    const key = keyOf(place);
    this.bytes += tile.bytes - (this.tiles.get(key)?.bytes ?? 0);
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    for (const [old, {bytes}] of this.tiles) {
      if (this.bytes <= this.most || old === key) break;
      this.tiles.delete(old);
      this.bytes -= bytes;
    }
  }

  get size(): number {
    return this.tiles.size;
  }
}

/** The answer of a route; an error says what the server says. */
async function answer<T>(address: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(address, signal ? {signal} : {});
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error?.message ?? `${response.status} ${response.statusText}`);
  return body as T;
}

export class ServedSource implements Source {
  readonly served = true;
  private readonly cache: TileCache;
  private readonly running = new Map<string, AbortController>();
  private readonly failed = new Map<string, number>(); // when
  private queue: Place[] = [];
  private changed = () => {};
  private said = "";

  private constructor(
    private readonly address: string,
    readonly overview: Overview,
    bytes: number,
  ) {
    this.cache = new TileCache(bytes);
  }

  /** `address`: of a run, as /api/runs/0. */
  static async of(address: string, bytes = MOST_BYTES): Promise<ServedSource> {
    return new ServedSource(address, await answer<Overview>(`${address}/timeline`), bytes);
  }

  pieces(trace: number, from: number, to: number, level: number): Piece[] {
    const pieces: Piece[] = [];
    const span = PIXELS * 2 ** level;
    for (let at = Math.floor(from / span); at * span < to; ++at) this.cover({trace, level, at}, pieces);
    return pieces;
  }

  /** The tile of the place; until it is here the nearest coarser one, else the finer ones that are. */
  private cover(place: Place, pieces: Piece[]): void {
    const {trace, level, at} = place;
    const span = PIXELS * 2 ** level;
    const [from, to] = [at * span, (at + 1) * span];
    for (let up = level; up <= COARSEST; ++up) {
      const tile = this.cache.get({trace, level: up, at: Math.floor(at / 2 ** (up - level))});
      if (!tile) continue;
      const last = pieces.at(-1);
      if (last?.tile === tile) last.to = to;
      else pieces.push({tile, from, to});
      return;
    }
    if (level === 0) return;
    for (const finer of [2 * at, 2 * at + 1]) {
      const tile = this.cache.get({trace, level: level - 1, at: finer});
      if (tile) pieces.push({tile, from: (finer * span) / 2, to: ((finer + 1) * span) / 2});
    }
  }

  want(seen: readonly Seen[]): void {
    const wanted = seen.flatMap((one) => this.missing(one));
    const keys = new Set(wanted.map(keyOf));
    for (const [key, controller] of this.running) if (!keys.has(key)) controller.abort();
    this.queue = wanted.filter((place) => !this.running.has(keyOf(place)));
    this.next();
  }

  private missing({traces, from, to, level}: Seen): Place[] {
    const span = PIXELS * 2 ** level;
    const missing: Place[] = [];
    for (const trace of traces)
      for (let at = Math.max(0, Math.floor(from / span)); at * span < to; ++at) {
        const place = {trace, level, at};
        const failed = this.failed.get(keyOf(place)) ?? Number.NEGATIVE_INFINITY;
        if (!this.cache.has(place) && performance.now() - failed > AGAIN_MS) missing.push(place);
      }
    return missing;
  }

  private next(): void {
    while (this.running.size < MOST_REQUESTS) {
      const place = this.queue.shift();
      if (!place) return;
      void this.fetched(place);
    }
  }

  private async fetched(place: Place): Promise<void> {
    const key = keyOf(place);
    const controller = new AbortController();
    this.running.set(key, controller);
    try {
      const query = `trace=${place.trace}&level=${place.level}&at=${place.at}`;
      this.cache.put(place, tileOf(await answer<WrittenTile>(`${this.address}/tile?${query}`, controller.signal)));
      this.failed.delete(key);
      this.said = "";
    } catch (error) {
      if (!controller.signal.aborted) {
        this.failed.set(key, performance.now());
        setTimeout(() => this.changed(), AGAIN_MS + 1);
        this.said = error instanceof Error ? error.message : String(error);
      }
    }
    this.running.delete(key);
    this.next();
    this.changed();
  }

  isLoading(): boolean {
    return this.running.size > 0;
  }

  problem(): string {
    return this.said;
  }

  onChange(changed: () => void): void {
    this.changed = changed;
  }

  event(kind: "gpu_op" | "slice", id: number): Promise<EventInfo | undefined> {
    return answer(`${this.address}/event?kind=${kind}&id=${id}`);
  }

  selection(from: number, to: number, trace: number): Promise<Selection> {
    return answer(`${this.address}/selection?from=${Math.floor(from)}&to=${Math.ceil(to)}&trace=${trace}`);
  }

  search(text: string): Promise<Found> {
    return answer(`${this.address}/search?q=${encodeURIComponent(text)}&most=500`);
  }
}
