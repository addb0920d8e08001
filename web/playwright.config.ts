// SPDX-License-Identifier: Apache-2.0
// Reads reports in the system's Chromium: `GAPLESS=build/gapless npm --prefix web test`. tests/web_test.py runs it under ctest.
import {defineConfig} from "@playwright/test";

const file = ["test-results"];

export default defineConfig({
  testDir: "test",
  outputDir: `${process.env["GAPLESS_TEST_OUTPUT"] ?? "../build/web"}/${file[0]}`,
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  reporter: [["list"]],
  snapshotPathTemplate: "{testDir}/approved/{arg}{ext}",
  expect: {toHaveScreenshot: {maxDiffPixelRatio: 0.008, animations: "disabled"}},
  use: {
    launchOptions: {
      executablePath: process.env["GAPLESS_CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--font-render-hinting=none", "--disable-lcd-text"],
    },
  },
});
