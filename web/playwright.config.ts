// SPDX-License-Identifier: Apache-2.0
// Reads reports in the system's Chromium: `GAPLESS=build/gapless npm --prefix web test`. tests/web_test.py runs it under ctest.
import {defineConfig} from "@playwright/test";

const file = ["test-results"];

export default defineConfig({
  testDir: "test",
  outputDir: `${process.env["GAPLESS_TEST_OUTPUT"] ?? "../build/web"}/${file[0]}`,
  fullyParallel: true,
  ...(process.env["GAPLESS_RECORDINGS"] === "few" ? {grepInvert: /@schedule/} : {}),
  workers: 2,
  // A busy machine draws slowly, and a browser may die of it; what needed a second try is named at the end.
  timeout: 180_000,
  retries: process.env["CI"] ? 2 : 0,
  reporter: [[process.env["CI"] ? "dot" : "list"]],
  snapshotPathTemplate: "{testDir}/approved/{arg}{ext}",
  expect: {
    timeout: 30_000,
    toHaveScreenshot: {maxDiffPixelRatio: 0.008, animations: "disabled"},
  },
  use: {
    launchOptions: {
      executablePath: process.env["GAPLESS_CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--font-render-hinting=none",
        "--disable-lcd-text",
      ],
    },
  },
});
