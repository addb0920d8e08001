// SPDX-License-Identifier: Apache-2.0
// The pages of `gapless serve` that are of no recording, with the real server behind them: a history, a search for fixes that is
// followed to its result, a job whose slow step is opened as a run; and the menu that leads to them at every width.
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {expect, type Page, test} from "@playwright/test";
import {ON_SCHEDULE, violations} from "./browser";
import {type SiteParts, startSite, trendOf} from "./site_parts";

const SAMPLE = "samples/resnet50_v100.pt.trace.json.gz";
const PHONE = {width: 390, height: 844};
const WIDTHS = [PHONE, {width: 1440, height: 900}];

let site: SiteParts;
test.beforeAll(async () => {
  site = await startSite([SAMPLE]);
});
test.afterAll(() => {
  site?.stop();
});

async function visit(page: Page, path: string, at: SiteParts = site): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => message.type() !== "log" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(at.address)) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(`${at.address}${path}`);
  await expect(page.locator("footer")).toContainText("its own server");
  return complaints;
}

const VIEWS = [
  {path: "?history=0", shows: "samples_per_second"},
  {path: "?optimize=0", shows: "Trying fixes"},
  {path: "?monitor=0", shows: "processes train"},
] as const;

for (const {path, shows} of VIEWS)
  for (const viewport of WIDTHS)
    test(
      `${path} at ${viewport.width} px complains of nothing and serves assistive tools`,
      viewport === WIDTHS[0] ? {} : ON_SCHEDULE,
      async ({page}) => {
        await page.setViewportSize(viewport);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({colorScheme});
          expect(await visit(page, path)).toEqual([]);
          await expect(page.locator("main")).toContainText(shows);
          expect(await violations(page)).toEqual([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
        }
      },
    );

test("a history has its series, and the changes that gapless trend finds", async ({page}) => {
  await visit(page, "?history=0");
  await expect(page.locator("[data-series]")).toHaveCount(3);
  await expect(page.locator('[data-series="resnet50 on main"]')).toHaveAttribute("data-runs", "80");
  const [metric] = trendOf(site.history, "main", "resnet50").metrics;
  const rows = page.locator(`table[data-changes="${metric.metric}"] tbody tr`);
  await expect(rows).toHaveCount(metric.changes.length);
  await expect(rows.first()).toContainText(metric.changes[0].kind);
  await expect(rows.first()).toContainText("git log 00000027aa..00000028aa");
  await expect(page.locator("#metric-0 canvas")).toBeVisible();
});

test("a click on a series shows its trend, and the address is that of it", async ({page}) => {
  await visit(page, "?history=0");
  await expect(page.locator("h1")).toContainText("80 runs of resnet50 on main");
  await page.getByRole("link", {name: "small"}).click();
  await expect(page.locator("h1")).toContainText("3 runs of small on try/<this>");
  await page.reload();
  await expect(page.locator("h1")).toContainText("3 runs of small on try/<this>");
  await page.goBack();
  await expect(page.locator("h1")).toContainText("80 runs of resnet50 on main");
});

test("a search is followed to its result, which has the patch and the command first", async ({page}) => {
  const own = await startSite();
  try {
    await visit(page, "?optimize=0", own);
    await expect(page.locator("[data-trial]")).toHaveAttribute("data-trial", "channels_last");
    await expect(page.locator('[data-fix="workers=4"]')).toHaveAttribute("data-outcome", "accepted");
    await expect(page.locator('[data-fix="workers=4"] [data-value]')).toHaveAttribute("data-value", "1.47");
    await expect(page.locator('[data-fix="amp=bf16"]')).toHaveAttribute("data-outcome", "other_training"); // not no_time
    await expect(page.locator('[data-fix="amp=bf16"]')).toContainText("<b>more</b>");
    await expect(page.locator(".figures")).toContainText("budget left");
    await own.endSearch();
    await expect(page.locator("#patch ins")).toContainText(["+++ b/train.py", "num_workers=4"]);
    const result = JSON.parse(readFileSync(join(own.search, "result.json"), "utf8"));
    await expect(page.locator("h1")).toHaveText(`${result.conclusion}.`);
    const order = await page.locator("main section").evaluateAll((all) => all.map(({id}) => id).filter(Boolean));
    expect(order).toEqual(["run", "patch", "stages", "tried", "not-tried", "no-time"]);
    await expect(page.locator("#run")).toContainText(
      "gapless run --recipe optimized/optimized.json -- python train.py",
    );
    await expect(page.locator("#stages tbody tr")).toHaveCount(result.table.length);
    await expect(page.locator("#stages tbody tr").last()).toContainText("940.8");
    await expect(page.locator("#not-tried")).toContainText("Not tried: 1 fix");
    await expect(page.getByText("the optimiser has no fused form")).toBeHidden();
    await page.locator("#not-tried summary").click();
    await expect(page.getByText("the optimiser has no fused form")).toBeVisible();
    expect(await violations(page)).toEqual([]);
  } finally {
    own.stop();
  }
});

test("a job's charts grow, and its slow step opens as a run", ON_SCHEDULE, async ({page}) => {
  await visit(page, "?monitor=0");
  const seen = async () => Number(await page.locator('[data-figure="steps"]').getAttribute("data-value"));
  await expect.poll(seen).toBeGreaterThanOrEqual(300);
  const before = await seen();
  await expect.poll(seen).toBeGreaterThan(before);
  for (const id of ["steps", "rate", "waits", "utilization", "memory", "power"])
    await expect(page.locator(`#${id} canvas`)).toBeAttached();
  const row = page.locator("#events tbody tr").filter({hasText: "step 220 took 300.0 ms"});
  await row.getByRole("link", {name: "Open as a run"}).click();
  await expect(page.getByRole("heading", {level: 1})).toContainText("Input bound");
  await expect(page.locator("#timeline")).toBeAttached();
});

test("at 390 px the menu holds the pages and the sections", async ({page}) => {
  await page.setViewportSize(PHONE);
  await visit(page, "?run=0");
  const button = page.getByRole("button", {name: "Menu"});
  const sections = page.getByRole("navigation", {name: "Sections"});
  await expect(button).toHaveAttribute("aria-expanded", "false");
  await expect(sections).toBeHidden();
  await button.focus();
  await page.keyboard.press("Enter");
  await expect(button).toHaveAttribute("aria-expanded", "true");
  await expect(sections.getByRole("link", {name: "Fixes"})).toBeVisible();
  await expect(page.getByRole("navigation", {name: "Views"}).getByRole("link", {name: "History"})).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(sections).toBeHidden();
  await expect(button).toBeFocused();
  await button.click();
  await sections.getByRole("link", {name: "Memory"}).click();
  await expect(sections).toBeHidden();
  await expect(page.locator("#memory")).toBeInViewport();
  await button.click();
  await page.getByRole("navigation", {name: "Views"}).getByRole("link", {name: "History"}).click();
  await expect(page.locator("h1")).toContainText("80 runs");
});

test("a bar with room for it has its menu open, and says which page this is", ON_SCHEDULE, async ({page}) => {
  await page.setViewportSize({width: 1440, height: 900});
  await visit(page, "?history=0");
  await expect(page.getByRole("button", {name: "Menu"})).toBeHidden();
  const views = page.getByRole("navigation", {name: "Views"});
  await expect(views.locator("[aria-current=page]")).toHaveText("History");
  await views.getByRole("link", {name: "Job"}).click();
  await expect(page.locator("h1")).toContainText("processes train");
});
