// SPDX-License-Identifier: Apache-2.0
#include "diagnose/findings.h"

#include <algorithm>

namespace gapless::internal {
namespace {

bool Has(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Diagnosis Choose(Diagnosis diagnosis, const AnalyzeOptions& options) {
  std::erase_if(diagnosis.bottlenecks, [&](const Bottleneck& bottleneck) {
    return (!options.only.empty() && !Has(options.only, bottleneck.id)) || Has(options.without, bottleneck.id);
  });
  return diagnosis;
}

Findings Conclude(Tables& tables, Diagnosis diagnosis, const AnalyzeOptions& options) {
  Findings findings{.diagnosis = std::move(diagnosis), .summary = {}, .cost = {}};
  findings.summary = Summarise(tables, findings.diagnosis, options.single_step_ns);
  findings.cost = CostOf(tables.run(), findings.summary, options.rates);
  return findings;
}

}  // namespace gapless::internal
