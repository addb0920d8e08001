// SPDX-License-Identifier: Apache-2.0
// The bar above a page: what it is about, its parts, and the colours.
import {Runs} from "./served/runs";
import type {Theme} from "./theme";

interface Props {
  subject: string;
  path: string;
  sections: readonly {id: string; name: string}[];
  theme: Theme;
  toggle: () => void;
  run?: string | undefined; // its id, where a server shows it
}

export function Top({subject, path, sections, theme, toggle, run}: Props) {
  return (
    <div class="top">
      <div class="wrap">
        <span class="brand">
          <i />
          <i />
          <i />
          gapless
        </span>
        <span class="file" title={path}>
          {subject}
        </span>
        {run !== undefined && <Runs run={run} />}
        <nav aria-label="Sections">
          {sections.map(({id, name}) => (
            <a key={id} href={`#${id}`}>
              {name}
            </a>
          ))}
        </nav>
        <button type="button" onClick={toggle} aria-label={`Switch to ${theme === "dark" ? "light" : "dark"} colours`}>
          {theme === "dark" ? "☀" : "☾"}
        </button>
      </div>
    </div>
  );
}
