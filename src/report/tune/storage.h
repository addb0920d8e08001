// SPDX-License-Identifier: Apache-2.0
// The output of `gapless tune storage`, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "base/describe.h"
#include "optimize/storage_tuning.h"

namespace gapless::internal {

// In lines of at most `width` columns where it lists reasons.
std::string StorageText(const StorageTuning& tuning, const std::vector<std::string>& command, int width);
extern const TypeInfo kStorageDocument;
std::string StorageJson(const StorageTuning& tuning);

}  // namespace gapless::internal
