// SPDX-License-Identifier: Apache-2.0
// Implements the catalogue's lookup and the parsing of items such as "workers=4".
#include "optimize/fix.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "base/suggest.h"

namespace gapless::internal {
namespace {

constexpr size_t kLongestValue = 100;

// Removes a number and a dot from the start of `text` and returns the number; −1 if `text` does not start with a
// number.
int TakeNumber(std::string_view& text) {
  int number = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc()) return -1;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with('.')) text.remove_prefix(1);
  return number;
}

// Returns the error for an unknown fix, with the nearest name as the hint.
Unexpected NoSuchFix(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Fix* fix : AllFixes()) names.push_back(fix->name);
  const std::string_view nearest = Nearest(name, names);
  return Fail(ErrorCode::kUsage, StrCat("there is no fix '", Printable(name), "'"), "",
              nearest.empty() ? "docs/reference/fixes.md lists them" : StrCat("did you mean ", nearest, "?"));
}

}  // namespace

std::string_view NameOf(Effort effort) {
  switch (effort) {
    case Effort::kMedium: return "medium";
    case Effort::kAdvanced: return "advanced";
    case Effort::kQuick: break;
  }
  return "quick win";
}

const Fix* FindFix(std::string_view name) {
  for (const Fix* fix : AllFixes())
    if (fix->name == name) return fix;
  return nullptr;
}

std::string FixItem::ToString() const { return value.empty() ? std::string(fix->name) : StrCat(fix->name, "=", value); }

// Asks the fix itself first, then the catalogue, whose class may depend on the value. A user's own fix has the
// class that the user gave.
Safety FixItem::Class() const {
  if (fix->class_of != nullptr) return fix->class_of(value);
  const FixInfo* entry = fix->own_file.empty() ? FindFixInfo(fix->name) : nullptr;
  return entry != nullptr ? entry->SafetyWith(value) : fix->safety;
}

// Checks in this order: the name, whether a value is expected, the fix's own grammar, then the letters that any
// value may have. A user's own fix hides one of the catalogue of the same name.
Result<FixItem> ParseFixItem(std::string_view text, std::span<const Fix> own) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const Fix* fix = FindFix(name);
  for (const Fix& item : own)
    if (item.name == name) fix = &item;
  if (fix == nullptr) return NoSuchFix(name);
  const bool given = equals != std::string_view::npos;
  if (given && fix->value.empty())
    return Fail(ErrorCode::kUsage, StrCat("the fix ", name, " takes no value"), "", StrCat("write it as ", name));
  if (value.empty() && (given || (!fix->value.empty() && !fix->value.starts_with('['))))
    return Fail(ErrorCode::kUsage, StrCat("the fix ", name, " needs a value"), "",
                StrCat("write it as ", UsageOf(*fix)));
  if (!value.empty() && fix->grammar.accepts != nullptr && !fix->grammar.accepts(value))
    return Fail(ErrorCode::kUsage,
                StrCat("the fix ", name, " takes ", fix->grammar.words, ", not '",
                       Printable(value.substr(0, kLongestValue)), "'"),
                "", StrCat("write it as ", UsageOf(*fix)));
  if (!IsPlainValue(value))
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(value.substr(0, kLongestValue)), "' is no value of a fix"), "",
                StrCat("write it as ", UsageOf(*fix)));
  return FixItem{fix, std::string(value)};
}

bool IsPlainValue(std::string_view value) {
  return value.size() <= kLongestValue && std::ranges::all_of(value, [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
                  c == '-' || c == '+';
         });
}

std::string UsageOf(const Fix& fix) {
  if (fix.value.empty()) return std::string(fix.name);
  if (fix.value.starts_with('[')) return StrCat(fix.name, "[=", fix.value.substr(1));
  return StrCat(fix.name, "=", fix.value);
}

FixValues Always(const FixContext& /*context*/) { return {.values = {""}}; }

FixValues NoneBecause(std::string_view reason) { return {.why_not = std::string(reason)}; }

size_t CpusPerRank(const FixContext& context) {
  return std::max<size_t>(1, context.cpus / std::max<size_t>(1, context.ranks));
}

bool TorchIsAtLeast(const FixContext& context, int major, int minor) {
  std::string_view text = context.torch_version;
  const int have_major = TakeNumber(text), have_minor = TakeNumber(text);
  return have_major > major || (have_major == major && have_minor >= minor);
}

}  // namespace gapless::internal
