// SPDX-License-Identifier: Apache-2.0
// One list of fields per struct. JSON out and in, JSON Schema and TypeScript types are made from it
// (base/described_json.h).
//
// A struct names its fields once, beside its members:
//
//   struct Response {
//     double share = 0;
//     std::optional<double> low{};
//     static constexpr FieldInfo kFields[] = {
//         Field<&Response::share>("share", "share", "fraction of the step"),
//         Field<&Response::low>("low", "share", "lower bound; missing: not bounded"),
//     };
//   };
//
// A struct of another room, or a public one, is described from outside: template <> struct Described<Gain> with the
// same kFields. A misspelt member does not compile, and neither does a list that leaves a member out: a member that is
// not for JSON is named by Hidden. A value that may be missing is a std::optional, or a member whose empty value (0,
// false, "", no items) stands for a missing one (kUnlessEmpty). Missing is a missing key, never null or 0.
//
// Why not a library: Boost.Describe with Boost.JSON 1.81 was measured on 10 structs of 12 fields, each written and read
// (g++ 12 -O2): 4.3 s and 138 kB of code, against 0.7 s and 14 kB here, where templates only make constant tables and
// the code that walks them is compiled once. It also has no schema, no TypeScript, and no path in its errors; and the
// distribution's default is 1.74, which has neither.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/members.h"

namespace gapless::internal {

enum class Kind : uint8_t { kBool, kInt, kReal, kText, kEnum, kScalar, kList, kMap, kObject };

// A value of which only the document knows the type, such as a cell of a query.
using JsonScalar = std::variant<std::monostate, int64_t, double, std::string>;

struct FieldInfo;
using VisitEntry = void (*)(void* context, std::string_view key, const void* value);

// TypeInfo has the functions that read and fill a value of a type through a pointer to it. Only the functions of its
// kind are set; those that fill are null where a type holds views, which cannot be read back.
struct TypeInfo {
  Kind kind;
  std::string_view name = {};                 // kEnum, kObject: that of the type, without its namespaces
  int64_t (*integer)(const void*) = nullptr;  // kBool, kInt, kEnum
  void (*set_integer)(void*, int64_t) = nullptr;
  int64_t min_integer = 0, max_integer = 0;  // kInt: what the type holds
  double (*real)(const void*) = nullptr;
  void (*set_real)(void*, double) = nullptr;
  std::string_view (*text)(const void*) = nullptr;
  void (*set_text)(void*, std::string_view) = nullptr;
  std::string_view (*name_of)(int64_t) = nullptr;  // kEnum: the word for each value below `values`
  int64_t values = 0;
  const TypeInfo* item = nullptr;         // kList, kMap
  size_t (*size)(const void*) = nullptr;  // kList, kMap
  const void* (*at)(const void*, size_t) = nullptr;
  void* (*append)(void*) = nullptr;
  void (*visit)(const void*, void* context, VisitEntry) = nullptr;  // kMap
  void* (*insert)(void*, std::string_view) = nullptr;
  std::span<const FieldInfo> fields = {};  // kObject
};

enum class FieldUse : uint8_t {
  kPlain,
  kUnlessEmpty,  // its empty value is a missing key
  kNullable,     // a number that is not known, here or in this list, is null
  kUnlessEmptyOrNull,
  kSpliced,  // the fields of this object stand in the one that holds it
  kHidden,   // not in JSON
};
inline constexpr FieldUse kUnlessEmpty = FieldUse::kUnlessEmpty, kNullable = FieldUse::kNullable,
                          kUnlessEmptyOrNull = FieldUse::kUnlessEmptyOrNull;

struct FieldInfo {
  std::string_view name;
  std::string_view unit;  // "ns", "bytes", "share", "ratio"; "" for none
  std::string_view help;  // one line
  const TypeInfo* type;
  FieldUse use;
  bool is_optional;
  const void* (*get)(const void* owner);  // null: missing
  void* (*make)(void* owner);             // gives the value to fill, present from now on; null: it stands elsewhere

