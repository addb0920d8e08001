// SPDX-License-Identifier: Apache-2.0
// The site of the documentation, opened from the disk as somebody reads it who unpacked an archive: search needs no server.
import {existsSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {expect, test} from "@playwright/test";

const site = fileURLToPath(new URL("../../build/site", import.meta.url));

test.skip(!existsSync(`${site}/index.html`), "there is no build/site: make docs");

for (const page_of_site of ["index.html", "tutorials/nsys_file.html"]) {
  test(`a word is found from ${page_of_site}, without a network`, async ({page, context}) => {
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(`file://${site}/`)) elsewhere.push(request.url());
    });
    await context.setOffline(true);
    await page.goto(`file://${site}/${page_of_site}`);
    await page.locator(".md-search__input").click();
    await expect(page.locator(".md-search-result__meta")).toHaveText("Type to start searching");
    await page.locator(".md-search__input").pressSequentially("straggler");
    const found = page.locator(".md-search-result__link");
    await expect(found.filter({hasText: "A straggler under DDP"}).first()).toBeVisible();
    await found.filter({hasText: "A straggler under DDP"}).first().click();
    await expect(page).toHaveURL(/tutorials\/ddp_straggler\.html/);
    expect(elsewhere).toEqual([]);
  });
}
