// SPDX-License-Identifier: Apache-2.0
// The timeline of a report as a person uses it (that of a server: timeline_served.spec.ts): moving, selecting, searching, jumping there and back.
import {expect, type Page, test} from "@playwright/test";
import {inTheme, ON_SCHEDULE, open, sizesOf, violations} from "./browser";
import {Synthetic} from "./synthetic";
import {reportWith} from "./timeline_page";

const recording = new Synthetic(64, 20, 600);
const slowest = recording.overview.steps[7]; // of rank 0, as of all
const FROM = slowest?.ts_ns ?? 0;
const TO = FROM + (slowest?.dur_ns ?? 0);

let report = "";
test.beforeAll(() => {
  report = reportWith(recording, "report", 8);
});

/** The view that the address has, once it was written. */
async function viewOf(page: Page): Promise<[number, number]> {
  await page.waitForTimeout(400); // the address follows the view
  const parts = new URLSearchParams((await page.evaluate(() => location.hash)).split("?")[1] ?? "");
  return [Number(parts.get("from")), Number(parts.get("to"))];
}

/** Brings the timeline to the top of the window, and gives the place of its lanes. */
async function lanes(page: Page) {
  await page.evaluate(() => document.getElementById("timeline")?.scrollIntoView());
  const box = await page.locator(".tl-main").boundingBox();
  expect(box).not.toBeNull();
  return box ?? {x: 0, y: 0, width: 0, height: 0};
}

/** The place of a lane's name, and so of the lane. */
async function laneAt(page: Page, name: string): Promise<number> {
  const box = await page.locator(".tl-name", {hasText: name}).first().boundingBox();
  return (box?.y ?? 0) + 8;
}

/** A click on the event of a lane that is at this share of the width. */
async function clickEvent(page: Page, lane: string, share: number) {
  const box = await lanes(page);
  await page.mouse.click(box.x + share * box.width, await laneAt(page, lane));
}

/** A sum over the canvas' pixels: pictures that differ have different ones. */
const picture = (page: Page) =>
  page.locator(".tl-main").evaluate((canvas: HTMLCanvasElement) => {
    const {data} = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {data: []};
    let sum = 0;
    for (let at = 0; at < data.length; at += 4) sum = (sum * 31 + (data[at] ?? 0) + 7 * (data[at + 2] ?? 0)) | 0;
    return sum;
  });

