// SPDX-License-Identifier: Apache-2.0
// Each report as a person reads it: it opens without a complaint and loads nothing, its numbers are those of
// `gapless query` and `analyze --json`, the answer is on the first screen, it can be used without sight or mouse, and it
// looks as approved (web/test/approved; `npm test -- --update-snapshots` after looking at the difference).
import {expect, type Page, test} from "@playwright/test";
import type {Bottleneck} from "../src/data";
import {isToFix} from "../src/places";
import {drawAll, inTheme, ON_SCHEDULE, open, sizesOf, violations} from "./browser";
import {analyze, hostile, isThere, query, RECORDINGS, type Recording, type Row, reportOf, sizeOf} from "./recordings";

const SIZES = [
  {width: 1440, height: 900},
  {width: 768, height: 1024},
  {width: 390, height: 844},
];
const MOST_BYTES = 3_000_000;

/** The numbers a number's text may stand for: half a unit of its last digit to either side. */
function agrees(text: string, value: number, percentIs = 0.01): boolean {
  const found = text.replace(/,/g, "").match(/^([≥≤$] )?(-?[\d.]+(?:e[-+]?\d+)?) ?(.*)$/);
  if (!found?.[2]) return /\d+ h \d\d min/.test(text);
  const scale: Record<string, number> = {
    ns: 1,
    µs: 1e3,
    ms: 1e6,
    s: 1e9,
    "%": percentIs,
    kB: 1e3,
    MB: 1e6,
    GB: 1e9,
    TB: 1e12,
  };
  scale["GFLOP"] = 1e9;
  scale["MFLOP"] = 1e6;
  const unit = scale[found[3]?.replace("×", "") ?? ""] ?? 1;
  const decimals = found[2].split("e")[0]?.split(".")[1]?.length ?? 0;
  const shown = Number(found[2]);
  const digit = found[2].includes("e") ? Math.abs(shown) / 10 : 10 ** -decimals;
  const rounded = decimals === 0 && Math.abs(shown) >= 1000 ? Math.abs(shown) * 0.005 : 0;
  return Math.abs(shown * unit - value) <= (0.51 * digit + rounded) * unit;
}

for (const recording of RECORDINGS) {
  test.describe(`${recording.name}: ${recording.what}`, () => {
    test.skip(!isThere(recording), `no recording at ${recording.far ? recording.path() : ""}`);
    let file = "";
    test.beforeAll(() => {
      file = reportOf(recording);
    });

    test("opens without a complaint, loads nothing, stays small", async ({page}) => {
      const complaints = await open(page, file);
      await drawAll(page);
      expect(complaints).toEqual([]);
      expect(sizeOf(file)).toBeLessThan(MOST_BYTES);
    });

    test("the numbers at the top are those of analyze --json and of the ledger", async ({page}) => {
      await open(page, file);
      await checkFigures(page, recording);
    });

    test("the plan falls to what all of its fixes leave of a step", async ({page}) => {
      await open(page, file);
      const {plan, estimated_speedup: gain} = analyze(recording);
      const rows = page.locator("#plan .waterfall li");
      await expect(rows).toHaveCount(plan.length > 1 ? plan.length + 1 : 0);
      if (plan.length < 2 || !gain) return;
      const last = Number(await rows.last().locator("[data-value]").getAttribute("data-value"));
      expect(last * gain.expected).toBeCloseTo(1, 6);
    });

    test("every table shows what SQL has", recording === RECORDINGS[0] ? {} : ON_SCHEDULE, async ({page}) => {
      await open(page, file);
      await checkTables(page, recording);
    });

    test("the first screen says what is wrong, what it costs and what to type", async ({page}) => {
      await page.setViewportSize({width: 1440, height: 900});
      await open(page, file);
      await checkFirstScreen(page, recording);
    });

    for (const theme of ["light", "dark"] as const) {
      test(`nothing serious stands in the way of assistive tools, ${theme}`, inTheme(theme), async ({page}) => {
        await page.emulateMedia({colorScheme: theme});
        await open(page, file);
        await page
          .locator(".more")
          .first()
          .click({timeout: 1000})
          .catch(() => {});
        for (const size of sizesOf(theme, SIZES)) {
          await page.setViewportSize(size);
          await drawAll(page);
          expect(await violations(page)).toEqual([]);
        }
      });

      for (const size of SIZES) {
        test(`looks as approved at ${size.width}, ${theme}`, inTheme(theme), async ({page}) => {
          await page.setViewportSize(size);
          await page.emulateMedia({colorScheme: theme});
          await open(page, file);
          await drawAll(page);
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(size.width);
          await expect(page).toHaveScreenshot(`${recording.name}-${size.width}-${theme}.png`);
        });
      }
    }
  });
}

