// SPDX-License-Identifier: Apache-2.0
// The pages of `gapless serve` that are of no recording: a history, a search for fixes, a job under way.
import "./served.css";
import type {ComponentChildren} from "preact";
import {useState} from "preact/hooks";
import {initialTheme, setTheme, ThemeContext} from "../theme";
import {Top} from "../top";
import {HistoryView} from "./history";
import {JobView} from "./job";
import {SearchView} from "./search_view";
import type {Place} from "./views";

/** What the server inlines (src/serve/site.cc): all else is asked for. */
export interface SiteView {
  view: "history" | "optimize" | "monitor";
  id: string;
  version: string;
}

interface FrameProps {
  place: Place;
  version: string;
  subject: string;
  sections?: readonly {id: string; name: string}[];
  problem: string;
  children: ComponentChildren;
}

export function Frame({place, version, subject, sections = [], problem, children}: FrameProps) {
  const [theme, choose] = useState(initialTheme);
  const toggle = () => choose(setTheme(theme === "dark" ? "light" : "dark"));
  return (
    <ThemeContext.Provider value={theme}>
      <Top subject={subject} path={subject} sections={sections} theme={theme} toggle={toggle} place={place} />
      <main class="wrap">
        {problem && (
          <section class="notice error" role="alert">
            <p>{problem}</p>
          </section>
        )}
        {children}
        <footer>Served by gapless {version}. This page asks nobody but its own server.</footer>
      </main>
    </ThemeContext.Provider>
  );
}

export function SiteApp({view}: {view: SiteView}) {
  const props = {id: String(view.id), version: view.version};
  switch (view.view) {
    case "history":
      return <HistoryView {...props} />;
    case "optimize":
      return <SearchView {...props} />;
    case "monitor":
      return <JobView {...props} />;
  }
}
