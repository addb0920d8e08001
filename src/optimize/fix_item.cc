// SPDX-License-Identifier: Apache-2.0
// Parses items such as "workers=4".
#include "optimize/fix_item.h"

#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"
#include "base/suggest.h"

namespace gapless::internal {
namespace {

constexpr size_t kLongestValue = 100;

// Returns the error for an unknown fix, with the nearest name as the hint.
Unexpected NoSuchFix(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Fix* fix : FixesWithTrial()) names.push_back(fix->name);
  const std::string_view nearest = Nearest(name, names);
  return Fail(ErrorCode::kUsage, StrCat("there is no fix '", Printable(name), "'"), "",
              nearest.empty() ? "`gapless optimize --list` lists them" : StrCat("did you mean ", nearest, "?"));
}

}  // namespace

std::string FixItem::ToString() const { return value.empty() ? std::string(fix->name) : StrCat(fix->name, "=", value); }

// Checks in this order: the name, whether a value is expected, the fix's own grammar, then the letters that any
// value may have. A user's own fix hides one of the catalogue of the same name.
Result<FixItem> ParseFixItem(std::string_view text, std::span<const Fix> own) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const Fix* fix = FindFixWithTrial(name);
  for (const Fix& item : own)
    if (item.name == name) fix = &item;
  if (fix == nullptr) return NoSuchFix(name);
  const bool given = equals != std::string_view::npos;
  if (given && fix->trial.value.empty())
    return Fail(ErrorCode::kUsage, StrCat("the fix ", name, " takes no value"), "", StrCat("write it as ", name));
  if (value.empty() && (given || fix->trial.needs_value()))
    return Fail(ErrorCode::kUsage, StrCat("the fix ", name, " needs a value"), "",
                StrCat("write it as ", TrialUsageOf(*fix)));
  if (!value.empty() && fix->trial.grammar.accepts != nullptr && !fix->trial.grammar.accepts(value))
    return Fail(ErrorCode::kUsage,
                StrCat("the fix ", name, " takes ", fix->trial.grammar.words, ", not '",
                       Printable(value.substr(0, kLongestValue)), "'"),
                "", StrCat("write it as ", TrialUsageOf(*fix)));
  if (!IsPlainValue(value))
    return Fail(ErrorCode::kUsage, StrCat("'", Printable(value.substr(0, kLongestValue)), "' is no value of a fix"), "",
                StrCat("write it as ", TrialUsageOf(*fix)));
  return FixItem{fix, std::string(value)};
}

bool IsPlainValue(std::string_view value) {
  return value.size() <= kLongestValue && std::ranges::all_of(value, [](unsigned char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
                  c == '-' || c == '+';
         });
}

// Prints the catalogue for `gapless optimize --list`, as text and as JSON.

namespace documents {

struct KnownFix {
  std::string name{}, usage{}, help{}, safety{}, effort{};
  bool live = false;
  std::vector<std::string> cures{};
  static constexpr FieldInfo kFields[] = {
      Field<&KnownFix::name>("name", "", "name of the fix"),
      Field<&KnownFix::usage>("usage", "", "name with the value that it takes"),
      Field<&KnownFix::help>("help", "", "the fix in a line"),
      Field<&KnownFix::safety>("safety", "", "what it may change beside the time"),
      Field<&KnownFix::effort>("effort", "", "effort to make it by hand"),
      Field<&KnownFix::live>("live", "", "it can be switched while the training runs"),
      Field<&KnownFix::cures>("cures", "", "rules whose bottlenecks it cures"),
  };
};

struct Fixes {
  std::vector<KnownFix> fixes{};
  static constexpr FieldInfo kFields[] = {Field<&Fixes::fixes>("fixes", "", "fixes that there are")};
};

}  // namespace documents

std::string FixesText() {
  size_t longest = 0;
  for (const Fix* fix : FixesWithTrial()) longest = std::max(longest, TrialUsageOf(*fix).size());
  std::string text;
  for (const Fix* fix : FixesWithTrial()) {
    const std::string usage = TrialUsageOf(*fix);
    text += StrCat("  ", usage, std::string(longest - usage.size() + 2, ' '), fix->help, " (", ToString(fix->safety),
                   ")\n");
  }
  return text;
}

constinit const TypeInfo kFixesDocument = describe::MakeType<documents::Fixes>();

std::string FixesJson() {
  documents::Fixes document;
  for (const Fix* fix : FixesWithTrial())
    document.fixes.push_back({std::string(fix->name),
                              TrialUsageOf(*fix),
                              std::string(fix->help),
                              std::string(ToString(fix->safety)),
                              std::string(NameOf(fix->trial.effort)),
                              fix->trial.live.between_steps,
                              {fix->trial.choice.cures.begin(), fix->trial.choice.cures.end()}});
  return DocumentOf("optimize", document);
}

}  // namespace gapless::internal
