// SPDX-License-Identifier: Apache-2.0
// Pages with a timeline: a report of a synthetic recording, and the same as it is served.
import {execFileSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import type {Inlined} from "../src/data";
import type {Synthetic} from "./synthetic";

const web = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const folder = resolve(process.env["GAPLESS_TEST_OUTPUT"] ?? join(web, "../build/web"), `timeline-${process.pid}`);

/** The document of a recording with one finding, whose evidence is an operation of rank 1, and tables that lead there. */
function inlined(recording: Synthetic, texts = ["one", "two"]): Inlined {
  const slowest = recording.overview.steps.reduce((most, step) => (step.dur_ns > most.dur_ns ? step : most));
  const evidence = [
    {text: "one GEMM takes 3 ms", table: "gpu_op", rows: [slowest.number * 10 + recording.steps * recording.kernels]},
  ];
  const finding = {
    ...{id: "slow_gemm", type: "compute", title: "A GEMM is slow", description: "It is.", severity: 0.8, step_left: 1},
    ...{evidence, recommendations: [{text: "make it fast"}], gain: {low: 1.1, expected: 1.2, high: 1.3}},
  };
  const column = (name: string, type: string, unit: string) => ({name, type, unit, help: name});
  return {
    page: {subject: "synthetic", path: "traces/", query: "gapless query", facts: [], notes: []},
    analyze: {
      gapless: {version: "1.2.3", schema: 1, schema_version: 1, command: "analyze"},
      run: {workload: "training", steps: recording.steps, step_ns: {median: 120_000_000}, mfu_coverage: 0},
      traces: recording.overview.traces.map(({trace, rank, host}) => ({
        trace,
        rank,
        host,
        role: "primary",
        execution: 0,
      })),
      breakdown: [],
      read_stats: [],
      warnings: [],
      bottlenecks: [finding],
      plan: [],
    },
    texts,
    tables: [
      {
        ...{name: "kernels", help: "kernels by name", rows: 2, sort: "total_ns"},
        columns: [
          column("trace", "int", ""),
          column("kernel", "text", ""),
          column("total_ns", "int", "ns"),
          column("gpu_op_id", "int", "id:gpu_op"),
        ],
        cells: [
          [0, 1],
          [0, 1],
          [200, 100],
          [7 * recording.kernels + 5, recording.steps * recording.kernels + 3],
        ],
      },
      {
        ...{name: "ledger", help: "time of each step", rows: 4},
        columns: ["trace", "rank", "device", "step", "wall_ns", "compute_ns", "exposed_comm_ns"].map((name) =>
          column(name, "int", name.endsWith("_ns") ? "ns" : ""),
        ),
        cells: [
          [0, 0, 1, 1],
          [0, 0, 1, 1],
          [0, 0, 0, 0],
          [2, 3, 2, 3],
          [120, 120, 120, 120],
          [100, 90, 80, 120],
          [20, 30, 40, 0],
        ],
      },
      {
        ...{name: "idle", help: "gaps", rows: 2, sort: "dur_ns"},
        columns: [column("trace", "int", ""), column("ts_ns", "int", "ns"), column("dur_ns", "int", "ns")],
        cells: [
          [1, 999], // the other is of a recording that is not drawn
          [slowest.ts_ns + 5_000_000, slowest.ts_ns],
          [2_000_000, 1_000_000],
        ],
      },
    ],
  } as unknown as Inlined; // what the page does not look at is left out
}

let shell: string | undefined;

function pageWith(data: Inlined): string {
  mkdirSync(folder, {recursive: true});
  if (shell === undefined) {
    execFileSync("node", ["build.mjs", folder], {cwd: web, stdio: "ignore"});
    shell = readFileSync(join(folder, "page.html"), "utf8");
  }
  return shell.replace("<!--data-->", () => JSON.stringify(data).replace(/</g, "\\u003c"));
}

/** A report with a timeline; gives its file. */
export function reportWith(recording: Synthetic, name: string, ranks = recording.ranks, texts?: string[]): string {
  const page = pageWith({...inlined(recording, texts), timeline: recording.inlined(18, 13, ranks)});
  const file = join(folder, `${name}.html`);
  writeFileSync(file, page);
  return file;
}

/** The page as it is served: it may ask its own server. */
export function servedPage(recording: Synthetic): string {
  return pageWith({...inlined(recording), served: {run: "0"}}).replace(
    "default-src 'none'",
    "default-src 'none'; connect-src 'self'",
  );
}
