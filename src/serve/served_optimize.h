// SPDX-License-Identifier: Apache-2.0
// An optimisation that is served: how far it is, and its result once there is one. Its files are read anew for each
// answer.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "serve/documents.h"

namespace gapless::internal {

class ServedOptimize {
 public:
  // `path`: the folder of `gapless optimize`, or its document.
  ServedOptimize(std::string id, std::string path);

  const std::string& id() const { return id_; }
  ServedThing Info() const { return {.id = id_, .name = path_}; }
  Result<std::string> StateJson() const;
  // The document of `gapless optimize --json`; an error: there is none, or it is of an earlier search.
  Result<std::string> ResultJson() const;

 private:
  std::string ResultPath() const;
  std::string id_, path_;
  bool is_folder_;
};

}  // namespace gapless::internal
