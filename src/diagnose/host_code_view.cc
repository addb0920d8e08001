// SPDX-License-Identifier: Apache-2.0
#include "diagnose/host_code_view.h"

#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {
namespace {

std::string_view BaseOf(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string_view Words(std::string_view activity) {
  if (activity == "loading") return "what data loading spends";
  if (activity == "gpu_wait") return "what is spent waiting for the GPU";
  return activity == "waiting" ? "what is spent waiting" : "what the host's code spends";
}

}  // namespace

std::string HostPlaceLine(const HostCodeRows& code, size_t row) {
  const std::string file = TextOr(code, row, "file", "");
  if (file.empty() || code.IsNull(row, "line")) return {};
  return StrCat(file, ":", code.Int(row, "line"));
}

std::string HostPlaceText(const HostCodeRows& code, size_t row) {
  const std::string file(BaseOf(TextOr(code, row, "file", "")));
  const std::string line = code.IsNull(row, "line") ? "" : StrCat(":", code.Int(row, "line"));
  const std::string function = Printable(Ellipsize(TextOr(code, row, "function", ""), 80));
  if (function.empty()) return Printable(StrCat(file, line));
  if (TextOr(code, row, "activity", "") == "kernel") return function;
  return file.empty() ? StrCat(function, "()") : StrCat(function, "() (", Printable(StrCat(file, line)), ")");
}

std::optional<Evidence> HostPlaceEvidence(const HostCodeRows& code, std::string_view activity) {
  double all = 0, most = 0;
  std::optional<size_t> worst;
  for (size_t row = 0; row < code.rows(); ++row) {
    if (code.Text(row, "activity") != activity || code.IsNull(row, "share")) continue;
    const double share = code.Real(row, "share");
    all += share;
    // A place in the user's code says more than one in a library.
    const bool better = !worst || (code.Int(row, "is_users") == 1 && code.Int(*worst, "is_users") == 0) ||
                        (code.Int(row, "is_users") == code.Int(*worst, "is_users") && share > most);
    if (better) worst = row, most = share;
  }
  if (!worst || all <= 0) return std::nullopt;
  return Evidence{.text = StrCat("by the profile of the host, ", HostPlaceText(code, *worst), " is ",
                                 FormatPercent(most / all), " of ", Words(activity)),
                  .value = most / all,
                  .unit = "share",
                  .table = "host_code",
                  .source = HostPlaceLine(code, *worst)};
}

}  // namespace gapless::internal
