// SPDX-License-Identifier: Apache-2.0
// What the tests of every page do with a browser.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {expect, type Page} from "@playwright/test";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Opens the file and collects what a browser complains about or fetches. */
export async function open(page: Page, file: string): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "log") complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  page.on("request", (request) => {
    if (request.url() !== `file://${file}`) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await expect(page.locator("footer")).toBeAttached();
  return complaints;
}

/** Brings every chart into view, so that it is drawn. */
export async function drawAll(page: Page) {
  for (const chart of await page.locator(".chart").all()) {
    await chart.scrollIntoViewIfNeeded();
    await expect(chart.locator("canvas").first()).toBeVisible();
  }
  await page.evaluate(() => scrollTo(0, 0));
}

/** Of a test that CI leaves to the schedule: another one covers most of what it does. */
export const ON_SCHEDULE = {tag: "@schedule"};

/** Of a test of each theme: CI runs the light one. */
export function inTheme(theme: "light" | "dark") {
  return theme === "dark" ? ON_SCHEDULE : {};
}

/** The last of `sizes` for the dark theme in CI: it differs from the light one in colours, which are the same at every width. */
export function sizesOf<T>(theme: "light" | "dark", sizes: readonly T[]): readonly T[] {
  return theme === "light" || process.env["GAPLESS_RECORDINGS"] !== "few" ? sizes : sizes.slice(-1);
}

/** What stands in the way of assistive tools, as far as it is serious. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe-core puts itself into the window
    const found = await (window as any).axe.run({resultTypes: ["violations"]});
    return found.violations
      .filter((violation: {impact: string}) => violation.impact === "serious" || violation.impact === "critical")
      .map(
        (violation: {id: string; nodes: {html: string}[]}) =>
          `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`,
      );
  });
}
