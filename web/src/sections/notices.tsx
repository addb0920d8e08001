// SPDX-License-Identifier: Apache-2.0
// Notices of data lost in reading and of rules that could not run. They come first: they limit all other figures.
import type {Data} from "../data";

const MOST = 5;

export function Notices({data}: {data: Data}) {
  const notes = data.page.notes.filter((note) => note.severity !== "info");
  if (notes.length === 0) return null;
  const error = notes.some((note) => note.severity === "error");
  return (
    <section class={`notice ${error ? "error" : ""}`} aria-label="About the recording">
      {notes.slice(0, MOST).map((note) => (
        <p key={note.text}>{note.text}</p>
      ))}
      {notes.length > MOST && <p class="dim">and {notes.length - MOST} more, at the end of the page</p>}
    </section>
  );
}
