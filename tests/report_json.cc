// SPDX-License-Identifier: Apache-2.0
// Prints what the C++ library says of each recording that is named, as lines of JSON: its report, and the values of
// Diagnose() and Summary(). tests/one_answer_test.py compares them with what the program and Python say.
#include <cstdio>
#include <string>

#include "base/json_writer.h"
#include "gapless/run.h"

namespace {

void WriteGain(gapless::internal::JsonWriter& json, const gapless::Gain& gain) {
  json.Key("gain");
  json.BeginObject();
  json.Field("low", gain.low);
  json.Field("expected", gain.expected);
  json.Field("high", gain.high);
  json.EndObject();
}

void WriteValues(gapless::internal::JsonWriter& json, const gapless::Run& run) {
  json.Key("bottlenecks");
  json.BeginArray();
  for (const gapless::Bottleneck& found : run.Diagnose()) {
    json.BeginObject();
    json.Field("id", found.id);
    json.Field("severity", found.severity);
    json.Field("share_of_step", found.share_of_step);
    if (found.gain) WriteGain(json, *found.gain);
    json.EndObject();
  }
  json.EndArray();
  const gapless::RunSummary summary = run.Summary();
  if (summary.estimated_speedup) WriteGain(json, *summary.estimated_speedup);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto run = gapless::Run::Open(argv[i], {.use_cache = false});
    if (!run) {
      std::fprintf(stderr, "%s\n", run.error().ToString().c_str());
      return 3;
    }
    const auto report = run->Render("json");
    if (!report) return 3;
    std::string line;
    gapless::internal::JsonWriter json(line);
    json.BeginObject();
    json.Field("report", *report);
    WriteValues(json, *run);
    json.EndObject();
    std::puts(line.c_str());
  }
  return 0;
}
