// SPDX-License-Identifier: Apache-2.0
// The page of `gapless trend --html`: it opens without a complaint, loads nothing, shows every metric with its changes, in
// the table and in the tooltips, and can be used with keys, without sight, and without scripts.
import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {expect, type Page, test} from "@playwright/test";
import {fourDigits, tick} from "../src/trend/data";
import {drawAll, inTheme, ON_SCHEDULE, open as openFile, sizesOf, violations} from "./browser";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = resolve(root, process.env["GAPLESS"] ?? "build/gapless");
const folder = resolve(process.env["GAPLESS_TEST_OUTPUT"] ?? join(root, "build/web"), `trend-${process.pid}`);
const MOST_BYTES = 1_500_000;

/** Throughput falls at run 40, utilisation rises there; a run a day, noise of a pattern. */
function historyOf(runs: number, name: string): string {
  mkdirSync(folder, {recursive: true});
  const rows = ["timestamp,commit_sha,branch,samples_per_second,gpu_utilization"];
  for (let run = 0; run < runs; ++run) {
    const noise = ((run * 7) % 11) / 11;
    const day = new Date(Date.UTC(2026, 0, 1 + run)).toISOString();
    const sha = run.toString(16).padStart(8, "0").padEnd(40, "a");
    const late = run >= 40;
    rows.push(`${day},${sha},main,${(late ? 736 : 800) + 8 * noise},${(late ? 84 : 70) + noise}`);
  }
  const csv = join(folder, `${name}.csv`);
  writeFileSync(csv, `${rows.join("\n")}\n`);
  const page = join(folder, `${name}.html`);
  const db = `sqlite:${join(folder, `${name}.db`)}`;
  execFileSync(program, ["history", "import", csv, "--db", db]);
  execFileSync(program, ["trend", "--db", db, "--html", page]);
  return page;
}

async function open(page: Page, file: string): Promise<string[]> {
  const complaints = await openFile(page, file);
  await drawAll(page);
  return complaints;
}

let file = "";
test.beforeAll(() => {
  file = historyOf(80, "trend");
});

test("opens without a complaint, loads nothing, stays small", async ({page}) => {
  expect(await open(page, file)).toEqual([]);
  expect(readFileSync(file).length).toBeLessThan(MOST_BYTES);
  await expect(page.locator("h1")).toHaveText("80 runs on main, 2026-01-01 to 2026-03-21");
});

test("a table below each chart says when, how much and by which commits", async ({page}) => {
  await open(page, file);
  const row = page.locator('table[data-changes="samples_per_second"] tbody tr');
  await expect(row).toHaveCount(1);
  await expect(row).toContainText("2026-02-10 00000028aa");
  await expect(row).toContainText("regression");
  await expect(row).toContainText("git log 00000027aa..00000028aa");
  await expect(page.locator('table[data-changes="gpu_utilization"] tbody tr')).toContainText("improvement");
});

test("a triangle tells of the change under it", async ({page}) => {
  await open(page, file);
  const chart = page.locator(".chart").first();
  const box = await chart.boundingBox();
  if (!box) throw new Error("the chart has no place");
  const tip = page.locator(".tip").first();
  await expect(async () => {
    for (let x = box.x + box.width * 0.4; x < box.x + box.width * 0.6; x += 4) {
      await page.mouse.move(x, box.y + 37);
      if (await tip.isVisible()) break;
    }
    await expect(tip).toContainText("git log 00000027aa..00000028aa", {timeout: 500});
  }).toPass();
});

test("a date in the table zooms to the change, with keys, and the button goes back", ON_SCHEDULE, async ({page}) => {
  await open(page, file);
  const chart = page.locator(".chart").first();
  const picture = async () => (await chart.screenshot()).toString("base64");
  const before = await picture();
  await page.locator('table[data-changes="samples_per_second"] button').first().press("Enter");
  await expect.poll(picture).not.toBe(before);
  await page.getByRole("button", {name: "all 80 runs"}).first().press("Enter");
  await page.evaluate(() => scrollTo(0, 0));
  await expect.poll(picture).toBe(before);
});

for (const theme of ["light", "dark"] as const) {
  test(
    `nothing serious stands in the way of assistive tools, ${theme}, at every width`,
    inTheme(theme),
    async ({page}) => {
      await page.emulateMedia({colorScheme: theme});
      for (const width of sizesOf(theme, [1440, 768, 390])) {
        await page.setViewportSize({width, height: 900});
        await open(page, file);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        expect(await violations(page)).toEqual([]);
      }
    },
  );
}

test("without scripts there are the pictures and a table", ON_SCHEDULE, async ({browser}) => {
  const context = await browser.newContext({javaScriptEnabled: false});
  const page = await context.newPage();
  await page.goto(`file://${file}`);
  await expect(page.locator("svg.gapless-trend")).toBeVisible();
  await expect(page.locator("table")).toContainText("2026-02-10 00000028aa");
  await context.close();
});

test("one run and no change are shown, too", async ({page}) => {
  expect(await open(page, historyOf(1, "one"))).toEqual([]);
  await expect(page.locator("#metric-0")).toContainText("no change of level");
  await expect(page.locator("table")).toHaveCount(0);
});

test("numbers have four digits, ticks no needless zeros", () => {
  expect([0, 871.23, 99.998, 12345.6, -0.0211449, 1e300].map(fourDigits)).toEqual([
    "0",
    "871.2",
    "100.0",
    "12,346",
    "-0.02114",
    "1.000e+300",
  ]);
  expect([900, 34.5, 0.30000000000000004, 1e18, 1200000].map(tick)).toEqual([
    "900",
    "34.5",
    "0.3",
    "1e+18",
    "1,200,000",
  ]);
});
