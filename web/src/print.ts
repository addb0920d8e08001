// SPDX-License-Identifier: Apache-2.0
// Paper: it is light, and as wide as a sheet. Pictures are drawn again for it before the browser prints.

/** Width in px that any sheet has room for. */
export const PAPER = 660;

/** The page is light on paper. Called before parts of the page listen for printing: they draw in these colours. */
export function printLight(): void {
  const {dataset} = document.documentElement;
  let chosen: string | undefined;
  addEventListener("beforeprint", () => {
    chosen = dataset["theme"];
    dataset["theme"] = "light";
  });
  addEventListener("afterprint", () => {
    if (chosen !== undefined) dataset["theme"] = chosen;
  });
}

/** Calls `draw` before and after printing, with true for paper; returns how to stop. */
export function onPrint(draw: (paper: boolean) => void): () => void {
  const [before, after] = [() => draw(true), () => draw(false)];
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
}
