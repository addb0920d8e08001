// SPDX-License-Identifier: Apache-2.0
// Makes the page: node build.mjs <folder> writes <folder>/page.html, one file that needs nothing else. The program puts the
// data of a run in place of the marker. Scripts and styles are inline; the content security policy names the script by
// its hash, so nothing that a recording holds can run, and forbids every connection.
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

const result = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.tsx"],
  bundle: true,
  minify: true,
  write: false,
  outdir: "out",
  format: "iife",
  target: "es2020",
  charset: "utf8",
  legalComments: "eof",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: {"process.env.NODE_ENV": '"production"'},
});
const text = (suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix)).text.trim();
const script = text(".js").replaceAll("</script", "<\\/script");
const hash = createHash("sha256").update(script).digest("base64");
const page = readFileSync(join(here, "src/page.html"), "utf8")
  .replace("/*style*/", () => text(".css"))
  .replace("script-hash", `sha256-${hash}`)
  .replace("/*script*/", () => script);
mkdirSync(out, {recursive: true});
writeFileSync(join(out, "page.html"), page);
console.log(`page.html: ${(page.length / 1000).toFixed(0)} kB`);
