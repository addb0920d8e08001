// SPDX-License-Identifier: Apache-2.0
// parity_probe: reads lines of words from standard input, each a question about recordings (docs/parity.md), and
// answers each with a line of JSON: `CLAIM BASELINE CANDIDATE [probe=NOISE:FOLDER | wide=NOISE:FOLDER | repeat=FOLDER |
// reseeded=FOLDER]…`. CLAIM is a precision or `any`; folders are those of a rank. What tests/parity_test.py and
// bench/parity drive.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/described_json.h"
#include "base/strings.h"
#include "proof/described.h"
#include "proof/parity_files.h"

using namespace gapless;
using namespace gapless::internal;

namespace {

Result<void> Take(std::string_view word, ParityBaseline& baseline) {
  const size_t equals = word.find('='), colon = word.find(':');
  const std::string_view kind = word.substr(0, equals);
  if (kind == "repeat" || kind == "reseeded") {
    auto recording = ReadParityRecording(std::string(word.substr(equals + 1)));
    if (!recording) return Unexpected{recording.error()};
    if (kind == "repeat")
      baseline.repeat = std::move(*recording);
    else
      baseline.reseeded.push_back(std::move(*recording));
    return {};
  }
  auto recording = ReadParityRecording(std::string(word.substr(colon + 1)));
  if (!recording) return Unexpected{recording.error()};
  std::from_chars(word.data() + equals + 1, word.data() + colon, recording->noise);
  recording->wide = kind == "wide";
  baseline.probes.push_back(std::move(*recording));
  return {};
}

Result<ParityReport> AnswerTo(const std::vector<std::string_view>& words) {
  if (words.size() < 3) return Fail(ErrorCode::kUsage, "a question has a claim and two recordings");
  ParityBaseline baseline;
  auto recording = ReadParityRecording(std::string(words[1])), candidate = ReadParityRecording(std::string(words[2]));
  if (!recording) return Unexpected{recording.error()};
  if (!candidate) return Unexpected{candidate.error()};
  baseline.baseline = std::move(*recording);
  for (size_t i = 3; i < words.size(); ++i) GAPLESS_TRY(Take(words[i], baseline));
  const auto claim = PrecisionNamed(words[0]);
  return claim ? DecideParity(baseline, *candidate, *claim) : FindParity(baseline, *candidate);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject();
    if (const auto report = AnswerTo(Split(line, ' ')); report) {
      WriteFields(json, ParityDocument(*report));
      json.Field("need", static_cast<int>(report->need));
      json.Field("need_noise", report->need_noise);
    } else {
      json.Field("error", report.error().ToString());
    }
    json.EndObject();
    std::puts(out.c_str());
    std::fflush(stdout);
  }
  return 0;
}
