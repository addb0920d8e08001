// SPDX-License-Identifier: Apache-2.0
// Utilisation, memory and power over time, and what a run costs, on the page of `gapless serve`: the numbers are those of
// `gapless query` and `gapless analyze --json`, a click leads to its instant, and what was not recorded is not there.
import {expect, type Page, test} from "@playwright/test";
import {ON_SCHEDULE, violations} from "./browser";
import {gapless, type SiteParts, startSite} from "./site_parts";

const SAMPLE = "samples/resnet50_v100.pt.trace.json.gz";
const RATES = ["--price", "2.49", "--watts", "300", "--carbon", "380"];
const GAUGES = ["gpu.utilization", "gpu.memory.used", "gpu.power"];

let site: SiteParts;
test.beforeAll(async () => {
  site = await startSite([...RATES, SAMPLE], true);
});
test.afterAll(() => {
  site?.stop();
});

async function gauge(page: Page, name: string) {
  const chart = page.locator(`[data-gauge="${name}"]`);
  await chart.scrollIntoViewIfNeeded();
  await expect(chart.locator("canvas")).toBeVisible();
  return chart;
}

test("each chart has the values that a query gives", async ({page}) => {
  await page.goto(`${site.address}?run=0`);
  for (const name of GAUGES) {
    const sql = `SELECT value FROM counter WHERE name = '${name}' ORDER BY ts_ns`;
    const values = JSON.parse(gapless("query", site.run, sql, "--no-cache", "--json")) as {value: number}[];
    const chart = await gauge(page, name);
    await expect(chart).toHaveAttribute("data-points", String(values.length));
    await expect(chart).toHaveAttribute("data-last", String(values.at(-1)?.value));
  }
  expect(await violations(page)).toEqual([]);
});

test("costs are those of analyze", async ({page}) => {
  await page.goto(`${site.address}?run=0`);
  const {cost} = JSON.parse(gapless("analyze", site.run, ...RATES, "--no-cache", "--json"));
  for (const [name, amount] of [
    ["a step", cost.step],
    ["a month", cost.month],
  ] as const) {
    await expect(page.locator(`[data-cost="${name}"]`)).toHaveAttribute("data-money", String(amount.money));
    await expect(page.locator(`[data-cost="${name}"]`)).toHaveAttribute("data-kwh", String(amount.kwh));
  }
  await expect(page.locator('[data-cost="watts"]')).toHaveAttribute("data-watts", "300");
});

test("a click leads to its instant in the timeline, and so does the choice of a step", ON_SCHEDULE, async ({page}) => {
  await page.goto(`${site.address}?run=0`);
  const seen = () =>
    page.evaluate(() => {
      const words = new URLSearchParams(location.hash.split("?")[1]);
      return {from: Number(words.get("from")), to: Number(words.get("to"))};
    });
  const [{end}] = JSON.parse(
    gapless(
      "query",
      site.run,
      "SELECT max(ts_ns + dur_ns) AS end FROM step WHERE complete = 1",
      "--no-cache",
      "--json",
    ),
  );
  const chart = await gauge(page, "gpu.power");
  const box = await chart.locator("canvas").boundingBox();
  const [left, right] = [70, 16]; // of the grid
  await chart.locator("canvas").click({position: {x: left + ((box?.width ?? 0) - left - right) / 2, y: 60}});
  await expect.poll(async () => (await seen()).from).toBeGreaterThan(0);
  const {from, to} = await seen();
  expect(Math.abs((from + to) / 2 - end / 2)).toBeLessThan(end / 50);
  await expect(page.locator("#timeline")).toBeInViewport();
  const section = page.locator("#over_time");
  await section.getByLabel("Step", {exact: true}).selectOption({index: 2});
  await section.getByRole("button", {name: "Show in the timeline"}).click();
  const [, , third] = JSON.parse(
    gapless("query", site.run, "SELECT ts_ns FROM step WHERE complete = 1 ORDER BY ts_ns", "--no-cache", "--json"),
  );
  await expect.poll(async () => Math.abs((await seen()).from - third.ts_ns)).toBeLessThan(end / 20);
});

test("what was not recorded is absent", async ({page}) => {
  await page.goto(`${site.address}?run=1`);
  await expect(page.locator("#over_time")).toContainText("What it costs");
  await expect(page.locator("[data-gauge]")).toHaveCount(0);
  const bare = await startSite([SAMPLE]);
  try {
    await page.goto(`${bare.address}?run=0`);
    await expect(page.locator("#steps")).toBeAttached();
    await expect(page.locator("#over_time")).toHaveCount(0);
  } finally {
    bare.stop();
  }
});
