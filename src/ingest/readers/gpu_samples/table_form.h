// SPDX-License-Identifier: Apache-2.0
// The forms of tables that tools for sampling GPUs print, told apart by the line above the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal::gpu_samples {

// kQuery: commas, from nvidia-smi --query-gpu and others. kDmon, kPmon: columns of spaces, from nvidia-smi dmon
// (GPUs) and pmon (processes on them). kDcgm: from dcgmi dmon.
enum class Form : uint8_t { kNone, kQuery, kDmon, kPmon, kDcgm };

// Returns the form of the table whose head this line is; kNone if it is no head. A CSV head needs two known
// columns, one of them a value of a name that only GPUs have, since commas are in other files, too; a single column is
// one if nvidia-smi printed it with a unit.
Form FormOf(std::string_view line);

// Returns the words of a line without the "#" that marks heads: "# gpu" and "#gpu" give the same.
std::vector<std::string> WordsOf(std::string_view line);
// Returns the cells of a line of CSV.
std::vector<std::string> CellsOf(std::string_view line);

}  // namespace gapless::internal::gpu_samples
