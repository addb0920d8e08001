// SPDX-License-Identifier: Apache-2.0
// Numbers read the same on the page as in the terminal: these are the cases of src/base/strings_test.cc.
import {expect, test} from "@playwright/test";
import {amounts, bytes, cell, duration, factor, percent, plain} from "../src/format";

test("durations have three to four digits in the unit a reader expects", () => {
  const cases: [number, string][] = [
    [0, "0 ns"],
    [412, "412 ns"],
    [17_300, "17.3 µs"],
    [999_940, "999.9 µs"],
    [999_960, "1.00 ms"],
    [176_500_000, "176.5 ms"],
    [1_230_000_000, "1.23 s"],
    [12_040_000_000, "12.04 s"],
    [3_720_000_000_000, "1 h 02 min"],
    [-17_300, "-17.3 µs"],
  ];
  for (const [ns, text] of cases) expect(duration(ns)).toBe(text);
});

test("shares, bytes, factors and amounts", () => {
  expect(percent(0.5621)).toBe("56.2 %");
  expect(percent(0.0042)).toBe("0.42 %");
  expect(percent(0)).toBe("0.0 %");
  expect(bytes(1_020_000_000)).toBe("1.02 GB");
  expect(bytes(512)).toBe("512 B");
  expect(factor(1.326)).toBe("1.33×");
  expect(factor(12.34)).toBe("12.3×");
  expect(plain(75_718)).toBe("75,718");
  expect(plain(0.5)).toBe("0.5");
  expect(amounts({money: 41_312, kwh: 12.345})).toEqual(["$ 41,300", "12.3 kWh"]);
});

test("what was not recorded is not zero", () => {
  expect(cell(null, "ns")).toBe("–");
  expect(cell(0, "ns")).toBe("0 ns");
});
