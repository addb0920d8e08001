// SPDX-License-Identifier: Apache-2.0
// The tables of numbers, enums, texts, lists and maps. A part of base/describe.h, which includes it. Each table
// holds functions that read and fill a value behind an untyped pointer; captures are not possible, so each is a
// plain function.
#pragma once

#include "base/describe.h"

namespace gapless::internal {

namespace describe {

template <class T>
consteval TypeInfo NumberType() {
  if constexpr (std::floating_point<T>) {
    return {.kind = Kind::kReal,
            .real = [](const void* at) { return static_cast<double>(*static_cast<const T*>(at)); },
            .set_real = [](void* at, double value) { *static_cast<T*>(at) = static_cast<T>(value); }};
  } else {
    constexpr bool kIsWide = sizeof(T) == sizeof(int64_t);
    return {.kind = std::same_as<T, bool> ? Kind::kBool : Kind::kInt,
            .integer = [](const void* at) { return static_cast<int64_t>(*static_cast<const T*>(at)); },
            .set_integer = [](void* at, int64_t value) { *static_cast<T*>(at) = static_cast<T>(value); },
            .min_integer = std::is_unsigned_v<T> ? 0 : static_cast<int64_t>(std::numeric_limits<T>::min()),
            .max_integer = kIsWide ? INT64_MAX : static_cast<int64_t>(std::numeric_limits<T>::max())};
  }
}

template <class T>
consteval TypeInfo EnumType() {
  static_assert(kValuesOf<T> > 0, "kValuesOf must say how many values the enum has");
  return {.kind = Kind::kEnum,
          .name = NameOfType<T>(),
          .integer = [](const void* at) { return static_cast<int64_t>(*static_cast<const T*>(at)); },
          .set_integer = [](void* at, int64_t value) { *static_cast<T*>(at) = static_cast<T>(value); },
          .name_of = [](int64_t value) -> std::string_view {
            if constexpr (requires { NameOf(T{}); }) {
              return NameOf(static_cast<T>(value));
            } else {
              return ToString(static_cast<T>(value));
            }
          },
          .values = kValuesOf<T>};
}

template <class T>
consteval TypeInfo TextType() {
  TypeInfo type{.kind = Kind::kText,
                .text = [](const void* at) { return std::string_view(*static_cast<const T*>(at)); }};
  if constexpr (std::same_as<T, std::string>)
    type.set_text = [](void* at, std::string_view text) { static_cast<T*>(at)->assign(text); };
  return type;
}

template <class T>
consteval TypeInfo ListType() {
  return {.kind = Kind::kList,
          .item = &TypeOf<typename T::value_type>::kInfo,
          .size = [](const void* at) { return static_cast<const T*>(at)->size(); },
          .at = [](const void* at, size_t i) -> const void* { return &(*static_cast<const T*>(at))[i]; },
          .append = [](void* at) -> void* { return &static_cast<T*>(at)->emplace_back(); }};
}

template <class T>
consteval TypeInfo MapType() {
  TypeInfo type{.kind = Kind::kMap,
                .item = &TypeOf<typename T::value_type::second_type>::kInfo,
                .size = [](const void* at) { return static_cast<const T*>(at)->size(); },
                .visit =
                    [](const void* at, void* context, VisitEntry entry) {
                      for (const auto& [key, value] : *static_cast<const T*>(at)) entry(context, key, &value);
                    }};
  if constexpr (requires(T map) { map.emplace_back(); }) {
    if constexpr (std::same_as<typename T::value_type::first_type, std::string>)
      type.insert = [](void* at, std::string_view key) -> void* {
        auto& entry = static_cast<T*>(at)->emplace_back();
        entry.first = key;
        return &entry.second;
      };
  } else {
    type.insert = [](void* at, std::string_view key) -> void* { return &(*static_cast<T*>(at))[std::string(key)]; };
  }
  return type;
}

}  // namespace describe

}  // namespace gapless::internal
