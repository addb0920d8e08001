// SPDX-License-Identifier: Apache-2.0
// How large a report is and how long a browser takes to show its first screen: node web/bench.mjs PROGRAM RECORDING...
// Each report is opened in turn, in a browser that is already running, seven rounds; the time is from the start of the
// navigation to the first frame with the whole page in it. A page of the same size without a script is the yardstick.
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {basename, join, resolve} from "node:path";
import {chromium} from "@playwright/test";

const ROUNDS = 7;
const [program, ...recordings] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "gapless-page-"));
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

function timed(...args) {
  const start = process.hrtime.bigint();
  execFileSync(resolve(program), args, {stdio: "ignore"});
  return Number(process.hrtime.bigint() - start) / 1e6;
}

async function opened(page, file, what) {
  await page.goto(`file://${file}`, {waitUntil: "commit"});
  return page.evaluate(
    (selector) =>
      new Promise((done) => {
        const look = () =>
          document.querySelector(selector)
            ? requestAnimationFrame(() => setTimeout(() => done(performance.now())))
            : setTimeout(look, 1);
        look();
      }),
    what,
  );
}

const reports = recordings.map((recording, at) => {
  const file = join(folder, `${at}.html`);
  const bare = join(folder, `${at}-bare.html`);
  timed("analyze", recording, "-o", file); // fills the cache of columns
  const size = statSync(file).size;
  writeFileSync(bare, `<!doctype html><p>bare<script type="text/plain">${"x".repeat(size)}</script><footer></footer>`);
  return {recording, file, bare, size, open: [], plain: [], html: [], terminal: []};
});
const browser = await chromium.launch({
  executablePath: process.env.GAPLESS_CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
const page = await browser.newPage({viewport: {width: 1440, height: 900}});
for (let round = 0; round < ROUNDS; ++round) {
  for (const report of reports) {
    report.plain.push(await opened(page, report.bare, "footer"));
    report.open.push(await opened(page, report.file, "footer"));
    report.terminal.push(timed("analyze", report.recording));
    report.html.push(timed("analyze", report.recording, "-o", report.file));
  }
}
await browser.close();
console.log(
  "| report of | MB | first screen ms | bare page ms | analyze ms | with the page | ratio |\n|---|---|---|---|---|---|---|",
);
for (const {recording, size, open, plain, html, terminal} of reports) {
  const ratio = median(html.map((time, at) => time / terminal[at]));
  const cells = [size / 1e6, median(open), median(plain), median(terminal), median(html), ratio];
  console.log(`| ${basename(recording)} | ${cells.map((value) => value.toFixed(value < 10 ? 2 : 0)).join(" | ")} |`);
}
rmSync(folder, {recursive: true});
