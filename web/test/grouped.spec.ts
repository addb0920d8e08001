// SPDX-License-Identifier: Apache-2.0
// Rows put together, how long the calls of a kernel take, and the critical path: as the program says it.
import {expect, test} from "@playwright/test";
import {Table} from "../src/data";
import {bucketsOf} from "../src/distribution";
import {groupable, groupedBy} from "../src/grouped";
import {ON_SCHEDULE, open} from "./browser";
import {predictPath, query, RECORDINGS, type Recording, reportOf} from "./recordings";

const sample = RECORDINGS[0] as Recording;
let file = "";
test.beforeAll(() => {
  file = reportOf(sample);
});

const column = (name: string, type: "int" | "real" | "text", unit = "") => ({name, type, unit, help: ""});

test("times, bytes and counts add up; means, points in time and shares do not, and what is absent stays so", () => {
  const table = new Table(
    {
      name: "t",
      help: "",
      rows: 3,
      sort: "total_ns",
      columns: [
        ...[column("kind", "text"), column("total_ns", "int", "ns"), column("mean_ns", "int", "ns")],
        ...[column("ts_ns", "int", "ns"), column("calls", "int"), column("share", "real", "share")],
        ...[column("read_bytes", "int", "bytes"), column("name", "text")],
      ],
      cells: [
        ["a", "b", "a"],
        [1, 2, 30],
        [9, 9, 9],
        [5, 6, 7],
        [1, 1, 2],
        [0.1, 0.2, 0.3],
        [null, 4, null],
        ["x", "y", "z"],
      ],
    },
    [],
  );
  expect(groupable(table).map(({name}) => name)).toEqual(["kind"]); // no name is there twice
  const grouped = groupedBy(table, "kind");
  expect(grouped.columns.map(({name}) => name)).toEqual(["kind", "rows", "total_ns", "calls", "read_bytes"]);
  expect([0, 1].map((row) => grouped.columns.map((_, at) => grouped.at(row, at)))).toEqual([
    ["a", 2, 31, 3, null],
    ["b", 1, 2, 1, 4],
  ]);
  expect(grouped.sort).toBe("total_ns");
});

test("a sketch has buckets that follow each other, empty ones too; what is no sketch has none", () => {
  const buckets = bucketsOf("0 2 10:3,,1");
  expect(buckets.map(({calls}) => calls)).toEqual([2, 3, 0, 1]);
  expect(buckets[2]?.from).toBeCloseTo(buckets[1]?.to ?? 0, 9);
  expect((buckets[1]?.to ?? 0) / (buckets[1]?.from ?? 1)).toBeCloseTo(1.01 / 0.99, 9);
  expect((bucketsOf("1 0 10:3")[0]?.to ?? 0) / (bucketsOf("1 0 10:3")[0]?.from ?? 1)).toBeCloseTo(
    (1.01 / 0.99) ** 2,
    9,
  );
  for (const text of ["", "0 0", "0 0 1:x", "a b c:1"]) expect(bucketsOf(text)).toEqual([]);
});

test("a table put together says what SQL says, and a choice of none brings its rows back", async ({page}) => {
  await open(page, file);
  const section = page.locator("#tables");
  await section.getByLabel("group by").selectOption("class");
  const sums = query(
    sample,
    "SELECT class, count(*) AS n, sum(total_ns) AS ns FROM kernels GROUP BY class ORDER BY ns DESC",
  );
  const rows = section.locator("tbody tr");
  await expect(rows).toHaveCount(sums.length);
  for (const [at, sum] of sums.entries()) {
    const cell = (name: string) => rows.nth(at).locator(`[data-column=${name}]`);
    await expect(cell("class")).toHaveText(String(sum["class"]));
    await expect(cell("rows")).toHaveAttribute("data-value", String(sum["n"]));
    await expect(cell("total_ns")).toHaveAttribute("data-value", String(sum["ns"]));
  }
  await section.getByLabel("group by").selectOption("");
  await expect(section.getByRole("columnheader", {name: "rows"})).toHaveCount(0);
});

test("an open row of kernels shows how long its calls take: the bars hold all calls", ON_SCHEDULE, async ({page}) => {
  await open(page, file);
  const row = page.locator("#tables tbody tr").first();
  await row.click();
  const name = await row.locator("[data-column=name]").getAttribute("data-value");
  const of = query(sample, "SELECT kernel, calls FROM kernel_durations").find(({kernel}) => kernel === name);
  const figure = page.locator("#tables .distribution");
  await expect(figure).toContainText(`${of?.["calls"]} calls: half take`);
  const titles = await figure.locator("rect title").allTextContents();
  const calls = titles.map((title) => Number(title.split(" ")[0]?.replace(",", "")));
  expect(calls.reduce((all, one) => all + one, 0)).toBe(of?.["calls"]);
  await row.click();
  await expect(figure).toHaveCount(0);
});

test("the critical path is that of gapless predict, by what it is spent on and by each owner", async ({page}) => {
  await open(page, file);
  const path = predictPath(sample);
  const section = page.locator("#path");
  for (const [bound, ns] of Object.entries(path.by_bound as Record<string, number>)) {
    const shown = section.locator(`[data-bound="${bound}"]`);
    await expect(shown).toHaveCount(ns > 0 ? 1 : 0);
    if (ns > 0) await expect(shown).toHaveAttribute("data-value", String(ns));
  }
  for (const owner of ["operator", "kernel", "thread"]) {
    await section.getByRole("tab", {name: `by ${owner}`}).click();
    const first = path[`by_${owner}`]?.[0];
    await expect(section.locator("li").first().locator(".amount")).toHaveAttribute("data-value", String(first?.ns));
    await expect(section.locator("li").first().locator(".name")).toHaveText(first?.name ?? "");
  }
});
