// SPDX-License-Identifier: Apache-2.0
// The output of `gapless tune`, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"
#include "optimize/exchange_cost.h"
#include "optimize/tuning.h"

namespace gapless::internal {

// The content that both formats show. The table outlives it.
struct TuneView {
  const TuneTable& table;
  std::vector<std::string> command{};
  std::string about{};       // "2 processors · torch 2.15.0"
  bool is_training = false;  // the settings make another training of it
};

// The tables: of settings in lines of at most `width` columns, and of the exchange of gradients.
std::string TuneText(const TuneView& view, int width);
// The documents of --json: of settings, or of the exchange of gradients.
extern const TypeInfo kTuneDocument, kExchangeDocument;
std::string TuneJson(const TuneView& view);

std::string ExchangeText(const ExchangeCost& cost, int ranks, const std::vector<std::string>& command);
std::string ExchangeJson(const ExchangeCost& cost, int ranks);

}  // namespace gapless::internal
