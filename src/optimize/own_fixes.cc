// SPDX-License-Identifier: Apache-2.0
// Reads the user's own fixes from the command line and checks their names. The file is not read here; the agent
// loads it inside the trial.
#include "optimize/own_fixes.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "collect/files.h"
#include "validate/parity.h"

namespace gapless::internal {
namespace {

constexpr int kOrder = 1000;  // after all fixes of the catalogue

bool IsOwnName(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

}  // namespace

Result<OwnFixes> OwnFixesFrom(const std::vector<std::string>& words) {
  OwnFixes own;
  // Names and paths are kept in separate allocations, since the views in `Fix` must stay good when the lists grow
  // or move.
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    const std::string path = Absolute(word.substr(0, equals));
    const std::string_view kind =
        equals == word.npos ? ToString(Safety::kRounding) : std::string_view(word).substr(equals + 1);
    std::error_code error;
    if (!path.ends_with(".py") || !std::filesystem::is_regular_file(path, error))
      return Fail(ErrorCode::kUsage, "--fix takes a Python file", path,
                  "docs/OPTIMIZATION_GUIDE.md says what is in it");
    const auto safety = SafetyNamed(kind);
    if (!safety) return Fail(ErrorCode::kUsage, "a fix is exact, rounding, stochastic or training", std::string(kind));
    auto name = std::make_unique<std::string>(std::filesystem::path(path).stem().string());
    if (!IsOwnName(*name)) return Fail(ErrorCode::kUsage, "the name of a fix is of a-z, 0-9 and _", *name);
    if (FindFixWithTrial(*name) != nullptr)
      return Fail(ErrorCode::kUsage, "there is a fix of this name already", *name);
    auto file = std::make_unique<std::string>(path);
    own.fixes.push_back({.name = *name,
                         .help = "a fix of the user's own",
                         .safety = *safety,
                         .trial = {.value = "[V]", .choice = {.order = kOrder}, .values = Always},
                         .own_file = *file});
    own.texts.push_back(std::move(name));
    own.texts.push_back(std::move(file));
  }
  return own;
}

}  // namespace gapless::internal