  bool IsLeftOutWhenEmpty() const { return use == FieldUse::kUnlessEmpty || use == FieldUse::kUnlessEmptyOrNull; }
  bool MayBeMissing() const { return is_optional || IsLeftOutWhenEmpty(); }
  bool HasNulls() const { return use == FieldUse::kNullable || use == FieldUse::kUnlessEmptyOrNull; }
};

// A value that stands elsewhere and is written from there; it cannot be read back. A plain pointer is the same, and
// null is missing.
template <class T>
struct Borrowed {
  const T* at = nullptr;
};

// The list of a struct that cannot have it inside.
template <class T>
struct Described;

// An enum is described by how many values it has; NameOf or ToString gives the word of each.
template <class E>
inline constexpr int64_t kValuesOf = 0;

namespace describe {

// Returns the type's name without namespaces, from the compiler's own text of this function.
template <class T>
consteval std::string_view NameOfType() {
  constexpr std::string_view kSignature = __PRETTY_FUNCTION__;
  constexpr size_t kFrom = kSignature.find("T = ") + 4;
  constexpr std::string_view kQualified = kSignature.substr(kFrom, kSignature.find_first_of(";]", kFrom) - kFrom);
  return kQualified.substr(kQualified.rfind(':') + 1);
}

template <class T>
concept HasOwnFields = requires { T::kFields; };
template <class T>
consteval std::span<const FieldInfo> FieldsOf() {
  if constexpr (HasOwnFields<T>) {
    return T::kFields;
  } else {
    return Described<T>::kFields;
  }
}
template <class T>
consteval size_t ListedMembers() {
  if constexpr (HasOwnFields<T>) {
    return std::size(T::kFields);
  } else {
    return std::size(Described<T>::kFields);
  }
}

// Lists and maps are recognised by their type; a vector of pairs with a text first is a map that keeps its order.
template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsMap<std::vector<std::pair<std::string, T>>> = true;  // keeps its order
template <class T>
inline constexpr bool kIsMap<std::vector<std::pair<std::string_view, T>>> = true;

// Holding says where a member's value is, and so whether it can be missing and be filled.
enum class Holding : uint8_t { kInside, kOptional, kPointer, kBorrowed };
template <class T>
struct Present {
  using Type = T;
  static constexpr Holding kHolding = Holding::kInside;
};
template <class T>
struct Present<std::optional<T>> {
  using Type = T;
  static constexpr Holding kHolding = Holding::kOptional;
};
template <class T>
struct Present<const T*> {
  using Type = T;
  static constexpr Holding kHolding = Holding::kPointer;
};
template <class T>
struct Present<Borrowed<T>> {
  using Type = T;
  static constexpr Holding kHolding = Holding::kBorrowed;
};
// Takes a pointer to member apart: its struct and its type.
template <class M>
struct MemberOf;
template <class O, class M>
struct MemberOf<M O::*> {
  using Owner = O;
  using Type = M;
};

template <class T>
consteval TypeInfo NumberType();
template <class T>
consteval TypeInfo EnumType();
template <class T>
consteval TypeInfo ListType();
template <class T>
consteval TypeInfo MapType();
template <class T>
consteval TypeInfo TextType();

template <class T>
consteval TypeInfo MakeType() {
  if constexpr (std::is_enum_v<T>) {
    return EnumType<T>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return NumberType<T>();
  } else if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) {
    return TextType<T>();
  } else if constexpr (std::same_as<T, JsonScalar>) {
    return {.kind = Kind::kScalar};
  } else if constexpr (kIsMap<T>) {
    return MapType<T>();
  } else if constexpr (kIsList<T>) {
    return ListType<T>();
  } else {
    static_assert(HasMembers<T, ListedMembers<T>()>(),
                  "kFields must list every member once; Hidden leaves one out of JSON");
    return {.kind = Kind::kObject, .name = NameOfType<T>(), .fields = FieldsOf<T>()};
  }
}

}  // namespace describe

// The description of T.
template <class T>
struct TypeOf {
  static const TypeInfo kInfo;
};
template <class T>
constinit const TypeInfo TypeOf<T>::kInfo = describe::MakeType<T>();

// Describes a member: its key, unit and one line of help. Everything is a constant; the code for a type is
// compiled once, wherever it is used.
template <auto Member>
consteval FieldInfo Field(std::string_view name, std::string_view unit, std::string_view help,
                          FieldUse use = FieldUse::kPlain) {
  using Owner = typename describe::MemberOf<decltype(Member)>::Owner;
  using Type = typename describe::MemberOf<decltype(Member)>::Type;
  using Present = describe::Present<Type>;
  constexpr describe::Holding kHolding = Present::kHolding;
  constexpr bool kMayBeNull = kHolding == describe::Holding::kOptional || kHolding == describe::Holding::kPointer;
  FieldInfo info{name, unit, help, &TypeOf<typename Present::Type>::kInfo, use, kMayBeNull, nullptr, nullptr};
  if constexpr (kHolding == describe::Holding::kOptional) {
    info.get = [](const void* owner) -> const void* {
      const auto& member = static_cast<const Owner*>(owner)->*Member;
      return member ? &*member : nullptr;
    };
    info.make = [](void* owner) -> void* { return &(static_cast<Owner*>(owner)->*Member).emplace(); };
  } else if constexpr (kHolding == describe::Holding::kPointer) {
    info.get = [](const void* owner) -> const void* { return static_cast<const Owner*>(owner)->*Member; };
  } else if constexpr (kHolding == describe::Holding::kBorrowed) {
    info.get = [](const void* owner) -> const void* { return (static_cast<const Owner*>(owner)->*Member).at; };
  } else {
    info.get = [](const void* owner) -> const void* { return &(static_cast<const Owner*>(owner)->*Member); };
    info.make = [](void* owner) -> void* { return &(static_cast<Owner*>(owner)->*Member); };
  }
  return info;
}
// Describes a member whose fields stand in the object that holds it, without a key of its own.
template <auto Member>
consteval FieldInfo Spliced() {
  return Field<Member>("", "", "", FieldUse::kSpliced);
}
// Names a member that is not in JSON, so that the list is complete.
template <auto Member>
consteval FieldInfo Hidden() {
  return {"", "", "", nullptr, FieldUse::kHidden, false, nullptr, nullptr};
}

}  // namespace gapless::internal

#include "base/describe_types.h"  // IWYU pragma: export
