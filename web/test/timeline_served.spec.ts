// SPDX-License-Identifier: Apache-2.0
// The timeline as it asks a server: what it asks for and when, and how it bears one that is slow, refuses or fails. The
// server is a stand-in that can be told to be so.
import {expect, type Page, test} from "@playwright/test";
import {FakeServer} from "./fake_server";
import {Synthetic} from "./synthetic";
import {servedPage} from "./timeline_page";

const recording = new Synthetic(64, 20, 600);
const slowest = recording.overview.steps[7]; // rank 0 has it, as all ranks have
const FROM = slowest?.ts_ns ?? 0;
const TO = FROM + (slowest?.dur_ns ?? 0);

/** Pixels over the lanes in the colour of arrows. */
const arrows = (page: Page) =>
  page.locator(".tl-over").evaluate((canvas: HTMLCanvasElement) => {
    const {data} = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {data: []};
    let count = 0;
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === 31 && data[at + 1] === 95 && data[at + 2] === 196) count += 1;
    return count;
  });

test.describe("served", () => {
  test.skip(
    process.env["GAPLESS_RECORDINGS"] === "few",
    "CI has the real server (serve.spec.ts); the schedule has these",
  );
  let server: FakeServer;
  let address = "";
  test.beforeEach(async ({page}) => {
    server = new FakeServer(recording, servedPage(recording));
    address = await server.listen();
    await page.setViewportSize({width: 1440, height: 900});
  });
  test.afterEach(() => server.close());

  const tiles = () => server.asked.filter((asked) => asked.includes("/tile"));
  const levelsOf = () => new Set(tiles().map((asked) => Number(new URL(asked, address).searchParams.get("level"))));

  test("asks for what is in sight, six at once at most, and keeps what it has", async ({page}) => {
    server.delay = 30;
    await page.addInitScript(() => {
      const counts = Object.assign(window, {asks: 0, mostAsks: 0});
      const ask = window.fetch.bind(window);
      window.fetch = async (...of) => {
        counts.asks += 1;
        counts.mostAsks = Math.max(counts.mostAsks, counts.asks);
        return ask(...of).finally(() => {
          counts.asks -= 1;
        });
      };
    });
    await page.goto(address);
    await page.locator(".tl-main").waitFor();
    await expect.poll(() => server.atOnce).toBe(0);
    await page.waitForTimeout(500);
    const traces = new Set(tiles().map((asked) => new URL(asked, address).searchParams.get("trace")));
    expect(traces.size).toBeGreaterThan(5);
    expect(traces.size).toBeLessThan(30); // of 64
    expect(await page.evaluate(() => (window as unknown as {mostAsks: number}).mostAsks)).toBe(6);
    const before = tiles().length;
    await page.locator(".tl-place").press("d");
    await page.locator(".tl-place").press("a");
    await page.waitForTimeout(800);
    const after = tiles();
    expect(new Set(after).size).toBe(after.length);
    await page.getByRole("button", {name: "slowest step"}).click();
    await page.waitForTimeout(400);
    expect(tiles().length).toBe(after.length);
    expect(after.length).toBeGreaterThanOrEqual(before);
  });

  test("draws what it has until finer tiles are here, and leaves what is no longer seen", async ({page}) => {
    await page.goto(address);
    await page.locator(".tl-main").waitFor();
    await expect.poll(() => tiles().length).toBeGreaterThan(10);
    await page.waitForTimeout(1500);
    server.delay = 3000;
    const asked = tiles().length;
    await page.locator(".tl-place").focus();
    for (let times = 0; times < 16; ++times) await page.keyboard.press("w");
    await page.waitForTimeout(300);
    const drawn = await page.locator(".tl-main").evaluate((canvas: HTMLCanvasElement) => {
      const {data} = canvas.getContext("2d")?.getImageData(0, 100, canvas.width, 40) ?? {
        data: [] as unknown as Uint8ClampedArray,
      };
      return data.filter((value, at) => at % 4 === 3 && value > 0).length;
    });
    expect(drawn).toBeGreaterThan(5000); // the coarser ones, magnified
    expect(tiles().length).toBeGreaterThan(asked);
    expect(server.atOnce).toBeLessThanOrEqual(6);
    expect(levelsOf().size).toBeGreaterThan(2);
  });

  test("an event has details and links; a link leads to the other event, and back leads back", async ({page}) => {
    const kernel = 7 * recording.kernels + 300;
    await page.goto(`${address}/#timeline?op=${kernel}`);
    const panel = page.locator('[data-panel="event"]');
    await expect(panel.locator("h3")).toHaveText(recording.event("gpu_op", kernel)?.name ?? "");
    await expect(panel).toContainText("128 × 1 × 1");
    await page.locator(".tl-place").press("s");
    await expect.poll(() => arrows(page)).toBeGreaterThan(30);
    await panel.getByRole("button", {name: "cudaLaunchKernel"}).click();
    await expect(panel.locator("h3")).toHaveText("cudaLaunchKernel");
    await expect(panel).toContainText("launched");
    await expect(page).toHaveURL(new RegExp(`slice=${10 * kernel + 1}`));
    await page.goBack();
    await expect(panel.locator("h3")).toHaveText(recording.event("gpu_op", kernel)?.name ?? "");
    await page.locator(".tl-place").press("Escape");
    await expect.poll(() => arrows(page)).toBe(0);
  });

  test("a collective leads to the same one of another rank, which opens", async ({page}) => {
    const collective = 1e9 + 7 * recording.kernels + 304;
    await page.goto(`${address}/#timeline?op=${collective}`);
    await page.getByLabel("Events that belong to it").getByRole("button").first().click();
    await expect(page.locator('[data-panel="event"]')).toContainText("rank 1, stream 20 nccl");
    await expect(page.getByRole("button", {name: "▾ rank 1", exact: true})).toBeVisible();
  });

  test("sums and hits come from the server", async ({page}) => {
    await page.goto(`${address}/#timeline?from=${FROM}&to=${TO}&range=${FROM}-${TO}&trace=2`);
    await expect(page.locator('[data-panel="selection"] table')).toHaveCount(1);
    await expect(page.locator('[data-panel="selection"]')).not.toContainText("count as one");
    await page.getByLabel("Search events by name").fill("layer_norm");
    const {total} = recording.search("layer_norm", 500);
    await expect(page.locator(".tl-count")).toHaveText(total.toLocaleString("en-US"));
    await page.getByLabel("Next that was found").click();
    await expect(page.locator('[data-panel="event"] h3')).toHaveText("layer_norm_backward_kernel");
  });

  test("what the server refuses is said where it was asked for", async ({page}) => {
    await page.goto(address);
    await page.locator(".tl-main").waitFor();
    await page.waitForTimeout(500);
    server.failing = true;
    await page.getByLabel("Search events by name").fill("gemm");
    await expect(page.locator(".tl-search .tl-problem")).toHaveText("there is none");
    await page.evaluate(() => {
      location.hash = "#timeline?range=1000000-2000000";
    });
    await expect(page.locator('[data-panel="selection"]')).toContainText("No sums: there is none");
  });

  test("a server that fails is named, and asked again", async ({page}) => {
    await page.goto(address);
    await page.locator(".tl-main").waitFor();
    await page.waitForTimeout(500);
    server.failing = true;
    const before = tiles().length;
    await page.getByRole("button", {name: "whole run"}).click();
    await expect(page.locator("p.tl-problem")).toContainText("there is none");
    const asked = tiles()[before]; // it failed
    server.failing = false;
    await expect.poll(() => tiles().filter((one) => one === asked).length, {timeout: 10_000}).toBe(2); // by itself
    await expect(page.locator("p.tl-problem")).toHaveCount(0);
  });
});
