// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";

/** A line or two to paste, with a button that copies them. */
export function Snippet({text, label}: {text: string; label: string}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // Without the right to the clipboard the text can still be selected.
    }
  };
  return (
    <div class="snippet">
      <code>{text}</code>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {copied ? "copied" : "copy"}
      </button>
    </div>
  );
}

/** `text` inside double quotes of a shell. */
export function quoted(text: string): string {
  return text.replace(/[\\"$`]/g, "\\$&");
}
