// SPDX-License-Identifier: Apache-2.0
// Makes the pages: node build.mjs <folder> writes <folder>/page.html and <folder>/optimize.html, files that need nothing
// else. The program puts data in place of their marker. Scripts and styles are inline; the content security policy names the script by
// its hash, so nothing that a recording holds can run, and forbids every connection.
import {createHash} from "node:crypto";
import {mkdirSync, readdirSync, readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

/** The bundle of a page: its script, its style, and what it was made of. */
function bundled(entry) {
  return build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: "out",
    format: "iife",
    target: "es2020",
    charset: "utf8",
    legalComments: "none", // whole licences follow the script
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: {".md": "text"}, // docs/glossary.md
    define: {"process.env.NODE_ENV": '"production"'},
  });
}

/** The licences of the packages in the bundle: each report is a copy of them. */
function licences(result) {
  const packages = Object.keys(result.metafile.inputs).map(
    (path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1],
  );
  return [...new Set(packages)]
    .filter(Boolean)
    .sort()
    .map((name) => {
      const folder = join(here, "node_modules", name);
      const files = readdirSync(folder, {withFileTypes: true})
        .filter((entry) => /^(licen[cs]es?|notice|copyright)/i.test(entry.name))
        .flatMap((entry) =>
          entry.isDirectory()
            ? readdirSync(join(folder, entry.name)).map((file) => join(entry.name, file))
            : entry.name,
        );
      if (files.length === 0) throw new Error(`${name} has no licence file`);
      return [name, ...files.map((file) => readFileSync(join(folder, file), "utf8").trim())].join("\n\n");
    });
}

mkdirSync(out, {recursive: true});
for (const [entry, name] of [
  ["src/main.tsx", "page.html"], // of recordings and trends
  ["src/optimize/main.tsx", "optimize.html"], // without the code of charts, which is most of the other
]) {
  const result = await bundled(entry);
  const text = (suffix) => result.outputFiles.find((file) => file.path.endsWith(suffix)).text.trim();
  const script = text(".js").replaceAll("</script", "<\\/script");
  const hash = createHash("sha256").update(script).digest("base64");
  const page = readFileSync(join(here, "src/page.html"), "utf8")
    .replace("/*style*/", () => text(".css"))
    .replace("script-hash", `sha256-${hash}`)
    .replace("/*script*/", () => script)
    .replace("/*licences*/", () => licences(result).join("\n\n\n").replaceAll("</", "<\\/"));
  writeFileSync(join(out, name), page);
  console.log(`${name}: ${(page.length / 1000).toFixed(0)} kB`);
}
