// SPDX-License-Identifier: Apache-2.0
// How many members an aggregate has: it takes as many initialisers, and no more. Lists of members are held to it.
#pragma once

#include <cstddef>
#include <utility>

namespace gapless::internal {

struct AnyMember {
  template <class T>
  operator T() const {  // NOLINT(google-explicit-constructor)
    __builtin_unreachable();
  }
};
template <class T, size_t... I>
consteval bool TakesMembers(std::index_sequence<I...>) {
  return requires { T{((void)I, AnyMember{})...}; };
}
template <class T, size_t N>
consteval bool HasMembers() {
  return TakesMembers<T>(std::make_index_sequence<N>{}) && !TakesMembers<T>(std::make_index_sequence<N + 1>{});
}

}  // namespace gapless::internal
