// SPDX-License-Identifier: Apache-2.0
// The page of `gapless serve` with the real server behind it: the timeline asks it for tiles, SQL gives what `gapless
// query` gives, and one changes over between runs.
import type {ChildProcess} from "node:child_process";
import {expect, type Page, test} from "@playwright/test";
import {ON_SCHEDULE, violations} from "./browser";
import {query, RECORDINGS, type Recording, serve} from "./recordings";

const [SMALL, CPU] = ["small", "cpu-only"].map((name) => RECORDINGS.find((one) => one.name === name) as Recording);

let address = "";
let server: ChildProcess | undefined;
test.beforeAll(async () => {
  ({address, server} = await serve(SMALL?.path() ?? "", CPU?.path() ?? ""));
});
test.afterAll(() => {
  server?.kill();
});

async function visit(page: Page, address: string): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => message.type() !== "log" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(address)) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  await expect(page.locator("footer")).toContainText("its own server");
  return complaints;
}

test("the timeline shows what the server has, and nothing else is asked", async ({page}) => {
  const alone = await serve(SMALL?.path() ?? "");
  try {
    const tiles: string[] = [];
    page.on("response", (response) => response.url().includes("/tile?") && tiles.push(response.url()));
    const complaints = await visit(page, alone.address);
    await page.locator("#timeline canvas").last().scrollIntoViewIfNeeded();
    await expect.poll(() => tiles.length).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  } finally {
    alone.server.kill();
  }
});

test("SQL of the page gives what gapless query gives", async ({page}) => {
  await visit(page, address);
  const sql = "SELECT name, calls, total_ns FROM kernels ORDER BY total_ns DESC LIMIT 7";
  const section = page.locator("#sql");
  await section.getByLabel("Query").fill(sql);
  await section.getByLabel("Query").press("Control+Enter");
  const rows = section.locator("tbody tr");
  await expect(rows).toHaveCount(7);
  const expected = query(SMALL as Recording, sql);
  for (const [at, row] of expected.entries()) {
    await expect(rows.nth(at).locator("[data-column=name]")).toHaveAttribute("data-value", String(row["name"]));
    await expect(rows.nth(at).locator("[data-column=total_ns]")).toHaveAttribute("data-value", String(row["total_ns"]));
  }
  await section.getByText("as a chart").click();
  await expect(section.locator(".chart canvas")).toBeVisible();
});

test("a query that is wrong says why, and one may be kept", ON_SCHEDULE, async ({page}) => {
  await visit(page, address);
  const section = page.locator("#sql");
  await section.getByLabel("Query").fill("SELECT nonsense FROM kernels");
  await section.getByRole("button", {name: "Keep"}).click();
  await section.getByRole("button", {name: "Run"}).click();
  await expect(section.getByRole("alert")).toContainText("nonsense");
  await page.reload();
  await expect(section.getByLabel("Kept queries")).toContainText("SELECT nonsense FROM kernels");
});

test("several runs are one select apart", async ({page}) => {
  await visit(page, address);
  await page.getByLabel("Run", {exact: true}).selectOption({index: 1});
  await expect(page.locator(".file")).toHaveText("cpu_only.json");
  await expect(page.getByRole("heading", {level: 1})).toContainText("No work on a GPU");
});

test("what changed between two runs adds up", async ({page}) => {
  const both = await serve(SMALL?.path() ?? "", "tests/data/two_ranks");
  const numbers = (name: string) =>
    page
      .locator(`#compare .waterfall [${name}]`)
      .evaluateAll((all, attribute) => all.map((one) => Number(one.getAttribute(attribute))), name);
  try {
    await page.goto(`${both.address}?run=1`);
    await expect(page.locator("#compare")).toContainText("a step of this run");
    const [before, here] = await numbers("data-step");
    const causes = await numbers("data-value");
    expect(causes.length).toBeGreaterThan(3);
    expect((before ?? 0) + causes.reduce((sum, ns) => sum + ns, 0)).toBe(here);
  } finally {
    both.server.kill();
  }
});

test("runs that cannot be compared say why", ON_SCHEDULE, async ({page}) => {
  await visit(page, address);
  await expect(page.locator("#compare")).toContainText(/a step of this run|GPU|steps/);
});

test("nothing serious stands in the way of assistive tools", async ({page}) => {
  await visit(page, address);
  expect(await violations(page)).toEqual([]);
});
