// SPDX-License-Identifier: Apache-2.0
// The runs that are served beside this one.
import type {ServedRunInfo, ServedRuns} from "schema/serve";
import {useAnswer} from "./ask";

const NONE: ServedRunInfo[] = [];

/** The runs of the server; none as long as it has not answered. */
export function useRuns(): ServedRunInfo[] {
  return useAnswer<ServedRuns>("/api/runs").body?.runs ?? NONE;
}
