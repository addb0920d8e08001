// SPDX-License-Identifier: Apache-2.0
// Recordings of two trainings on arbitrary input: what can be read is decided, whatever it holds, and nothing that is
// not a number is the same up to rounding.
//
// The input is the events of the baseline and those of the candidate, with a line "===" in between; behind another one,
// the numbers of all.
#include "validate/parity.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "proof/parity_files.h"

namespace {

using namespace gapless::internal;

void Check(bool good) {
  if (!good) std::abort();
}

std::string_view TakePart(std::string_view& text) {
  constexpr std::string_view kCut = "\n===\n";
  const size_t cut = text.find(kCut);
  const std::string_view part = text.substr(0, cut);
  text.remove_prefix(cut == std::string_view::npos ? text.size() : cut + kCut.size());
  return part;
}

void CheckReport(const ParityReport& report) {
  Check(!report.reason.empty());
  Check(report.need == ParityNeed::kNothing || report.verdict == ParityVerdict::kCannotTell);
  if (report.verdict == ParityVerdict::kRounding) Check(report.value && std::isfinite(*report.value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = TakePart(text), second = TakePart(text);
  auto baseline = ParseParityRecording(first, text, "a"), candidate = ParseParityRecording(second, text, "b");
  if (!baseline || !candidate) return 0;
  ParityBaseline known{.baseline = *baseline};
  CheckReport(FindParity(known, *candidate));
  known.reseeded.assign(3, *baseline);
  for (const double noise : {0x1p-11, 0x1p-9}) {
    known.probes.push_back(*candidate);
    known.probes.back().noise = noise;
  }
  CheckReport(FindParity(known, *candidate));
  known.repeat = *candidate;
  for (const auto precision : {Precision::kFp32, Precision::kTf32, Precision::kFp16, Precision::kBf16})
    CheckReport(DecideParity(known, *candidate, precision, true));
  return 0;
}
