// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/validate/report.h"

#include "base/json_writer.h"
#include "base/strings.h"
#include "cli/commands/compare/report.h"
#include "cli/commands/gate/report.h"

namespace gapless::internal {

std::string ValidationText(const Validation& validation) {
  const std::string head = validation.IsAccepted() ? "accepted: faster, and nothing speaks against it"
                                                   : StrCat("refused: ", Join(validation.against, "; "));
  return StrCat(head, "\n\n", CompareText(validation.comparison), "\n", GateText(validation.judgement),
                validation.recorded       ? StrCat("recorded as run ", *validation.recorded, "\n")
                : validation.IsAccepted() ? ""
                                          : "not recorded: it was refused\n");
}

std::string ValidationJson(const Validation& validation, const PairPlan& plan) {
  std::string out;
  JsonWriter json(out, 2);
  json.BeginObject();
  WriteJsonHeader(json);
  json.Field("accepted", validation.IsAccepted());
  json.Key("reasons_against");
  json.BeginArray();
  for (const std::string& reason : validation.against) json.String(reason);
  json.EndArray();
  WriteComparison(json, validation.comparison, plan);
  json.Key("regression");
  json.BeginObject();
  WriteJudgement(json, validation.judgement);
  json.EndObject();
  json.Field("recorded_run", validation.recorded);
  json.EndObject();
  return out + "\n";
}

}  // namespace gapless::internal
