// SPDX-License-Identifier: Apache-2.0
// Reads and writes tests of predictions.
//
// The built-in rows come first, those of the user's history after them; how far each counts is decided in predict
// (calibration.h). A history that cannot be read costs a warning, not the report.
//
// Records of a history that are not finite or not positive are ignored, because anybody can have written the database.
#include "flows/tested_predictions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"
#include "store/history.h"

namespace gapless::internal {
namespace {

// Returns the what-if as `predict --what` takes it: "amp,workers=4".
std::string TextOf(const std::vector<WhatIfItem>& items) {
  std::vector<std::string> words;
  for (const WhatIfItem& item : items) words.push_back(item.ToString());
  return Join(words, ",");
}

// Returns true if all shares are finite and above 0: anybody can have written the database.
bool IsUsable(const AdviceRecord& record) {
  const std::array shares{record.measured, record.low, record.expected, record.high};
  return std::ranges::all_of(shares, [](double share) { return std::isfinite(share) && share > 0; });
}

}  // namespace

TestedPredictions ReadTestedPredictions(std::string_view url) {
  TestedPredictions tested{.rows = {BuiltInLedger().begin(), BuiltInLedger().end()}};
  auto own = History::ReadAdvice(url);
  if (!own) {
    tested.warning = StrCat("tested predictions of your own are left out: ", own.error().ToString());
    return tested;
  }
  std::erase_if(*own, [](const AdviceRecord& record) { return !IsUsable(record); });
  for (AdviceRecord& record : *own)
    tested.rows.push_back({.id = std::move(record.uid),
                           .kind = std::move(record.kind),
                           .recording = std::move(record.recording),
                           .measured = record.measured,
                           .model = {.low = record.low, .expected = record.expected, .high = record.high}});
  return tested;
}

Result<void> KeepTestedPrediction(std::string_view url, const Prediction& prediction, std::string_view recording,
                                  double measured) {
  GAPLESS_ASSIGN(auto history, History::Open(url));
  const auto kept = history.RecordAdvice({.what = TextOf(prediction.what),
                                          .kind = KindOf(prediction.what),
                                          .recording = std::string(recording),
                                          .measured = measured,
                                          .low = prediction.model.low,
                                          .expected = prediction.model.expected,
                                          .high = prediction.model.high,
                                          .source = "predict --measured"});
  return kept ? Result<void>() : Unexpected{kept.error()};
}

}  // namespace gapless::internal
