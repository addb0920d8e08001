// SPDX-License-Identifier: Apache-2.0
import {expect, test} from "@playwright/test";
import {Table} from "../src/data";
import {ownerOf} from "../src/owner";

function tableOf(rows: (number | null)[][]): Table {
  const columns = ["trace", "rank", "device"].map((name) => ({name, type: "int" as const, unit: "", help: ""}));
  const cells = columns.map((_, at) => rows.map((row) => row[at] ?? null));
  return new Table({name: "ledger", help: "", rows: rows.length, columns, cells}, []);
}

test("an owner is named by rank and device, by its recording where there is no rank", () => {
  expect(ownerOf(tableOf([[0, null, 1]]), 0)).toBe("GPU 1");
  expect(ownerOf(tableOf([[0, 3, 1]]), 0)).toBe("rank 3 · GPU 1");
  expect(ownerOf(tableOf([[0, 3, null]]), 0)).toBe("rank 3 · host memory");
  const unranked = tableOf([
    [0, null, 0],
    [1, null, 0],
  ]);
  expect(ownerOf(unranked, 0)).not.toBe(ownerOf(unranked, 1));
});
