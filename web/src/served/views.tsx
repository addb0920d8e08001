// SPDX-License-Identifier: Apache-2.0
// All that a server shows: recordings, histories, searches for fixes, jobs under way. Each is a page of its own.
import type {ServedSite} from "schema/serve";
import {useAnswer} from "./ask";

/** The page that is shown: a run's, or another's. */
export interface Place {
  kind: "run" | "history" | "optimize" | "monitor";
  id: string;
}

interface Link extends Place {
  name: string;
  title: string;
}

const NAMES = {history: "History", optimize: "Optimise", monitor: "Job"} as const;

function linksOf(site: ServedSite): Link[] {
  const others = (["monitor", "optimize", "history"] as const).flatMap((kind) =>
    site[kind].map(({id, name}, at) => ({
      kind,
      id,
      name: site[kind].length > 1 ? `${NAMES[kind]} ${at + 1}` : NAMES[kind],
      title: name,
    })),
  );
  const runs = site.runs.map(({id, subject, path}) => ({kind: "run" as const, id, name: subject, title: path}));
  return runs.length === 1 ? [...runs.map((run) => ({...run, name: "Recording"})), ...others] : others;
}

/** Nothing where there is one page only. Several recordings are a choice, the other pages are links. */
export function Views({place}: {place: Place}) {
  const {body: site} = useAnswer<ServedSite>("/api/site");
  if (!site) return null;
  const links = linksOf(site);
  const address = (kind: string, id: string) => `/?${kind}=${encodeURIComponent(id)}`;
  return (
    <>
      {site.runs.length > 1 && (
        <select
          aria-label="Run"
          value={place.kind === "run" ? place.id : ""}
          onChange={(event) => location.assign(address("run", event.currentTarget.value))}
        >
          {place.kind !== "run" && <option value="">recordings …</option>}
          {site.runs.map(({id, subject, path}) => (
            <option key={id} value={id} title={path}>
              {subject}
            </option>
          ))}
        </select>
      )}
      {(links.length > 1 || site.runs.length > 1) && links.length > 0 && (
        <nav aria-label="Views" class="views">
          {links.map(({kind, id, name, title}) => (
            <a
              key={`${kind} ${id}`}
              href={address(kind, id)}
              title={title}
              aria-current={kind === place.kind && id === place.id ? "page" : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
      )}
    </>
  );
}
