// SPDX-License-Identifier: Apache-2.0
// Counts the members of an aggregate: it takes as many initialisers, and no more. Lists of members are held to it. Also
// names a member.
#pragma once

#include <cstddef>
#include <string_view>
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

// Returns the name of a member, from the compiler's own text of this function.
template <auto Member>
consteval std::string_view NameOfMember() {
  constexpr std::string_view kFunction = __PRETTY_FUNCTION__;
  constexpr std::string_view kUntilEnd =
      kFunction.substr(0, kFunction.find_first_of(";]", kFunction.find("Member = &")));
  return kUntilEnd.substr(kUntilEnd.rfind(':') + 1);
}

}  // namespace gapless::internal
