// SPDX-License-Identifier: Apache-2.0
// Times as tools that sample GPUs print them.
#pragma once

#include <cstdint>
#include <string_view>

namespace gapless::internal::gpu_samples {

// Returns a time in unix ns: "2024/09/08 13:03:31.000", "20240908 13:03:31", RFC 3339, or seconds or milliseconds
// since 1970. Returns kAbsent for anything else. Times without a zone are local times of this machine.
int64_t TimeOf(std::string_view given);

}  // namespace gapless::internal::gpu_samples