test.describe("of a report", () => {
  test.beforeEach(async ({page}) => {
    await page.setViewportSize({width: 1440, height: 900});
    expect(await open(page, report)).toEqual([]);
  });

  test("begins with the slowest step, has all steps above, and loads nothing", async ({page}) => {
    await lanes(page);
    await expect(page.getByLabel("Step", {exact: true})).toHaveValue("8");
    const [seen, all] = await Promise.all(
      [".tl-window", ".tl-strip"].map(async (part) => (await page.locator(part).boundingBox())?.width ?? 0),
    );
    expect((seen ?? 0) / (all ?? 1)).toBeCloseTo((TO - FROM) / recording.overview.to_ns, 2);
    await page.getByLabel("Step after").click();
    expect(await viewOf(page)).toEqual([TO, TO + 120_000_000]);
    await page.getByRole("button", {name: "whole run"}).click();
    expect(await viewOf(page)).toEqual([0, recording.overview.to_ns]);
    await page.getByRole("button", {name: "slowest step"}).click();
    expect(await viewOf(page)).toEqual([FROM, TO]);
  });

  test("a click on the strip shows a step, dragging in it moves the window or draws a new one", async ({page}) => {
    await lanes(page);
    const strip = await page.locator(".tl-strip").boundingBox();
    const at = (time: number) => (strip?.x ?? 0) + (time / recording.overview.to_ns) * (strip?.width ?? 0);
    const y = (strip?.y ?? 0) + 12;
    await page.mouse.click(at(60_000_000), y);
    expect(await viewOf(page)).toEqual([0, 120_000_000]);
    await page.mouse.move(at(1_500_000_000), y);
    await page.mouse.down();
    await page.mouse.move(at(2_000_000_000), y, {steps: 4});
    await page.mouse.up();
    const [from, to] = await viewOf(page);
    expect(Math.abs(from - 1_500_000_000) + Math.abs(to - 2_000_000_000)).toBeLessThan(10_000_000);
    await page.mouse.move(at(1_700_000_000), y);
    await page.mouse.down();
    await page.mouse.move(at(1_600_000_000), y, {steps: 4});
    await page.mouse.up();
    const moved = await viewOf(page);
    expect(Math.abs(moved[0] - from + 100_000_000)).toBeLessThan(10_000_000);
    expect(moved[1] - moved[0]).toBeCloseTo(to - from, -2);
  });

  test(
    "the wheel scrolls the page until Ctrl is held or the canvas was clicked, and after Escape again",
    ON_SCHEDULE,
    async ({page}) => {
      const box = await lanes(page);
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 100);
      const top = await page.evaluate(() => scrollY);
      await page.mouse.wheel(0, -80);
      await expect.poll(() => page.evaluate(() => scrollY)).toBeLessThan(top);
      expect(await page.evaluate(() => location.hash)).toBe("");
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, -200);
      await page.keyboard.up("Control");
      const [from, to] = await viewOf(page);
      expect(to - from).toBeLessThan(0.8 * (TO - FROM));
      expect((from - FROM) / (TO - FROM - (to - from))).toBeCloseTo(0.25, 1); // what was below the pointer stays there
      await clickEvent(page, "steps", 0.5);
      const still = await page.evaluate(() => scrollY);
      await page.mouse.wheel(0, 150);
      const [wider, end] = await viewOf(page);
      expect(end - wider).toBeGreaterThan(to - from);
      expect(await page.evaluate(() => scrollY)).toBe(still);
      await page.keyboard.press("Escape"); // what is selected
      await page.keyboard.press("Escape"); // the focus
      await page.mouse.wheel(0, -80);
      await expect.poll(() => page.evaluate(() => scrollY)).toBeLessThan(still);
    },
  );

  test("dragging moves, Shift and dragging selects with sums and a flame graph, Escape clears", async ({page}) => {
    const box = await lanes(page);
    const y = await laneAt(page, "stream 7");
    await page.mouse.move(box.x + 600, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, y, {steps: 5});
    await page.mouse.up();
    const [from] = await viewOf(page);
    expect((from - FROM) / (TO - FROM)).toBeCloseTo(300 / box.width, 2);
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + 200, y);
    await page.mouse.down();
    await page.mouse.move(box.x + 500, y, {steps: 5});
    await page.mouse.up();
    await page.keyboard.up("Shift");
    const panel = page.locator('[data-panel="selection"]');
    await expect(panel).toContainText("count as one");
    await expect(panel.locator("table")).toHaveCount(3);
    await expect(panel.getByRole("group", {name: "Flame graph"}).getByRole("button").first()).toContainText("train.py");
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("range=");
    await page.locator(".tl-place").press("Escape");
    await expect(panel).toHaveCount(0);
  });

  test("the flame graph zooms by click and keys", ON_SCHEDULE, async ({page}) => {
    await clickEvent(page, "steps", 0.5);
    await page.keyboard.press("m");
    const graph = page.getByRole("group", {name: "Flame graph"});
    await graph.getByRole("button").first().focus();
    await page.keyboard.press("ArrowDown");
    await expect(graph.locator(":focus")).toContainText("aten::linear");
    await page.keyboard.press("Enter");
    await expect(graph.getByRole("button").first()).toContainText("aten::linear");
    await page.getByRole("button", {name: "whole selection"}).click();
    await expect(graph.getByRole("button").first()).toContainText("train.py");
  });

  test("a click shows what an event is, keys go on along its lane, f makes it fill the view", async ({page}) => {
    await clickEvent(page, "annotations", 0.2);
    const panel = page.locator('[data-panel="event"]');
    await expect(panel.locator("h3")).toHaveText("forward");
    await expect(panel).toContainText("67.2 ms");
    await expect(page.locator("#tl-said")).toContainText("forward");
    await page.keyboard.press(".");
    await expect(panel.locator("h3")).toHaveText("backward");
    await page.keyboard.press("[");
    await expect(panel.locator("h3")).toHaveText("forward");
    await page.keyboard.press("f");
    const [from, to] = await viewOf(page);
    expect(from).toBeLessThanOrEqual(FROM);
    expect((to - from) / (0.4 * (TO - FROM))).toBeCloseTo(1.3, 1);
  });

  test("the pointer says what is below it: an event, or the value of a counter", async ({page}) => {
    const box = await lanes(page);
    const tip = page.locator(".tl-tip");
    await page.mouse.move(box.x + 0.2 * box.width, await laneAt(page, "annotations"));
    await expect(tip).toHaveText(/^forward67\.2 ms/);
    await page.mouse.move(box.x + 0.5 * box.width, (await laneAt(page, "GPU power")) + 20);
    await expect(tip).toHaveText(/^GPU power: \d+ W$/);
    await page.mouse.move(box.x + 0.5 * box.width, box.y - 80);
    await expect(tip).toBeHidden();
  });

  test("letters zoom and move as in Perfetto, ? shows them", ON_SCHEDULE, async ({page}) => {
    await lanes(page);
    const place = page.locator(".tl-place");
    await place.press("w");
    const closer = await viewOf(page);
    expect(closer[1] - closer[0]).toBeCloseTo((TO - FROM) / 1.4, -1);
    await place.press("d");
    expect((await viewOf(page))[0]).toBeGreaterThan(closer[0]);
    await place.press("a");
    expect(await viewOf(page)).toEqual(closer);
    await place.press("s");
    const back = await viewOf(page);
    expect(back[1] - back[0]).toBeCloseTo(TO - FROM, -1);
    await place.press("?");
    await expect(page.locator('[data-panel="keys"]')).toContainText("zoom in");
  });

  test("ranks open and close, lanes are pinned, hidden and filtered", async ({page}) => {
    await lanes(page);
    await expect(page.locator(".tl-name", {hasText: "stream 7"})).toHaveCount(1);
    await page.getByRole("button", {name: "rank 0"}).click();
    await expect(page.locator(".tl-name", {hasText: "stream 7"})).toHaveCount(0);
    await page.getByRole("button", {name: "▸ rank 1", exact: true}).click();
    await expect(page.locator(".tl-name", {hasText: "stream 7"})).toHaveCount(1);
    await page.locator(".tl-name", {hasText: "stream 7"}).hover();
    await page.getByRole("button", {name: "pin rank 1, stream 7"}).click();
    await expect(page.locator(".tl-name").first()).toContainText("rank 1 · stream 7");
    await page.locator(".tl-name", {hasText: "autograd"}).hover();
    await page.getByRole("button", {name: "hide rank 1, autograd 1202, thread 1202"}).click();
    await expect(page.locator(".tl-name", {hasText: "autograd"})).toHaveCount(0);
    await page.getByRole("button", {name: "show again"}).click();
    await expect(page.locator(".tl-name", {hasText: "autograd"})).toHaveCount(1);
    await page.getByLabel("Lanes and ranks that hold this text").fill("rank 63");
    await expect(page.locator(".tl-name.rank")).toHaveText(["▸ rank 63"]);
  });

  test("a search counts, goes from hit to hit, lists them and dims the others", ON_SCHEDULE, async ({page}) => {
    await lanes(page);
    const before = await picture(page);
    await page.locator(".tl-place").press("/");
    await page.keyboard.type("allreduce");
    await expect(page.locator(".tl-count")).toHaveText(/^[\d,]+$/);
    await expect.poll(() => picture(page)).not.toBe(before);
    const field = page.getByLabel("Search events by name");
    await field.press("Enter");
    await expect(page.locator(".tl-count")).toHaveText(/^1 of [\d,]+$/);
    await expect(page.locator('[data-panel="event"] h3')).toContainText("AllReduce");
    await field.press("Enter");
    await expect(page.locator(".tl-count")).toHaveText(/^2 of /);
    await page.locator("summary", {hasText: "found"}).click();
    await page.locator(".tl-hits button").first().click();
    await expect(page.locator(".tl-count")).toHaveText(/^1 of /);
    await field.fill("re:(");
    await expect(field).toHaveAttribute("aria-invalid", "true");
  });

  test(
    "the address is what is shown: opened again it shows the same, and back leads back",
    ON_SCHEDULE,
    async ({page}) => {
      await clickEvent(page, "stream 20", 0.5);
      await page.keyboard.press("m");
      const view = await viewOf(page);
      const hash = await page.evaluate(() => location.hash);
      expect(hash).toMatch(/#timeline\?from=\d+&to=\d+&op=\d+&range=\d+-\d+&trace=0/);
      const name = await page.locator('[data-panel="event"] h3').textContent();
      await page.goto("about:blank");
      await page.goto(`file://${report}${hash}`);
      await expect(page.locator('[data-panel="event"] h3')).toHaveText(name ?? "");
      await expect(page.locator('[data-panel="selection"]')).toBeVisible();
      await expect(page.locator(".tl-main")).toBeInViewport();
      expect(await viewOf(page)).toEqual(view);
      await page.evaluate(() => {
        location.hash = "#timeline?from=120000000&to=240000000";
      });
      await expect(page.getByLabel("Step", {exact: true})).toHaveValue("2");
      await expect(page.locator('[data-panel="event"]')).toHaveCount(0);
      await page.goBack();
      await expect(page.locator('[data-panel="event"] h3')).toHaveText(name ?? "");
    },
  );

  test("a row of a table leads to its event, and a button back to the table", async ({page}) => {
    await page.getByRole("tab", {name: "Idle gaps"}).click();
    const jump = page.getByRole("button", {name: "Show row 1 in the timeline"});
    await jump.scrollIntoViewIfNeeded();
    const before = await jump.boundingBox();
    await jump.click();
    await expect(page.locator('[data-panel="selection"]')).toContainText("2.00 ms");
    await expect(page.locator('[data-panel="selection"] select').first()).toHaveValue("1");
    await page.getByRole("button", {name: "back to table idle"}).click();
    await expect(jump).toBeFocused();
    expect((await jump.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, 0);
    await page.getByRole("tab", {name: "Kernels"}).click();
    await page.getByRole("button", {name: "Show row 1 in the timeline"}).click();
    await expect(page.locator('[data-panel="event"]')).toContainText("gpu_op");
  });

  test("a row of a rank that is not drawn leads nowhere, and the page says so", async ({page}) => {
    await page.getByRole("tab", {name: "Idle gaps"}).click();
    await page.getByRole("button", {name: "Show row 2 in the timeline"}).click();
    await expect(page.locator(".tl-back")).toContainText("does not hold that event, or its rank");
    await expect(page.locator('[data-panel="selection"]')).toHaveCount(0);
  });

  test("a bar of a step and a cell of the ranks lead to that step", ON_SCHEDULE, async ({page}) => {
    const clickIn = async (label: RegExp, x: (width: number) => number, y: (height: number) => number) => {
      const chart = page.getByRole("img", {name: label});
      await chart.scrollIntoViewIfNeeded();
      await chart.locator("canvas").waitFor();
      const box = (await chart.boundingBox()) ?? {width: 0, height: 0};
      await chart.click({position: {x: x(box.width), y: y(box.height)}});
    };
    const plot = (from: number, share: number) => (width: number) => from + share * (width - from - 16);
    await clickIn(/^Stacked bars/, plot(62, 0.75), (height) => height - 60);
    await expect(page.getByLabel("Step", {exact: true})).toHaveValue("3");
    await page.getByRole("button", {name: "back to the steps"}).click();
    await clickIn(/^Heat map/, plot(110, 0.25), () => 16);
    await expect(page.getByLabel("Step", {exact: true})).toHaveValue("2");
    await expect(page.getByRole("button", {name: "back to the ranks"})).toBeVisible();
  });

  test("evidence leads to its event, or the page says that it does not hold it", async ({page}) => {
    await page.locator(".more").first().click();
    await page.getByRole("button", {name: "show it"}).click();
    await expect(page.locator(".tl-back")).toContainText("back to A GEMM is slow");
    await expect(page.locator(".tl-back")).toContainText("does not hold that event");
    await page.getByRole("button", {name: "back to A GEMM is slow"}).click();
    await expect(page.locator(".tl-back")).toHaveCount(0);
    await expect(page.getByRole("button", {name: "show it"})).toBeFocused();
  });

  test("where it ends it says who has more", ON_SCHEDULE, async ({page}) => {
    await lanes(page);
    const end = page.locator(".tl-end");
    await page.getByLabel("Lanes and ranks that hold this text").fill("rank 0");
    await expect(end).toHaveCount(0);
    for (let times = 0; times < 12; ++times) await page.getByLabel("Zoom in").click();
    await expect(end).toHaveText("The report ends here; gapless serve traces/ shows every event.");
  });

  test("the axis stays in sight while the page scrolls over the timeline", ON_SCHEDULE, async ({page}) => {
    const box = await lanes(page);
    await page.evaluate((by) => scrollBy(0, by), box.height - 60);
    const axis = await page.locator(".tl-axis").boundingBox();
    expect(axis?.y).toBeGreaterThan(40);
    expect(axis?.y).toBeLessThan(130);
  });

  test(
    "the events of the lane in focus are a table for those who do not see the picture",
    ON_SCHEDULE,
    async ({page}) => {
      await lanes(page);
      const place = page.locator(".tl-place");
      await place.focus();
      for (let times = 0; times < 2; ++times) await page.keyboard.press("ArrowDown");
      await expect(page.locator("#tl-said")).toContainText("rank 0, annotations");
      await page.locator("summary", {hasText: "2 events of rank 0, annotations in view"}).click();
      await expect(page.locator(".tl-list tbody tr")).toHaveText([/forward.*67\.2 ms/, /backward.*100\.8 ms/]);
      await page.locator(".tl-list tbody button").last().click();
      await expect(page.locator('[data-panel="event"] h3')).toHaveText("backward");
    },
  );

  test("two fingers zoom", ON_SCHEDULE, async ({page}) => {
    const box = await lanes(page);
    await page.evaluate(
      ([x, y]) => {
        const canvas = document.querySelector(".tl-main");
        const send = (type: string, pointerId: number, at: number) =>
          canvas?.dispatchEvent(
            new PointerEvent(type, {pointerId, pointerType: "touch", clientX: at, clientY: y ?? 0, bubbles: true}),
          );
        Element.prototype.setPointerCapture = () => {};
        send("pointerdown", 1, (x ?? 0) + 400);
        send("pointerdown", 2, (x ?? 0) + 500);
        send("pointermove", 2, (x ?? 0) + 500);
        send("pointermove", 2, (x ?? 0) + 600);
        send("pointerup", 1, (x ?? 0) + 400);
        send("pointerup", 2, (x ?? 0) + 600);
      },
      [box.x, box.y + 50],
    );
    const [from, to] = await viewOf(page);
    expect((to - from) / (TO - FROM)).toBeCloseTo(0.5, 1);
  });

  test("on paper it has the width of the sheet, all lanes and its colours", ON_SCHEDULE, async ({page}) => {
    await lanes(page);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.emulateMedia({media: "print"});
    const sizes = await page.locator(".tl-main").evaluate((canvas: HTMLCanvasElement) => ({
      shown: canvas.getBoundingClientRect().width,
      drawn: canvas.width / devicePixelRatio,
      height: canvas.getBoundingClientRect().height,
      adjust: getComputedStyle(canvas).getPropertyValue("print-color-adjust"),
    }));
    expect(sizes.drawn).toBe(Math.round(sizes.shown));
    expect(sizes.shown).toBeLessThan(660);
    expect(sizes.height).toBeGreaterThan(64 * 22);
    expect(sizes.adjust).toBe("exact");
    await expect(page.locator(".tl-name.rank").last()).toContainText("rank 63");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({media: "screen"});
    await expect.poll(async () => (await page.locator(".tl-main").boundingBox())?.width).toBeGreaterThan(900);
  });

  for (const theme of ["light", "dark"] as const) {
    test(
      `nothing serious stands in the way of assistive tools, and it fits, ${theme}`,
      inTheme(theme),
      async ({page}) => {
        await page.emulateMedia({colorScheme: theme});
        await clickEvent(page, "annotations", 0.3);
        await page.keyboard.press("m");
        await page.keyboard.press("?");
        await page.getByLabel("Search events by name").fill("gemm");
        await expect(page.locator(".tl-count")).toBeVisible();
        for (const details of await page.locator("#timeline summary").all()) await details.click();
        for (const width of sizesOf(theme, [2560, 1440, 768, 390])) {
          await page.setViewportSize({width, height: 900});
          await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
          expect(await violations(page)).toEqual([]);
        }
      },
    );
  }
});
