// SPDX-License-Identifier: Apache-2.0
// `gapless optimize --list`.
#include <algorithm>

#include "base/json_writer.h"
#include "base/strings.h"
#include "optimize/fix.h"

namespace gapless::internal {

std::string FixesText() {
  size_t longest = 0;
  for (const Fix* fix : AllFixes()) longest = std::max(longest, UsageOf(*fix).size());
  std::string text;
  for (const Fix* fix : AllFixes()) {
    const std::string usage = UsageOf(*fix);
    text += StrCat("  ", usage, std::string(longest - usage.size() + 2, ' '), fix->help, " (", ToString(fix->safety),
                   ")\n");
  }
  return text;
}

std::string FixesJson() {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Key("fixes");
  json.BeginArray();
  for (const Fix* fix : AllFixes()) {
    json.BeginObject();
    json.Field("name", fix->name);
    json.Field("usage", UsageOf(*fix));
    json.Field("help", fix->help);
    json.Field("safety", ToString(fix->safety));
    json.Field("effort", NameOf(fix->effort));
    json.Field("live", fix->live);
    json.Key("cures");
    json.BeginArray();
    for (const std::string_view rule : fix->cures) json.String(rule);
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
