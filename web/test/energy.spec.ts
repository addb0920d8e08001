// SPDX-License-Identifier: Apache-2.0
// The energy of a step and of the findings: the figures of `gapless report --style energy`.
import {expect, test} from "@playwright/test";
import {open, violations} from "./browser";
import {energyOf, type Recording, reportOf} from "./recordings";

const sample: Recording = {
  name: "energy",
  what: "six steps of ResNet-50 whose GPU draws what was said",
  path: () => "samples/resnet50_v100.pt.trace.json.gz",
  arguments: ["--watts", "250"],
  hasFindings: true,
};

test("shows where the joules of a step go, and what each finding takes a day", async ({page}) => {
  const complaints = await open(page, reportOf(sample));
  const account = energyOf(sample);
  const part = page.locator("#energy");
  await expect(part.locator("header")).toContainText("1 GPU × 250 W, power as given");
  const rows = part.locator("tr[data-part]");
  await expect(rows).toHaveCount(account.parts.length);
  for (const [place, {name, joules}] of account.parts.entries()) {
    await expect(rows.nth(place)).toHaveAttribute("data-part", name);
    await expect(rows.nth(place)).toHaveAttribute("data-joules", String(joules));
  }
  const findings = part.locator("tr[data-bottleneck]");
  await expect(findings).toHaveCount(account.findings.length);
  expect(account.findings.length).toBeGreaterThan(2);
  const ids = await findings.evaluateAll((found) => found.map((row) => row.getAttribute("data-bottleneck")));
  expect(ids).toEqual(account.findings.map(({id}: {id: string}) => id));
  expect(complaints).toEqual([]);
  expect(await violations(page)).toEqual([]);
});

test("a board's limit alone is no energy of a training", async ({page}) => {
  await open(page, reportOf({...sample, name: "no-energy", arguments: ["--price", "2"]}));
  await expect(page.locator("#energy")).toHaveCount(0);
});
