// SPDX-License-Identifier: Apache-2.0
// The things that can be served, told apart by their beginnings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gapless::internal {

enum class SourceKind : uint8_t {
  kRecording,  // or what none of the others is
  kHistory,    // of benchmarks
  kOptimize,   // the folder of `gapless optimize`, or its document
  kJob,        // the run folder of a job that is under way
};

SourceKind KindOfSource(const std::string& path);

inline constexpr std::string_view kSourcesInWords =
    "gapless serve takes recordings and folders of them, a history (sqlite:FILE, postgresql://…), the folder or the "
    "result of gapless optimize, and the run folder of a job that is under way";

}  // namespace gapless::internal
