// SPDX-License-Identifier: Apache-2.0
#include "cli/own_advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/log.h"
#include "base/strings.h"
#include "store/history.h"

namespace gapless::internal {
namespace {

std::string TextOf(const std::vector<WhatIfItem>& items) {
  std::vector<std::string> words;
  for (const WhatIfItem& item : items) words.push_back(item.ToString());
  return Join(words, ",");
}

// A database can be written by anybody.
bool IsUsable(const AdviceRecord& one) {
  const std::array shares{one.measured, one.low, one.expected, one.high};
  return std::ranges::all_of(shares, [](double share) { return std::isfinite(share) && share > 0; });
}

}  // namespace

std::vector<AdviceRow> LedgerWithOwn(std::string_view url) {
  std::vector<AdviceRow> rows(BuiltInLedger().begin(), BuiltInLedger().end());
  auto own = History::ReadAdvice(url);
  if (!own) {
    log::Warning(StrCat("tested predictions of your own are left out: ", own.error().ToString()));
    return rows;
  }
  std::erase_if(*own, [](const AdviceRecord& one) { return !IsUsable(one); });
  for (AdviceRecord& one : *own)
    rows.push_back({.id = std::move(one.uid),
                    .kind = std::move(one.kind),
                    .recording = std::move(one.recording),
                    .measured = one.measured,
                    .model = {.low = one.low, .expected = one.expected, .high = one.high}});
  return rows;
}

Result<void> KeepAdvice(std::string_view url, const Prediction& prediction, std::string_view recording,
                        double measured) {
  auto history = History::Open(url);
  if (!history) return Unexpected{history.error()};
  const auto kept = history->RecordAdvice({.what = TextOf(prediction.what),
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
