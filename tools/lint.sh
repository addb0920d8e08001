#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every check of the sources that needs no build but the program; prints one line for each and fails when any fails.
# The checks of the Python scripts run in build/venv, the site is built in build/docs-venv; both are made here. Where one cannot
# be made, its checks are skipped, but with CI=true that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0

check() { # <name> <command>...
  local output
  if output=$("${@:2}" 2>&1); then
    printf 'ok    %s%s\n' "$1" "${output:+ — $(tail -1 <<<"$output")}"
  else
    printf 'FAIL  %s\n%s\n' "$1" "$output"
    failed=1
  fi
}

cannot() { # <name> <why>: what it needs is not there
  if [ "${CI:-}" = true ]; then
    printf 'FAIL  %s: what it needs is not there\n%s\n' "$1" "$2"
    failed=1
  else
    printf 'skip  %s: what it needs is not there — %s\n' "$1" "$(tail -1 <<<"$2")"
  fi
}

scripts() { find tools .ci -type f -exec grep -lE '^#!/bin/(ba)?sh' {} +; }
texts() { git ls-files -co --exclude-standard -z | grep -zvE '\.(gz|zst|svg|test|json)$|^fuzz/seeds/|^tests/data/'; }
spelling() { texts | xargs -0 codespell --quiet-level 3 --ignore-words tools/words.txt --builtin clear,rare; }

words() { # the pages that a reader has to find the way through; the reference is written by the program and does not count
  local most=35000 all
  all=$(cat README.md docs/*.md | wc -w)
  echo "$all of at most $most words in README.md and docs/*.md; to add some, delete or link what another page or the reference says"
  [ "$all" -le "$most" ]
}

web_rules() { (cd web && node_modules/.bin/biome ci --colors=off --error-on-warnings); }

venv=build/venv

check "format" tools/format.sh --check
check "layers" python3 tools/check_layers.py
check "layers of the agent" python3 tools/check_agent_layers.py
check "names" python3 tools/check_names.py
check "house rules" python3 tools/check_house.py
check "spelling" spelling
check "length of the documentation" words
mapfile -t found < <(scripts)
check "scripts" shellcheck -e SC1091,SC2016,SC2317 "${found[@]}"
if problem=$(tools/venv.sh "$venv" tools/requirements.txt 2>&1); then
  check "python types" "$venv/bin/python" -m mypy
  check "python rules" "$venv/bin/python" -m ruff check
  check "python format" "$venv/bin/python" -m ruff format --check
else
  cannot "python" "$problem"
fi
pages() { # the site and the types of web/ take what the program writes
  build/gapless docs build/pages 2>&1 || { echo "build/gapless is missing or fails: run \`make build\`"; return 1; }
}
if problem=$(pages) && problem=$(tools/venv.sh build/docs-venv docs/requirements.txt 2>&1); then
  check "site" tools/docs.sh
else
  cannot "site" "$problem"
fi
if problem=$(tools/web_deps.sh test 2>&1); then
  if problem=$(pages); then check "web types" web/node_modules/.bin/tsc -p web; else cannot "web types" "$problem"; fi
  check "web rules and format" web_rules
  check "workflows" node tools/lint_workflows.mjs
else
  cannot "web" "$problem"
fi
exit $failed
