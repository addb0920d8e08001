// SPDX-License-Identifier: Apache-2.0
// The page of `gapless optimize`, made of data as the program inlines them (tests/optimize_test.py looks at those): it opens
// without a complaint, loads nothing, shows every row and reason, on paper too, and can be used without sight.
import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {expect, test} from "@playwright/test";
import {kindOf, type OptimizePage} from "../src/optimize/data";
import {inTheme, ON_SCHEDULE, open, sizesOf, violations} from "./browser";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.env["GAPLESS_TEST_OUTPUT"] ?? join(web, "../build/web"), `optimize-${process.pid}`);
const MOST_BYTES = 60_000;

const PROVED: OptimizePage = {
  optimize: {
    gapless: {version: "1.2.3", schema: 1, schema_version: 1, command: "optimize"},
    command: "python train.py --name '</script><b>x</b>'",
    about: "2 processors · torch 2.15.0",
    metric_name: "accuracy",
    applied: [],
    refused: [],
    proved: true,
    conclusion: "1.47× (1.41–1.53) faster with workers=4, compile=default, from 15 pairs of runs",
    speedup: {low: 1.41, expected: 1.47, high: 1.53},
    pairs: 15,
    table: [],
    recipe: "optimized/optimized.json",
    patch_tested: "on a copy: it compiles and takes 3 steps",
    by_hand: ["make the model in train.py"],
    untried: [],
    ahead: [],
    budget_use: "80 s of the 300 s of --budget were used; nothing that promises more is left to try",
    took_s: 80,
    budget_s: 300,
    interrupted: false,
    warnings: ["the machine was busy"],
  },
  page: {
    head: ["", "step", "speedup"],
    rows: [
      ["as it is", "100.0 ms", "1.00×"],
      ["+ workers=4", "80.0 ms", "1.25× (1.20–1.30)"],
      ["all, over as it is", "68.0 ms", "1.47× (1.41–1.53)"],
    ],
    shares: [1, 0.8, 0.68],
    training: "the same, bit for bit, over 20 steps",
    metric: "it stays: 0.91 and 0.91",
    unproved: "",
    tried: [{fix: "amp=bf16", reason: "its losses differ: 1.5 instead of 1.4"}],
    not_tried: [{fix: "fused_optimizer", reason: "the optimiser has no fused form"}],
    no_time: [],
    found: ["The GPU waits 40 % of a step for data"],
    run: "gapless run --recipe optimized/optimized.json -- python train.py",
    diff: "--- a/train.py\n+++ b/train.py\n-    num_workers=0\n+    num_workers=4\n",
  },
};

const UNPROVED: OptimizePage = {
  optimize: {...PROVED.optimize, proved: false, conclusion: "no time was left", warnings: [], by_hand: []},
  page: {
    ...PROVED.page,
    rows: PROVED.page.rows.slice(0, 1),
    metric: "",
    unproved: "nothing is proved, so there is no recipe and no patch",
    tried: [],
    not_tried: [],
    found: [],
    diff: "",
  },
};

function pageOf(inlined: OptimizePage, name: string): string {
  mkdirSync(folder, {recursive: true});
  execFileSync("node", ["build.mjs", folder], {cwd: web});
  const file = join(folder, `${name}.html`);
  const data = JSON.stringify(inlined).replace(/</g, "\\u003c");
  writeFileSync(
    file,
    readFileSync(join(folder, "optimize.html"), "utf8").replace("<!--data-->", () => data),
  );
  return file;
}

let file = "";
test.beforeAll(() => {
  file = pageOf(PROVED, "proved");
});

test("opens without a complaint, loads nothing, and is small for having no charts", async ({page}) => {
  expect(await open(page, file)).toEqual([]);
  expect(readFileSync(file).length).toBeLessThan(MOST_BYTES);
  await expect(page).toHaveTitle(`${PROVED.optimize.command} · gapless`);
  await expect(page.locator("main b")).toHaveCount(0);
});

test("the proof comes first, then each state with its time as a bar", async ({page}) => {
  await open(page, file);
  await expect(page.locator("h1")).toHaveText(`${PROVED.optimize.conclusion}.`);
  await expect(page.locator(".gain")).toContainText("1.47×");
  await expect(page.locator(".verdict")).toContainText("Training: the same, bit for bit, over 20 steps.");
  await expect(page.locator(".verdict")).toContainText("accuracy: it stays: 0.91 and 0.91.");
  const rows = page.locator("#stages tbody tr");
  await expect(rows).toHaveText(PROVED.page.rows.map((cells) => cells.join("")));
  const widths = await rows.locator("i").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  expect((widths[1] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(0.8, 2);
  expect((widths[2] ?? 0) / (widths[0] ?? 1)).toBeCloseTo(0.68, 2);
});

test("what to run, the patch, and what did not stay, each with its reason", async ({page}) => {
  await open(page, file);
  await expect(page.locator("#run code")).toHaveText(PROVED.page.run ?? "");
  await expect(page.locator(".patch ins")).toHaveText(["+++ b/train.py", "+    num_workers=4"]);
  await expect(page.locator(".patch del")).toHaveText(["--- a/train.py", "-    num_workers=0"]);
  await expect(page.locator("#patch")).toContainText("By hand: make the model in train.py.");
  await expect(page.locator("#tried")).toContainText("its losses differ: 1.5 instead of 1.4");
  await expect(page.locator("#not-tried")).toContainText("the optimiser has no fused form");
  await expect(page.locator("#no-time")).toHaveCount(0);
  await expect(page.locator("#found li")).toHaveText(PROVED.page.found);
  await expect(page.locator(".notice")).toHaveText("Warning: the machine was busy.");
});

test("without a proof there is no number at its place, and no patch", async ({page}) => {
  expect(await open(page, pageOf(UNPROVED, "unproved"))).toEqual([]);
  await expect(page.locator(".gain")).toHaveCount(0);
  await expect(page.locator(".verdict")).toContainText("The command stays as it is: nothing is proved");
  await expect(page.locator("#patch")).toHaveCount(0);
});

test("paper has all of it but the buttons", ON_SCHEDULE, async ({page}) => {
  await open(page, file);
  await page.emulateMedia({media: "print"});
  await expect(page.locator(".top")).toBeHidden();
  await expect(page.locator(".snippet button")).toBeHidden();
  await expect(page.locator("#stages table")).toBeVisible();
  await expect(page.locator("main .command")).toHaveText(PROVED.optimize.command);
});

for (const theme of ["light", "dark"] as const) {
  test(
    `nothing serious stands in the way of assistive tools, ${theme}, at every width`,
    inTheme(theme),
    async ({page}) => {
      await page.emulateMedia({colorScheme: theme});
      await open(page, file);
      for (const width of sizesOf(theme, [1440, 768, 390])) {
        await page.setViewportSize({width, height: 900});
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        expect(await violations(page)).toEqual([]);
      }
    },
  );
}

test("lines of a patch are added, removed or neither", () => {
  expect(["+a", "-b", " c", ""].map(kindOf)).toEqual(["ins", "del", "span", "span"]);
});
