// SPDX-License-Identifier: Apache-2.0
// Tables as text for other programs, filters of columns, and the page on paper.
import {expect, test} from "@playwright/test";
import type {Column} from "../src/data";
import {csvOf, filterOf, markdownOf} from "../src/table_text";
import {open} from "./browser";
import {Synthetic} from "./synthetic";
import {reportWith} from "./timeline_page";

const NAME: Column = {name: "name", type: "text", unit: "", help: ""};
const TIME: Column = {name: "total_ns", type: "int", unit: "ns", help: ""};
const SHARE: Column = {name: "share", type: "real", unit: "share", help: ""};
const ROWS = [
  ['a "b", c', 1_500_000, 0.25],
  ["x|y\nz", null, null],
];

test("values that are separated by commas are quoted where they must, and numbers are as they are", () => {
  expect(csvOf([NAME, TIME, SHARE], ROWS)).toBe('name,total_ns,share\n"a ""b"", c",1500000,0.25\n"x|y\nz",,\n');
});

test("a table of Markdown has a line a row, and numbers as people read them", () => {
  expect(markdownOf([NAME, TIME, SHARE], ROWS)).toBe(
    '| name | total_ns | share |\n| --- | ---: | ---: |\n| a "b", c | 1.50 ms | 25.0 % |\n| x\\|y z | – | – |\n',
  );
});

test("a filter of a column compares numbers in any unit, and finds texts in any case", () => {
  const takes = (text: string, column: Column, value: number | string | null) => filterOf(text, column)?.(value);
  expect(takes("> 1ms", TIME, 1_500_000)).toBe(true);
  expect(takes(">1.5 ms", TIME, 1_500_000)).toBe(false);
  expect(takes("<= 25%", SHARE, 0.25)).toBe(true);
  expect(takes("<25%", SHARE, 0.25)).toBe(false);
  expect(takes("= 1500000", TIME, 1_500_000)).toBe(true);
  expect(takes("1.5", TIME, 1_500_000)).toBe(true); // as it is shown
  expect(takes("> 1", TIME, null)).toBe(false);
  expect(takes("GEMM", NAME, "a gemm")).toBe(true);
  expect(takes("gemm", NAME, null)).toBe(false);
  expect(filterOf("  ", TIME)).toBeUndefined();
});

const recording = new Synthetic(2, 10, 60);
let file = "";
test.beforeAll(() => {
  file = reportWith(recording, "tables");
});

test("columns filter together, and what is left is copied", async ({page, context}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, file);
  const table = page.locator("#tables table");
  await expect(table.locator("tbody tr")).toHaveCount(2);
  await page.locator("#tables").getByRole("button", {name: "filter columns"}).click();
  await page.getByLabel("Filter total").fill("> 150 ns");
  await expect(table.locator("tbody tr")).toHaveCount(1);
  await page.locator("#tables").getByRole("button", {name: "Copy as CSV"}).click();
  await expect(page.locator("#tables .copies", {hasText: "copied"})).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("kernel,total_ns\none,200\n");
  await page.getByLabel("Filter kernel").fill("TWO");
  await expect(table.locator("tbody tr")).toHaveCount(0);
  await page.locator("#tables").getByRole("button", {name: "filter columns"}).click();
  await expect(table.locator("tbody tr")).toHaveCount(2);
});

test("paper is white, its charts as wide as the sheet, and has no buttons; then the screen is as it was", async ({
  page,
}) => {
  await page.emulateMedia({colorScheme: "dark"});
  await open(page, file);
  const theme = () => page.evaluate(() => document.documentElement.dataset["theme"]);
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const chart = page.locator("#steps .chart canvas").first();
  expect(await chart.evaluate((canvas) => canvas.clientWidth)).toBe(660); // before the browser lays the sheet out
  await page.emulateMedia({media: "print"});
  await page.setViewportSize({width: 718, height: 1000});
  expect(await theme()).toBe("light");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(718);
  expect(await page.evaluate(() => getComputedStyle(document.body).getPropertyValue("print-color-adjust"))).toBe(
    "exact",
  );
  await expect(page.locator("#tables").getByRole("button", {name: "Copy as CSV"})).toBeHidden();
  await expect(page.locator(".tl-controls")).toBeHidden();
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  expect(await theme()).toBe("dark");
});

test("a long name gives way in its middle, and is whole in the text and when its row is open", async ({page}) => {
  const long =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array>(int)";
  await open(page, reportWith(recording, "long", 2, [long, "two"]));
  const cell = page.locator('#tables td[data-column="kernel"]').first();
  await expect(cell).toHaveText(long);
  await cell.scrollIntoViewIfNeeded();
  const head = cell.locator(".middle > span").first();
  expect(await head.evaluate((span) => span.scrollWidth > span.clientWidth)).toBe(true);
  await expect(cell.locator(".middle > span").last()).toBeInViewport();
  await cell.click();
  expect(await head.evaluate((span) => getComputedStyle(span).display)).toBe("inline");
});
