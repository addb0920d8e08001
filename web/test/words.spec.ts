// SPDX-License-Identifier: Apache-2.0
// Words of the field are explained where a report uses them first: once, by mouse, by keys, and in print.
import {readFileSync} from "node:fs";
import {expect, test} from "@playwright/test";
import {ON_SCHEDULE} from "./browser";
import {isThere, RECORDINGS, reportOf} from "./recordings";

for (const recording of RECORDINGS.filter(({name}) => ["small", "ranks-8", "cpu-only"].includes(name)))
  test.describe(recording.what, () => {
    test.skip(!isThere(recording), "the corpus is not here");

    test("explains each word once, and lists all that it explains", async ({page}) => {
      await page.goto(`file://${reportOf(recording)}`);
      await expect(page.locator("footer")).toBeAttached();
      const ids = await page
        .locator(".word > button")
        .evaluateAll((all) => all.map((one) => one.getAttribute("aria-describedby")));
      expect(new Set(ids).size).toBe(ids.length);
      const listed = await page.locator("#words dd").evaluateAll((all) => all.map(({id}) => id));
      expect([...listed].sort()).toEqual([...ids].sort());
      await expect(page.locator("button button, a button, summary button, #words .word")).toHaveCount(0);
    });
  });

test("a word shows its meaning on focus until Escape, within a narrow window", async ({page}) => {
  await page.setViewportSize({width: 390, height: 844});
  await page.goto(`file://${reportOf(RECORDINGS[0] as (typeof RECORDINGS)[number])}`);
  const word = page.locator(".word > button").filter({hasText: /^MFU$/});
  await word.focus();
  const meaning = page.getByRole("tooltip");
  await expect(meaning).toContainText("the arithmetic that the model needs");
  const box = await meaning.boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true);
  await page.keyboard.press("Escape");
  await expect(meaning).toHaveCount(0);
  await word.hover();
  await expect(meaning).toBeVisible();
});

test("the list of words is printed, the meanings that are shown over the text are not", ON_SCHEDULE, async ({page}) => {
  await page.goto(`file://${reportOf(RECORDINGS[0] as (typeof RECORDINGS)[number])}`);
  await page.locator(".word > button").first().focus();
  await page.emulateMedia({media: "print"});
  await expect(page.getByRole("tooltip")).toBeHidden();
  await expect(page.locator("#words dt").first()).toBeVisible();
});

test("the glossary has a word, other forms and a meaning in each row, and no form twice", () => {
  const rows = readFileSync(new URL("../../docs/glossary.md", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1);
  const forms = rows.flatMap((row) => {
    const [, word, also, meaning] = row.match(/^\| ([^|]+) \|([^|]*)\| ([^|]+\.) \|$/) ?? [];
    expect(meaning, row).toBeDefined();
    return [word, ...(also ?? "").split(",")].map((form) => form?.trim()).filter((form) => form);
  });
  expect(rows.length).toBeGreaterThan(40);
  expect(new Set(forms).size).toBe(forms.length);
});
