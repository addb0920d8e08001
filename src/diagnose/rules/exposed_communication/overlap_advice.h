// SPDX-License-Identifier: Apache-2.0
// Advice on communication that no computation hides, by the features of the framework that the program uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "diagnose/bottleneck.h"
#include "diagnose/ledger_view.h"
#include "diagnose/link_use.h"
#include "diagnose/rules/exposed_communication/exposure.h"

namespace gapless::internal::exposed_communication_rule {

// The framework features that the program was seen to use.
struct Use {
  std::string kind;  // kind of collective with the most exposed time; "": not recorded
  std::string made;  // line that wraps the model; "": not known
  bool ddp = false;
  bool has_steps = false;
  bool trains = false;  // it has steps or wraps its model: all-reduces are of gradients
  bool stages = false;  // the messages of a pipeline have the most exposed time
  // Calls of that kind on the rank with the most: per step, or in a recording without steps in all.
  double calls = 0;

  // One by one, not in buckets: DistributedDataParallel makes some ten calls a step.
  bool one_by_one() const { return !ddp && calls > 50; }
};
Use UseOf(Tables& tables, const LedgerView& ledger);

// Returns the advice, most useful first; never empty. `overlap_share`: share of communication that is hidden already.
std::vector<Recommendation> Recommend(double overlap_share, const Use& use, const std::optional<LinkUse>& links);

// Returns the advice against waiting for other ranks; nullopt if `stake`, in ns, is mostly transfer.
std::optional<Recommendation> EvenOut(const Ranks& ranks, const Waiting& waiting, int64_t stake, const Use& use);

// Returns true if the first advice is to hide communication, not to send less, use another link, or wait less.
bool OverlapComesFirst(const std::vector<Recommendation>& all, const Use& use);

}  // namespace gapless::internal::exposed_communication_rule
