// SPDX-License-Identifier: Apache-2.0
// The runs that are served beside this one, to change over to.
import {useEffect, useState} from "preact/hooks";

interface Run {
  id: string;
  subject: string;
  path: string;
}

/** The runs of the server; none as long as it has not answered. */
export function useRuns(): Run[] {
  const [runs, setRuns] = useState<Run[]>([]);
  useEffect(() => {
    fetch("/api/runs")
      .then((response) => response.json())
      .then((body) => setRuns(body.runs ?? []))
      .catch(() => {});
  }, []);
  return runs;
}

/** Nothing where there is one run only. */
export function Runs({run}: {run: string}) {
  const runs = useRuns();
  if (runs.length < 2) return null;
  return (
    <select
      aria-label="Run"
      value={run}
      onChange={(event) => location.assign(`/?run=${encodeURIComponent(event.currentTarget.value)}`)}
    >
      {runs.map(({id, subject, path}) => (
        <option key={id} value={id} title={path}>
          {subject}
        </option>
      ))}
    </select>
  );
}
