// SPDX-License-Identifier: Apache-2.0
// Lets the search of the site work in pages that are opened from a disk. A browser starts no worker from a file, so that the
// worker's script runs in an invisible frame instead. The theme's plug-in `offline` looks for this file by its name (mkdocs.yml).
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // An answer of the script goes to the page; without this the frame would send it to itself.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.loaded = new Promise((resolve, reject) => {
        const element = frame.contentDocument.createElement("script");
        element.src = new URL(script, location.href);
        element.onload = () => resolve(inside);
        element.onerror = reject;
        frame.contentDocument.body.append(element);
      });
    }

    postMessage(data) {
      this.loaded.then((inside) => inside.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
