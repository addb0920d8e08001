// SPDX-License-Identifier: Apache-2.0
#include "diagnose/run_traits.h"

#include <string_view>

namespace gapless::internal {
namespace {

template <class Matches>
bool AnyName(const Table& table, Matches matches) {
  const int name = table.Find("name");
  for (size_t row = 0; row < table.rows(); ++row)
    if (matches(table.Text(row, name))) return true;
  return false;
}

}  // namespace

bool Trains(Tables& tables) {
  return AnyName(tables.Get("operators"), [](std::string_view name) {
    return name.find("Backward") != name.npos || name.find("_backward") != name.npos;
  });
}

bool SeesCompiler(Tables& tables) {
  return AnyName(tables.Get("kernels"), [](std::string_view name) { return name.starts_with("triton_"); }) ||
         AnyName(tables.Get("operators"), [](std::string_view name) {
           return name.starts_with("CompiledFunction") || name.starts_with("Torch-Compiled Region");
         });
}

}  // namespace gapless::internal
