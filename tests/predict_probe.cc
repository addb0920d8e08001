// SPDX-License-Identifier: Apache-2.0
// predict_probe [--without RULE]... FILE...: the self-check of each recording as a line of JSON, with rules of the
// graph left out as asked (R3, R6, R7, R8 or R9). What tests/predict_corpus.py drives over many recordings.
// predict_probe --ledger: each row of the ledger of advice as a calibration predicts it that has not seen its
// repository, as a line of JSON. What tests/advice_test.py compares.
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "ingest/load.h"
#include "predict/calibration.h"
#include "predict/self_check.h"

using namespace gapless::internal;

namespace {

bool LeaveOut(std::string_view rule, GraphRules& rules) {
  const std::map<std::string_view, bool GraphRules::*> known = {{"R3", &GraphRules::blocking_calls},
                                                                {"R6", &GraphRules::full_queues},
                                                                {"R7", &GraphRules::thread_waits},
                                                                {"R8", &GraphRules::drop_pollers},
                                                                {"R9", &GraphRules::order_ties}};
  const auto found = known.find(rule);
  if (found == known.end()) return false;
  rules.*(found->second) = false;
  return true;
}

void Print(const std::string& path, const SelfCheck& check, const Graph::Facts& facts) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Field("file", path);
  json.FieldUnlessEmpty("reason", check.refusal);
  json.Field("error", check.error);
  json.Field("step_ns", check.recorded_step_ns);
  json.Field("ops", facts.ops);
  json.Field("ops_without_launch", facts.ops_without_launch);
  json.Field("waits_recorded", facts.waits_recorded);
  json.Field("waits_inferred", facts.waits_inferred);
  json.Field("waits_unexplained", facts.waits_unexplained);
  json.Key("responses");
  json.BeginObject();
  for (const Response& response : check.responses) json.Field(response.what, response.share);
  json.EndObject();
  json.EndObject();
  std::puts(out.c_str());
}

int PrintLedger() {
  const auto rows = BuiltInLedger();
  const std::vector<StepShares> said = LeaveOneOut(rows);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject();
    json.Field("id", rows[i].id);
    json.Field("low", said[i].low);
    json.Field("expected", said[i].expected);
    json.Field("high", said[i].high);
    json.EndObject();
    std::puts(out.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--ledger") return PrintLedger();
  GraphRules rules;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--without") {
      files.emplace_back(argv[i]);
    } else if (i + 1 == argc || !LeaveOut(argv[++i], rules)) {
      std::fputs("usage: predict_probe [--without R3|R6|R7|R8|R9]... FILE...\n", stderr);
      return 2;
    }
  }
  for (const std::string& file : files) {
    const auto loaded = LoadRun(std::vector{file}, {});
    if (!loaded) continue;
    for (const RunTrace* of : loaded->run.primary()) {
      if (of->trace->gpu_ops.size() == 0 && of->trace->slices.size() == 0) continue;
      const Graph graph = BuildGraph(*of->trace, rules);
      Print(file, CheckReplay(*of->trace, graph, StepSpan(*of->trace, graph)), graph.facts);
    }
  }
  return 0;
}
