// SPDX-License-Identifier: Apache-2.0
// The map of a large job: a page of the sample into which a packed ledger of 10,000 ranks is put, as the program writes it.
import {mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {expect, test} from "@playwright/test";
import type {Inlined, PackedRankMap} from "../src/data";
import {ON_SCHEDULE, open, sizesOf, violations} from "./browser";
import {RECORDINGS, type Recording, reportOf} from "./recordings";

const RANKS = 10_000;
const STEPS = 6;
const SLOW = 4321; // in every step
const ONCE = 77; // in step 3

function packed(name: string, ns: (rank: number, step: number) => number): PackedRankMap["columns"][number] {
  const all = Float64Array.from({length: RANKS * STEPS}, (_, i) => ns(Math.floor(i / STEPS), i % STEPS));
  const unit = Math.max(...all) / 65534;
  const cells = Uint16Array.from(all, (value) => Math.round(value / unit));
  return {name, unit_ns: unit, cells: Buffer.from(cells.buffer).toString("base64")};
}

function own(rank: number, step: number): number {
  return rank === SLOW ? 1e6 : rank === ONCE && step === 3 ? 1.1e6 : 8e5 + ((rank * 7 + step) % 11) * 100;
}

const ranks = [...Array(RANKS).keys()];
const map: PackedRankMap = {
  ranks,
  devices: ranks.map((rank) => rank % 8),
  hosts: Array.from({length: RANKS / 8}, (_, host) => `node-${String(host).padStart(4, "0")}`),
  host_of: ranks.map((rank) => Math.floor(rank / 8)),
  steps: [...Array(STEPS).keys()],
  all_devices: RANKS,
  all_steps: STEPS,
  columns: [
    packed("wall_ns", () => 1.3e6),
    packed("compute_ns", own),
    packed("exposed_comm_ns", (rank, step) => 1.3e6 - own(rank, step)),
  ],
};

// Two stages: the even ranks are the first, which has a fifth more to do.
const staged: PackedRankMap = {
  ...map,
  layout: [
    {name: "pipeline", place: ranks.map((rank) => rank % 2), group: ranks.map((rank) => Math.floor(rank / 2))},
    {name: "data", place: ranks.map((rank) => Math.floor(rank / 2)), group: ranks.map((rank) => rank % 2)},
  ],
  columns: [
    packed("wall_ns", () => 1.6e6),
    packed("exposed_comm_ns", (rank, step) => 1.6e6 - own(rank, step) * (rank % 2 === 0 ? 1.2 : 1)),
  ],
};

/** The page of the first recording with a map in it. */
function page(packedMap: PackedRankMap = map): string {
  const report = reportOf(RECORDINGS[0] as Recording);
  const whole = readFileSync(report, "utf8");
  const from = whole.indexOf('id="data">') + 'id="data">'.length;
  const to = whole.indexOf("</script>", from);
  const data = JSON.parse(whole.slice(from, to)) as Inlined;
  for (const trace of data.timeline?.overview.traces ?? []) trace.rank = 0;
  const file = join(dirname(report), `map-${process.pid}-${packedMap.layout ? "staged" : "plain"}`, "page.html");
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, whole.slice(0, from) + JSON.stringify({...data, rank_map: packedMap}) + whole.slice(to));
  return file;
}

test("the map of 10,000 ranks is small, and shows those that differ first", ON_SCHEDULE, async ({page: tab}) => {
  const file = page();
  expect(statSync(file).size).toBeLessThan(3_000_000);
  expect(await open(tab, file)).toEqual([]);
  const section = tab.locator("#ranks");
  await expect(section).toContainText("2 of 10000 ranks differ");
  const heat = section.locator(".rank-map");
  await heat.focus();
  await expect(section.locator("#rank-map-cell")).toContainText(`rank ${ONCE}`);
  await tab.keyboard.press("ArrowDown");
  await expect(section.locator("#rank-map-cell")).toContainText(`rank ${SLOW} on node-0540, step 0`);
  await expect(section.locator("#rank-map-cell")).toContainText("more than the median rank");
});

