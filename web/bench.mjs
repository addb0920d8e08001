// SPDX-License-Identifier: Apache-2.0
// How large a report is and how long a browser takes to show its first screen: node web/bench.mjs PROGRAM RECORDING...
// Each report is opened in turn, in a browser that is already running, seven rounds; the time is from the start of the
// navigation to the first frame with the whole page in it. A page of the same size without a script is the yardstick.
//
// node web/bench.mjs --timeline says how long the frames of a timeline of 64 ranks take while it is zoomed and moved: the
// script with all it draws, and the same with the pixels filled by the processor, as in a browser without a GPU. With the
// address that `gapless serve` printed, the recording that it serves is measured, and when its first screen was there.
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {basename, join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {chromium} from "@playwright/test";
import {build} from "esbuild";

const browsers = () =>
  chromium.launch({
    executablePath: process.env.GAPLESS_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });

const quantile = (values, share) =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

/** Measures what the page does in each frame: runs in the page before its scripts. */
function measureFrames() {
  window.frames_ms = [];
  window.pixels = false;
  const ask = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) =>
    ask((time) => {
      const start = performance.now();
      draw(time);
      if (window.pixels)
        for (const canvas of document.querySelectorAll("#timeline canvas"))
          canvas.getContext("2d").getImageData(0, 0, 1, 1);
      window.frames_ms.push(performance.now() - start);
    });
}

/** Zooms, moves and scrolls, an event a frame; gives how long the frames took, in ms. */
async function movedAround(page) {
  return page.evaluate(async () => {
    const canvas = document.querySelector(".tl-main");
    const box = canvas.getBoundingClientRect();
    const frame = () => new Promise((done) => setTimeout(done, 16));
    window.frames_ms = [];
    const wheel = (deltaX, deltaY) =>
      canvas.dispatchEvent(
        new WheelEvent("wheel", {
          ...{deltaX, deltaY, bubbles: true, cancelable: true, ctrlKey: deltaX === 0},
          ...{clientX: box.left + box.width * 0.4, clientY: box.top + 200},
        }),
      );
    canvas.parentElement.focus();
    const moves = (times, deltaX, deltaY) => Array.from({length: times}, () => [deltaX, deltaY]);
    const round = [...moves(14, 0, -120), ...moves(30, 60, 0), ...moves(30, -60, 0), ...moves(14, 0, 120)];
    for (const [deltaX, deltaY] of [...round, ...round, ...round]) {
      wheel(deltaX, deltaY);
      await frame();
    }
    const bar = document.querySelector(".tl-bar");
    for (let at = 0; at < 60; ++at) {
      bar.scrollTop += at < 30 ? 40 : -40;
      await frame();
    }
    return window.frames_ms.filter((ms) => ms > 0.2); // others had nothing to draw
  });
}

/** The page of 64 ranks that a stand-in serves. */
async function ranksServed() {
  const outfile = join(mkdtempSync(join(tmpdir(), "gapless-bench-")), "parts.mjs");
  const entry = ["synthetic", "fake_server", "timeline_page"]
    .map((name) => `export * from "./test/${name}";`)
    .join("\n");
  await build({
    ...{stdin: {contents: entry, resolveDir: import.meta.dirname ?? "."}, bundle: true, outfile, format: "esm"},
    ...{platform: "node", logLevel: "error"},
    define: {"import.meta.url": JSON.stringify(pathToFileURL(resolve(import.meta.dirname ?? ".", "test/x.ts")).href)},
  });
  const {Synthetic, FakeServer, servedPage} = await import(pathToFileURL(outfile).href);
  const recording = new Synthetic(64, 20, 2000);
  const server = new FakeServer(recording, servedPage(recording));
  return {address: await server.listen(), close: () => server.close()};
}

async function timeline(given) {
  const {address, close} = given ? {address: given, close: () => {}} : await ranksServed();
  const browser = await browsers();
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  await page.addInitScript(measureFrames);
  await page.goto(address);
  await page.waitForSelector(".tl-main");
  const paints = await page.evaluate(() => performance.getEntriesByType("paint").map(({startTime}) => startTime));
  console.log(`first screen after ${Math.max(...paints).toFixed(0)} ms`);
  await page.evaluate(() => document.getElementById("timeline").scrollIntoView());
  console.log("| timeline | frames | median ms | p95 ms |\n|---|---|---|---|");
  for (const ranks of ["closed", "open"]) {
    if (ranks === "open") await page.getByLabel("Lanes and ranks that hold this text").fill("t"); // opens all: streams, threads, …
    await page.waitForTimeout(4000); // the tiles come
    for (const pixels of [false, true]) {
      await page.evaluate((is) => {
        window.pixels = is;
      }, pixels);
      const frames = await movedAround(page);
      const numbers = [0.5, 0.95].map((share) => quantile(frames, share).toFixed(1)).join(" | ");
      console.log(`| ${ranks}, ${pixels ? "script and pixels" : "script"} | ${frames.length} | ${numbers} |`);
    }
  }
  await browser.close();
  close();
}

if (process.argv[2] === "--timeline") {
  await timeline(process.argv[3]);
  process.exit();
}

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
const browser = await browsers();
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
