// SPDX-License-Identifier: Apache-2.0
// Kernels that take K times as long: all, or those whose name matches. For experts, and to ask what a kernel is worth.
#include <regex>

#include "base/strings.h"
#include "predict/what_if.h"

namespace gapless::internal {
namespace {

constexpr size_t kMatched =
    2048;  // of a name: std::regex takes stack for each character, and names are the recording's

Result<WhatIfEffect> Apply(const WhatIfInput& input, const WhatIfItem& item, Case /*which*/, EdgeTimes& times) {
  const auto factor = item.Factor();
  if (!factor) return Unexpected{factor.error()};
  const Trace& trace = input.trace();
  std::vector<uint8_t> chosen(trace.strings.size(), item.selector.empty() ? 1 : 0);
  if (!item.selector.empty()) try {
      const std::regex expression(item.selector, std::regex::ECMAScript | std::regex::optimize);
      for (size_t id = 0; id < chosen.size(); ++id) {
        const std::string_view name = trace.strings[static_cast<StringId>(id)].substr(0, kMatched);
        chosen[id] = std::regex_search(name.begin(), name.end(), expression) ? 1 : 0;
      }
    } catch (const std::regex_error&) {
      return Fail(ErrorCode::kUsage, "this is no regular expression", Printable(item.selector));
    }
  size_t count = 0;
  const GpuOpTable& ops = trace.gpu_ops;
  times.ScaleOps([&](uint32_t op) {
    const bool hit = ops.kind[op] == GpuOpKind::kKernel && chosen[static_cast<uint32_t>(ops.name[op])] != 0;
    count += hit ? 1 : 0;
    return hit ? *factor : 1.0;
  });
  WhatIfEffect effect;
  if (count == 0)
    effect.refusal = item.selector.empty() ? "no kernel was recorded"
                                           : StrCat("no kernel has a name like '", Printable(item.selector), "'");
  return effect;
}

}  // namespace

WHATIF(kernels) = {.name = "kernels",
                   .value = "K",
                   .help = "Kernels take K times as long; kernels:REGEX=K only those",
                   .why =
                       "Kernels take K times as long, all or those whose name the expression matches. A question "
                       "about the machine: nothing is assumed.",
                   .safety = Safety::kHardware,
                   .apply = Apply};

}  // namespace gapless::internal
