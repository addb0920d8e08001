#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the site of docs/ and of the pages that the program writes into build/site, or fails: on a broken link, a missing anchor, a page outside the nav, and on anything
# that a viewer's browser would fetch from elsewhere. The reports of the gallery are made anew.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
venv=build/docs-venv
tools/venv.sh "$venv" docs/requirements.txt || exit
rm -rf build/site-source
cp -rL docs build/site-source || exit
build/gapless docs build/site-source >build/site-pages.log || exit
# | [title](reports/NAME.html) | `RECORDING` | …
mkdir -p build/site-source/reports
while read -r name recording; do
  build/gapless analyze "$recording" -o "build/site-source/reports/$name.html" >/dev/null 2>build/site-reports.log ||
    { cat build/site-reports.log; exit 1; }
done < <(sed -n 's/^| \[.*\](reports\/\([a-z]*\)\.html) | `\([^`]*\)` |.*/\1 \2/p' docs/gallery.md)
# Not with --quiet: mkdocs then counts no warnings, and none would fail.
said=$(NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict 2>&1) || { grep -v '^INFO' <<<"$said"; exit 1; }
fetches='<(link|script|img|iframe)[^>]*(href|src)="?(https?:)?//|(@import|url\()[^)]{0,4}https?://'
if grep -rnoE "$fetches" build/site --include='*.html' --include='*.css' --include='*.svg'; then
  echo "the site would fetch this from elsewhere"
  exit 1
fi
echo "$(find build/site -name '*.html' | wc -l) pages in build/site"