async function checkFigures(page: Page, recording: Recording) {
  const {run, breakdown, estimated_speedup: gain} = analyze(recording);
  const expected: Record<string, number | undefined> = {
    "median step": run.step_ns?.median,
    "GPU busy": run.gpu_busy_share,
    MFU: run.mfu_coverage >= 0.5 ? run.mfu : undefined,
    "estimated speedup": gain?.expected,
  };
  for (const [name, value] of Object.entries(expected)) {
    const figure = page.locator(`[data-figure="${name}"]`);
    await expect(figure).toHaveCount(value === undefined ? 0 : 1);
    if (value === undefined) continue;
    expect(Number(await figure.getAttribute("data-value"))).toBe(value);
    const text = await figure.evaluate((element) => element.firstChild?.textContent?.trim() ?? "");
    expect(agrees(text, value), `${name}: ${text} for ${value}`).toBe(true);
  }
  const ofDevices = "SELECT sum(compute_ns) compute, sum(idle_data_ns) data FROM ledger WHERE step IS NULL";
  const ofHosts = "SELECT sum(operator_ns) compute, sum(data_ns) data FROM host_steps";
  const sums = query(recording, breakdown?.length ? ofDevices : ofHosts)[0];
  for (const part of ["compute", "data"]) {
    const shown = page.locator(`[data-part="${part}"]`);
    const value = Number(sums?.[part] ?? 0);
    await expect(shown).toHaveCount(value > 0 ? 1 : 0);
    if (value > 0) expect(Number(await shown.getAttribute("data-value"))).toBe(value);
  }
}

/** The rows that the table in view shows: what each cell holds, and what it says. */
async function shownRows(page: Page): Promise<{column: string; value: string | null; text: string}[][]> {
  return page.locator("table[data-table] tbody tr").evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll("td")].map((cell) => ({
        column: cell.dataset["column"] ?? "",
        value: cell.dataset["value"] ?? null,
        text: cell.textContent ?? "",
      })),
    ),
  );
}

/** What a cell holds, as far as the page shows a text: long ones are cut. */
const start = (value: string | number | null) => String(value).slice(0, 990);

/** Which cells of `shown` are not in `rows`, or say something else than they hold. */
function mistakes(shown: Awaited<ReturnType<typeof shownRows>>, rows: readonly Row[]): string[] {
  const columns = shown[0]?.map((cell) => cell.column) ?? [];
  const known = new Set(rows.map((row) => columns.map((column) => start(row[column] ?? null)).join("\n")));
  const found: string[] = [];
  for (const cells of shown) {
    if (!known.has(cells.map((cell) => start(cell.value)).join("\n")))
      found.push(`no such row: ${JSON.stringify(cells)}`);
    for (const {column, value, text} of cells) {
      const number = Number(value);
      if (value === null ? text === "–" : Number.isNaN(number) || value === text) continue;
      if (value === null || !agrees(text, number, column.endsWith("_pct") ? 1 : 0.01))
        found.push(`${column}: ${text} for ${value}`);
    }
  }
  return found;
}

