// SPDX-License-Identifier: Apache-2.0
// The report as the JSON document of `gapless analyze --json` (analyze_json.h), indented for people.
#include "report/analyze_json.h"
#include "report/renderer.h"

namespace gapless::internal::json_renderer {
namespace {

std::string Render(const Report& report, const RenderOptions&) {
  std::string out;
  JsonWriter json(out, 2);
  WriteAnalyzeJson(json, report);
  return out + "\n";
}

}  // namespace

RENDERER(json) = {.name = "json",
                  .help = "JSON, as the page schema/analyze.schema.json describes it",
                  .extension = ".json",
                  .render = Render};

}  // namespace gapless::internal::json_renderer
