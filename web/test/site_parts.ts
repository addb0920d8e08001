// SPDX-License-Identifier: Apache-2.0
// A history, a search for fixes and a job under way (tests/site_parts.py makes them), and the server that shows them.
import {type ChildProcess, execFileSync, spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {serve} from "./recordings";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = resolve(root, process.env["GAPLESS"] ?? "build/gapless");

export interface SiteParts {
  address: string;
  history: string;
  search: string;
  job: string;
  run: string; // a recording with telemetry
  endSearch: () => Promise<void>;
  stop: () => void;
}

async function nextLine(child: ChildProcess): Promise<string> {
  let said = "";
  for await (const piece of child.stdout?.iterator({destroyOnReturn: false}) ?? []) {
    said += piece;
    if (said.includes("\n")) return said;
  }
  throw new Error(`tests/site_parts.py ended: ${said}`);
}

/** `words`: recordings, and options of `gapless serve`; `withRun`: serve the recording with telemetry, first. */
export async function startSite(words: string[] = [], withRun = false): Promise<SiteParts> {
  const folder = mkdtempSync(join(tmpdir(), "gapless-site-"));
  const maker = spawn("python3", [join(root, "tests/site_parts.py"), program, folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  maker.on("exit", () => rmSync(folder, {recursive: true, force: true}));
  const {history, search, job, run} = JSON.parse(await nextLine(maker));
  const {address, server} = await serve(...(withRun ? [run] : []), ...words, history, search, job);
  return {
    address,
    history,
    search,
    job,
    run,
    endSearch: async () => {
      maker.stdin?.write("end search\n");
      await nextLine(maker);
    },
    stop: () => {
      server.kill();
      maker.stdin?.end();
    },
  };
}

export function gapless(...words: string[]): string {
  return execFileSync(program, words, {cwd: root, encoding: "utf8", maxBuffer: 1 << 28});
}

// biome-ignore lint/suspicious/noExplicitAny: the document is described by schema/trend.schema.json of `gapless docs`
export function trendOf(db: string, branch: string, label: string): any {
  return JSON.parse(gapless("trend", "--db", db, "--branch", branch, "--label", label, "--json"));
}
