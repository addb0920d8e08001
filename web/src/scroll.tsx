// SPDX-License-Identifier: Apache-2.0
import type {ComponentChildren} from "preact";

/** What may be wider than the page: scrolls in its own box, with keys too. */
export function Scroll({label, children}: {label: string; children: ComponentChildren}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
    // biome-ignore lint/a11y/useSemanticElements: <section> is a part of the page here
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
