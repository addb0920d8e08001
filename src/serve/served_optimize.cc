// SPDX-License-Identifier: Apache-2.0
#include "serve/served_optimize.h"

#include <sys/stat.h>

#include <optional>

#include "base/json_value.h"
#include "base/strings.h"
#include "collect/allowed_hosts.h"
#include "collect/files.h"
#include "collect/ring.h"
#include "flows/optimize_progress.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostResultBytes = size_t{32} << 20, kMostPatchBytes = size_t{1} << 20;

std::optional<int64_t> ChangedUnixMs(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return int64_t{about.st_mtim.tv_sec} * 1000 + about.st_mtim.tv_nsec / 1'000'000;
}

// A process that was killed cannot say so. One of another machine is believed.
std::string StateOf(const documents::OptimizeProgress& progress) {
  const bool is_over = progress.state == "done" || progress.state == "failed";
  return !is_over && progress.host == MachineName() && !IsAlive(progress.pid) ? "stopped" : progress.state;
}

}  // namespace

ServedOptimize::ServedOptimize(std::string id, std::string path) : id_(std::move(id)), path_(std::move(path)) {
  struct stat about {};
  is_folder_ = ::stat(path_.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

std::string ServedOptimize::ResultPath() const { return is_folder_ ? path_ + "/result.json" : path_; }

// A result that is older than the search under way is that of the search before.
Result<std::string> ServedOptimize::ResultJson() const {
  const auto none = [&](std::string why) { return Fail(ErrorCode::kInput, std::move(why), path_); };
  const std::string path = ResultPath();
  const auto changed = ChangedUnixMs(path);
  if (!changed) return none("there is no result yet");
  if (is_folder_)
    if (const auto progress = ReadProgress(path_); progress && *changed < progress->began_unix_ms)
      return none("there is no result of this search yet");
  std::string text = ContentOf(path, kMostResultBytes);
  const auto json = JsonValue::Parse(text);
  if (!json || json->Get("gapless").TextOf("command") != "optimize" || json->Find("conclusion") == nullptr)
    return none("the file is no result of gapless optimize");
  return text;
}

Result<std::string> ServedOptimize::StateJson() const {
  ServedSearch search{.id = id_, .path = path_, .state = "done"};
  if (is_folder_) {
    if (auto progress = ReadProgress(path_)) {
      search.state = StateOf(*progress);
      search.progress = std::move(*progress);
    }
  }
  if (const auto result = ResultJson()) {
    search.has_result = true;
    // The patch stands beside the result, whatever folder its path is below.
    const auto json = JsonValue::Parse(*result);
    const std::string patch = json ? json->TextOf("patch") : "";
    const std::string folder = is_folder_ ? path_ : path_.substr(0, path_.rfind('/') + 1);
    const std::string name = patch.substr(patch.rfind('/') + 1);
    if (!name.empty()) search.diff = ContentOf(StrCat(folder, is_folder_ ? "/" : "", name), kMostPatchBytes);
  } else if (!search.progress) {
    search.state = is_folder_ ? "stopped" : "failed";
  }
  return JsonOf(search);
}

}  // namespace gapless::internal
