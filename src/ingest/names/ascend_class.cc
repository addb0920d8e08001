// SPDX-License-Identifier: Apache-2.0
// Finds the class of kernels of Ascend's libraries.
//
// Ascend names a kernel after the call, the implementation and the operation ("aclnnAddmm_MatMulCommon_MemSet"):
// only the last part is what runs. A number behind it is the place in the graph ("trans_Cast_12"). Operations that
// are not in the table, such as matrix products, are left to the rules of all vendors, which know them by their
// words.
#include <cctype>

#include "ingest/names/kernel_class.h"
#include "ingest/names/text.h"

namespace gapless::internal {
namespace {

using enum GpuOpClass;

struct Operation {
  std::string_view name;  // lower case, without version and number
  GpuOpClass op_class;
};
constexpr Operation kOperations[] = {
    {"add", kPointwise},     {"adds", kPointwise},     {"sub", kPointwise},           {"mul", kPointwise},
    {"muls", kPointwise},    {"div", kPointwise},      {"realdiv", kPointwise},       {"sqrt", kPointwise},
    {"addcmul", kPointwise}, {"addcdiv", kPointwise},  {"axpy", kPointwise},          {"equal", kPointwise},
    {"cast", kPointwise},    {"memset", kPointwise},   {"zeroslike", kPointwise},     {"oneslike", kPointwise},
    {"fill", kPointwise},    {"relugrad", kPointwise}, {"dropoutdomask", kPointwise}, {"dsagenbitmask", kPointwise},
    {"transdata", kCopy},    {"transpose", kCopy},     {"tensormove", kCopy},         {"broadcastto", kCopy},
    {"nllloss", kReduce},    {"nlllossgrad", kReduce},
};

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<GpuOpClass> AscendClass(std::string_view lower) {
  const bool numbered_memset = lower.ends_with("_memset") && lower.size() > 7 && IsDigit(lower[lower.size() - 8]);
  if (!lower.starts_with("aclnn") && !lower.starts_with("trans_") && !numbered_memset) return std::nullopt;
  while (!lower.empty() && (IsDigit(lower.back()) || lower.back() == '_'))
    lower.remove_suffix(1);  // the place in the graph: trans_Cast_12
  const std::string_view operation = lower.substr(lower.rfind('_') + 1);
  for (const Operation& known : kOperations)
    if (known.name == operation) return known.op_class;
  return std::nullopt;
}

}  // namespace gapless::internal