async function checkTables(page: Page, recording: Recording) {
  const tables = page.locator("#tables");
  await page.getByLabel("ids").check();
  const more = page.getByLabel("More tables");
  const others = await more.locator("option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  const tabs = await page.getByRole("tab").all();
  const choices = [
    ...tabs.map((tab) => () => tab.click()),
    ...others.filter(Boolean).map((name) => () => more.selectOption(name)),
  ];
  for (const choose of choices) {
    await choose();
    const name = (await tables.locator("table").getAttribute("data-table")) ?? "";
    const all = tables.getByRole("button", {name: /^Show all/});
    if ((await all.count()) > 0) await all.click();
    const shown = await shownRows(page);
    expect(shown.length, name).toBeGreaterThan(0);
    expect(mistakes(shown, query(recording, `SELECT * FROM ${name}`)), name).toEqual([]);
  }
}

async function checkFirstScreen(page: Page, recording: Recording) {
  await expect(page.locator("h1")).toBeInViewport({ratio: 1});
  if (!recording.hasFindings) {
    await expect(page.locator("#fixes .snippet").first()).toBeInViewport({ratio: 1}); // how to record more
    return;
  }
  await expect(page.locator(".bar").first()).toBeInViewport({ratio: 1});
  const listed = (analyze(recording).bottlenecks as Bottleneck[]).filter((one) => !one.cured_by && isToFix(one));
  for (const [place, bottleneck] of listed.slice(0, 3).entries()) {
    const fix = page.locator(".fix").nth(place);
    await expect(fix).toHaveAttribute("data-bottleneck", bottleneck.id);
    await expect(fix.locator("h3")).toHaveText(bottleneck.title);
    await expect(fix.locator("h3")).toBeInViewport({ratio: 1});
    await expect(fix.locator(".todo")).toBeInViewport({ratio: 1});
    if (bottleneck.gain) await expect(fix.locator(".buys b")).toBeInViewport({ratio: 1});
  }
}

test.describe("using it", () => {
  const [small] = RECORDINGS;
  let file = "";
  test.beforeAll(() => {
    if (small) file = reportOf({...small, name: "using"});
  });

  test("a header sorts, the filter filters, a row unfolds", ON_SCHEDULE, async ({page}) => {
    await open(page, file);
    const values = async (column: string) =>
      (await shownRows(page)).map((row) => Number(row.find((cell) => cell.column === column)?.value));
    const total = await values("total_ns");
    expect(total).toEqual([...total].sort((a, b) => b - a));
    await page.getByRole("button", {name: "calls"}).click();
    const calls = await values("calls");
    expect(calls).toEqual([...calls].sort((a, b) => b - a));
    await page.getByPlaceholder("filter", {exact: true}).fill("wgrad");
    await expect
      .poll(async () => (await shownRows(page)).every((row) => row.some((cell) => /wgrad/i.test(cell.text))))
      .toBe(true);
    await page.locator("table[data-table] tbody tr").first().click();
    await expect(page.locator("tr.open")).toHaveCount(1);
  });

  test("evidence unfolds with the command that shows its rows", async ({page}) => {
    await open(page, file);
    await page.locator(".more").first().press("Enter");
    await expect(page.locator(".details")).toContainText("gapless query samples/resnet50_v100.pt.trace.json.gz");
    await expect(page.locator(".details")).toContainText(/Saves \$ [1-9][\d,]+ a month/);
  });

  test("colours change and are remembered while the page is open", async ({page}) => {
    await open(page, file);
    await page.getByRole("button", {name: "Switch to dark colours"}).click();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await page.reload();
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  });

  test("the whole page, light and dark", ON_SCHEDULE, async ({page}) => {
    for (const theme of ["light", "dark"] as const) {
      await page.emulateMedia({colorScheme: theme});
      await page.setViewportSize({width: 1440, height: 3200});
      await open(page, file);
      await drawAll(page);
      await expect(page).toHaveScreenshot(`whole-${theme}.png`);
    }
  });
});

test("texts of a hostile recording are shown, never run", async ({page}) => {
  const complaints = await open(page, reportOf(hostile));
  await drawAll(page);
  expect(complaints).toEqual([]);
  expect(await page.locator("img, iframe, script:not([type]), a[href^='javascript']").count()).toBe(1); // the page's own
});
