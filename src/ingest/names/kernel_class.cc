// SPDX-License-Identifier: Apache-2.0
// Finds the class of a kernel by a list of rules, each a part of a name. The rules are tried in order; the first
// part that occurs decides. The cost is one search per rule, about 250 at most, for each distinct name of a
// recording.
//
// `kHead` looks at the function's own name only, because arguments mention other kernels' words: elementwise
// kernels carry functors called …Norm… or …Reduce…. Kernels whose own name says nothing (cutlass::Kernel2,
// ck_tile::kentry) are read by their arguments, with rules of their own: those arguments are full of converters,
// copies and activations.
#include "ingest/names/kernel_class.h"

#include "ingest/names/class_rules.h"
#include "ingest/names/text.h"

namespace gapless::internal {
namespace {

using class_rules::ClassRule;
using enum GpuOpClass;

// Returns true if the function is a frame for code that its template arguments name.
bool IsWrapper(std::string_view head) {
  if (head.starts_with("void ")) head.remove_prefix(5);
  for (const std::string_view end : {"kentry", "trampoline_kernel"})
    if (head.ends_with(end)) return true;
  if (!head.starts_with("cutlass")) return false;
  for (const std::string_view end : {"::kernel", "::kernel2", "::device_kernel"})
    if (head.ends_with(end)) return true;
  return false;
}

// Returns the class of the first rule that occurs in the name; nullopt if none does.
template <class Rules>
std::optional<GpuOpClass> Match(const Rules& rules, std::string_view lower, std::string_view head) {
  for (const ClassRule& rule : rules)
    if (Has(rule.where == class_rules::Where::kHead ? head : lower, rule.part)) return rule.op_class;
  return std::nullopt;
}

}  // namespace

// Generated code comes first, since its names list the operators that were fused:
// "triton_poi_fused_convolution_relu" is elementwise. Communicators and optimizers come before the families whose
// words they contain.
std::optional<GpuOpClass> ClassByName(std::string_view lower, std::string_view head) {
  if (const auto found = Match(class_rules::kGenerated, lower, head)) return found;
  if (const auto found = AscendClass(lower)) return found;
  // The namespaces of CUB's kernels name the library that uses them.
  if (Has(head, "cub_") || Has(head, "cub::"))
    return Match(class_rules::kFamilies, "", head.substr(head.rfind(':') + 1)).value_or(kOther);
  if (const auto found = Match(class_rules::kCommunicators, lower, head)) return found;
  if (const auto found = Match(class_rules::kOptimizers, lower, head)) return found;
  if (const auto found = Match(class_rules::kHelpers, lower, head)) return found;
  return IsWrapper(head) ? Match(class_rules::kWrapped, lower, head) : Match(class_rules::kFamilies, lower, head);
}

}  // namespace gapless::internal
