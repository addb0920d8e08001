// SPDX-License-Identifier: Apache-2.0
// Prints the catalogue for `gapless optimize --list`, as text and as JSON.
#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"
#include "optimize/fix_item.h"

namespace gapless::internal {
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
