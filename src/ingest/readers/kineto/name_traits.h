// SPDX-License-Identifier: Apache-2.0
// The meanings of the names of events, judged once per distinct name and category.
#pragma once

#include <algorithm>
#include <vector>

#include "ingest/names.h"
#include "ingest/readers/kineto/event_category.h"

namespace gapless::internal::kineto {

// A NameTraits is the meaning of a name. It is judged once per distinct name and category, since a Triton operator and
// its kernel share their name.
struct NameTraits {
  uint16_t known = 0;       // bit per Category
  bool annotation = false;  // an annotation although an old recorder filed it under operators
  ApiKind api = ApiKind::kNone;
  KernelTraits kernel{};
  CopyKind copy = CopyKind::kNone;
  StringId source_line = StringId::kNone;      // source line of a Python frame
  StringId collective = StringId::kNone;       // collective of a kernel
  StringId host_collective = StringId::kNone;  // host collective of an operator or annotation of the same name
  bool notes_collective = false;               // PyTorch's note beside the call of a collective of a GPU
};

// A NameJudge finds the traits of a name by its interned id, and judges names that it sees for the first time.
class NameJudge {
 public:
  explicit NameJudge(TraceBuilder::Shard& shard) : shard_(shard) {}

  // Returns what the name means in this category. The reference is good until the next call.
  const NameTraits& TraitsOf(StringId name, Category category) {
    const auto at = static_cast<uint32_t>(name);
    if (at >= traits_.size()) traits_.resize(std::max<size_t>(at + 1, traits_.size() * 2));
    const auto bit = static_cast<uint16_t>(1U << static_cast<unsigned>(category));
    if ((traits_[at].known & bit) == 0) Judge(name, category, traits_[at]);
    return traits_[at];
  }

 private:
  void Judge(StringId name, Category category, NameTraits& traits);

  TraceBuilder::Shard& shard_;
  std::vector<NameTraits> traits_;  // by StringId
};

}  // namespace gapless::internal::kineto