test("a group of alike ranks opens and closes by the keyboard", ON_SCHEDULE, async ({page: tab}) => {
  await open(tab, page());
  const heat = tab.locator("#ranks .rank-map");
  const cell = tab.locator("#rank-map-cell");
  await heat.focus();
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("ArrowDown");
  await expect(cell).toContainText("node-0000 … node-0052");
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("ArrowDown");
  await expect(cell).toContainText("node-0000 … node-0002: 24 ranks");
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("ArrowDown");
  await expect(cell).toContainText("node-0000: 8 ranks");
  await tab.keyboard.press("ArrowUp");
  await tab.keyboard.press("Enter");
  await tab.keyboard.press("ArrowDown");
  await expect(cell).toContainText("node-0003 … node-0005: 24 ranks");
});

test("the table sorts by what was chosen, and the layout names what the mouse is over", async ({page: tab}) => {
  await open(tab, page());
  const section = tab.locator("#ranks");
  const first = section.locator("tbody tr").first();
  await expect(first.locator("[data-column=rank]")).toHaveAttribute("data-value", String(ONCE));
  await section.getByRole("button", {name: /^rank/}).click();
  await expect(first.locator("[data-column=rank]")).toHaveAttribute("data-value", "9999");
  await section.getByLabel("Time to compare").selectOption("whole step");
  await expect(section).toContainText("0 of 10000 ranks differ");
  await section.locator(".rank-layout").hover({position: {x: 2, y: 2}});
  await expect(section.locator(".rank-cell").last()).toContainText("node-0000, rank 0");
});

test("ranks of a pipeline are held against those of their stage", async ({page: tab}) => {
  await open(tab, page(staged));
  const section = tab.locator("#ranks");
  await expect(section).toContainText("2 of 10000 ranks differ from the median rank of their pipeline place");
  await section.locator(".rank-map").focus();
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("ArrowDown");
  await expect(section.locator("#rank-map-cell")).toContainText("pipeline 0");
  await section.locator(".rank-layout").hover({position: {x: 2, y: 2}});
  await expect(section.locator(".rank-cell").last()).toContainText("pipeline group of rank 0, pipeline 0, rank 0");
  await expect(section.locator(".rank-layout canvas")).toHaveAttribute(
    "aria-label",
    /^5000 pipeline groups with 10000/,
  );
  await section.getByLabel("Group ranks by").selectOption("host");
  await expect(section).toContainText(/[45]\d{3} of 10000 ranks differ from the median rank by/); // a whole stage
});

// The report has the timeline of one rank, which becomes number 0; the map has its steps for all.
test(
  "a cell of one rank leads to its step in the timeline, or the page says that it has none of that rank",
  ON_SCHEDULE,
  async ({page: tab}) => {
    const ofTheSlow = ranks.map((rank) => (rank === SLOW ? 0 : rank + 1));
    await open(tab, page({...map, steps: [5, 6, 7, 8, 9, 10], ranks: ofTheSlow}));
    const heat = tab.locator("#ranks .rank-map");
    const timeline = tab.locator("#timeline");
    await heat.focus();
    await tab.keyboard.press("Enter");
    await expect(timeline).toContainText("does not hold that event, or its rank");
    await heat.focus();
    await tab.keyboard.press("ArrowDown");
    await tab.keyboard.press("ArrowRight");
    await tab.keyboard.press("Enter");
    await expect(timeline).not.toContainText("does not hold");
    await expect(timeline.getByRole("spinbutton", {name: "Step"})).toHaveValue("6");
    await timeline.getByRole("button", {name: "back to the ranks"}).click();
    await expect(heat).toBeFocused();
  },
);

test("the map is usable with assistive tools, dark and light, wide and narrow", ON_SCHEDULE, async ({page: tab}) => {
  const file = page();
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of sizesOf(colorScheme, [1280, 390])) {
      await tab.emulateMedia({colorScheme});
      await tab.setViewportSize({width, height: 900});
      await open(tab, file);
      expect(await violations(tab)).toEqual([]);
      expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  }
});
