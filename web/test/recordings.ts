// SPDX-License-Identifier: Apache-2.0
// The recordings whose reports are read, and the program that writes them.
import {type ChildProcess, execFileSync, spawn} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, statSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {gunzipSync} from "node:zlib";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const program = resolve(root, process.env["GAPLESS"] ?? "build/gapless");
const corpus = process.env["GAPLESS_CORPUS"] ?? resolve(root, "../shared/data");
const folder = resolve(process.env["GAPLESS_TEST_OUTPUT"] ?? join(root, "build/web"), "reports");

export interface Recording {
  name: string;
  what: string;
  path: () => string;
  arguments?: string[];
  /** In the corpus, which need not be there. */
  far?: boolean;
  hasFindings: boolean;
  /** CI reads its report; the schedule reads all. */
  inCi?: boolean;
}

const sample = "samples/resnet50_v100.pt.trace.json.gz";
const hta = "kineto/facebookresearch__HolisticTraceAnalysis/tests/data";

/** The sample, cut off in the middle of an event that a device ran. */
function broken(): string {
  const whole = gunzipSync(readFileSync(join(root, sample)));
  const mine = join(folder, `${process.pid}`); // other workers write theirs at the same time
  const path = join(mine, "broken.json");
  mkdirSync(mine, {recursive: true});
  if (!existsSync(path)) writeFileSync(path, whole.subarray(0, Math.floor(whole.length * 0.9)));
  return path;
}

const all: readonly Recording[] = [
  {
    name: "small",
    what: "six steps of ResNet-50 on one GPU, with a price",
    path: () => sample,
    arguments: ["--price", "2.49", "--gpus", "64"],
    hasFindings: true,
    inCi: true,
  },
  {
    name: "events-200k",
    what: "216,000 events of a job on two GPUs",
    path: () => join(corpus, hta, "df_index_resolver/df_index_resolver.json.gz"),
    far: true,
    hasFindings: true,
  },
  {
    name: "ranks-8",
    what: "eight ranks",
    path: () => join(corpus, "kineto/facebookresearch__param/et_replay/tests/inputs/dlrm_kineto"),
    far: true,
    hasFindings: true,
  },
  {name: "cpu-only", what: "no GPU", path: () => "tests/data/cpu_only.json", hasFindings: false, inCi: true},
  {
    name: "amd",
    what: "an AMD device",
    path: () => join(corpus, "kineto/AMD-AGI__TraceLens/tests/traces/mi300/resnet_act_checkpoint.json.gz"),
    far: true,
    hasFindings: true,
  },
  {name: "broken", what: "a file that ends in the middle", path: broken, hasFindings: true},
];

export const RECORDINGS = all.filter(({inCi}) => inCi || process.env["GAPLESS_RECORDINGS"] !== "few");

export function isThere(recording: Recording): boolean {
  return !recording.far || existsSync(recording.path());
}

function gapless(...args: string[]): string {
  return execFileSync(program, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** Writes the report and gives the file. */
export function reportOf(recording: Pick<Recording, "name" | "path" | "arguments">): string {
  mkdirSync(folder, {recursive: true});
  const file = join(folder, `${recording.name}-${process.pid}.html`);
  gapless("analyze", recording.path(), ...(recording.arguments ?? []), "-o", file);
  return file;
}

/** Serves runs on a free port of the loopback device; the caller ends the process. */
export async function serve(...paths: string[]): Promise<{address: string; server: ChildProcess}> {
  const server = spawn(program, ["serve", "--no-history", "--port", "0", "--json", ...paths], {cwd: root});
  let said = "";
  for await (const piece of server.stdout) {
    said += piece;
    const address = said.match(/"address": "([^"]+)"/)?.[1];
    if (address) return {address, server};
  }
  throw new Error(`gapless serve ended: ${said}`);
}

export function sizeOf(file: string): number {
  return statSync(file).size;
}

export type Row = Record<string, string | number | null>;

export function query(recording: Recording, sql: string): Row[] {
  return JSON.parse(gapless("query", recording.path(), sql, "--json")) as Row[];
}

// biome-ignore lint/suspicious/noExplicitAny: the document is described by schema/analyze.schema.json of `gapless docs`
export function analyze(recording: Recording): any {
  return JSON.parse(gapless("analyze", recording.path(), ...(recording.arguments ?? []), "--json"));
}

// biome-ignore lint/suspicious/noExplicitAny: the document is described by schema/report.schema.json
export function energyOf(recording: Recording): any {
  return JSON.parse(gapless("report", recording.path(), ...(recording.arguments ?? []), "--style", "energy", "--json"));
}

// biome-ignore lint/suspicious/noExplicitAny: the document is described by schema/predict.schema.json
export function predictPath(recording: Recording): any {
  return JSON.parse(gapless("predict", recording.path(), "--path", "--json")).critical_path;
}

export const hostile = {name: "hostile", path: () => "tests/data/hostile.json"};
