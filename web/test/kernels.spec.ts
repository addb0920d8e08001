// SPDX-License-Identifier: Apache-2.0
// The part about measured kernels: what it shows of the chosen kernel is what the tables have.
import {expect, test} from "@playwright/test";
import {drawAll, open, violations} from "./browser";
import {query, type Recording, reportOf} from "./recordings";

const measured: Recording = {
  name: "kernels",
  what: "two kernels of a report of Nsight Compute",
  path: () => "tests/data/kernels.ncu-rep",
  hasFindings: true,
};

test("shows the roofline, and of the chosen kernel its launch, limits, stalls and lines", async ({page}) => {
  const complaints = await open(page, reportOf(measured));
  await drawAll(page);
  const part = page.locator("#kernels");
  await expect(part.locator(".chart canvas")).toHaveCount(2);
  const kernels = query(measured, "SELECT * FROM measured_kernels");
  expect(kernels.length).toBe(2);
  for (const [place, kernel] of kernels.entries()) {
    await part.getByLabel("Kernel", {exact: true}).selectOption({index: place});
    await expect(part.locator("h3.kernel")).toHaveText(String(kernel["kernel_name"]));
    await expect(part.locator("dl.launch")).toContainText(`${kernel["grid"]} × ${kernel["block"]}`);
    const of = `WHERE launch_index = ${kernel["launch_index"]}`;
    const limits = query(measured, `SELECT what FROM kernel_limits ${of}`).map((row) => row["what"]);
    const found = part.getByLabel("What holds it back").locator("tbody tr td:nth-child(2)");
    expect(await found.allTextContents()).toEqual(limits);
    const lines = query(measured, `SELECT file || ':' || line AS line FROM kernel_hot_lines ${of}`);
    const shown = part.getByLabel("Lines with most samples").locator("tbody tr td:nth-child(2)");
    expect(await shown.allTextContents()).toEqual(lines.map((row) => row["line"]));
    expect(lines.length).toBe(3);
  }
  expect(complaints).toEqual([]);
  expect(await violations(page)).toEqual([]);
});

test("a recording without hardware counters has no such part", async ({page}) => {
  await open(page, reportOf({name: "no-kernels", path: () => "tests/data/cpu_only.json"}));
  await expect(page.locator("#kernels")).toHaveCount(0);
});
