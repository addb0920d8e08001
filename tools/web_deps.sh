#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what web/ needs, as its lock file says, into web/node_modules: tools/web_deps.sh build|test. `build` is what
# bundling the page takes; `test` adds the type checker, the linter and what drives a browser. Nothing is done when it is there.
set -euo pipefail
cd "$(dirname "$0")/../web"
what=${1:?build or test}
stamp=node_modules/.installed
lock=$(cat package.json package-lock.json .npmrc | sha256sum | cut -d' ' -f1)
there=$(cat "$stamp" 2>/dev/null || true)
if [ "$there" = "$what $lock" ] || [ "$there" = "test $lock" ]; then exit 0; fi
omit=()
[ "$what" = test ] || omit=(--omit=dev)
npm ci --loglevel=error "${omit[@]}" >/dev/null
echo "$what $lock" >"$stamp"
