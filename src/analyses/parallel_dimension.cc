// SPDX-License-Identifier: Apache-2.0
// Finds words for dimensions in the descriptions of process groups.
#include "analyses/parallel_dimension.h"

#include <array>
#include <string>

#include "base/strings.h"

namespace gapless::internal {
namespace {

struct DimensionWord {
  std::string_view word;
  ParallelDimension dimension;
};
constexpr DimensionWord kDimensionWords[] = {
    {"dp", ParallelDimension::kData},           {"ddp", ParallelDimension::kData},
    {"fsdp", ParallelDimension::kData},         {"hsdp", ParallelDimension::kData},
    {"data", ParallelDimension::kData},         {"tp", ParallelDimension::kTensor},
    {"tensor", ParallelDimension::kTensor},     {"pp", ParallelDimension::kPipeline},
    {"pipeline", ParallelDimension::kPipeline}, {"pipe", ParallelDimension::kPipeline},
    {"ep", ParallelDimension::kExpert},         {"expert", ParallelDimension::kExpert},
    {"moe", ParallelDimension::kExpert},        {"edp", ParallelDimension::kExpertData},
    {"sp", ParallelDimension::kSequence},       {"sequence", ParallelDimension::kSequence},
    {"ulysses", ParallelDimension::kSequence},  {"cp", ParallelDimension::kContext},
    {"context", ParallelDimension::kContext}};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

using Found = std::array<bool, kParallelDimensions>;

void AddWord(std::string_view word, Found& found) {
  for (const DimensionWord& known : kDimensionWords)
    if (EqualsIgnoreCase(word, known.word)) found[static_cast<size_t>(known.dimension)] = true;
}

}  // namespace

std::optional<ParallelDimension> DimensionByName(std::string_view description) {
  Found found{};
  for (size_t at = 0; at < description.size();) {
    size_t end = at;
    while (end < description.size() && IsLetter(description[end])) ++end;
    AddWord(description.substr(at, end - at), found);
    at = end + 1;
  }
  const auto has = [&](ParallelDimension dimension) { return found[static_cast<size_t>(dimension)]; };
  size_t count = 0;
  for (const bool one : found) count += one ? 1 : 0;
  if (count == 0) return std::nullopt;
  if (has(ParallelDimension::kExpertData) ||
      (count == 2 && has(ParallelDimension::kExpert) && has(ParallelDimension::kData)))
    return ParallelDimension::kExpertData;
  if (count == 2 && has(ParallelDimension::kData) && has(ParallelDimension::kContext))
    return ParallelDimension::kData;  // gradients are added up over both
  if (count > 1) return ParallelDimension::kUnknown;
  for (size_t i = 0; i < kParallelDimensions; ++i)
    if (found[i]) return static_cast<ParallelDimension>(i);
  return std::nullopt;
}

}  // namespace gapless::internal
