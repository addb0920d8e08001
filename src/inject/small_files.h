// SPDX-License-Identifier: Apache-2.0
// Reading small files of /proc without streams.
#pragma once

#include <cstddef>

namespace gapless::internal::inject {

// Reads the first `size - 1` bytes of a file and ends them with a zero. Returns their number, 0 if it cannot be
// read.
size_t ReadSmallFile(const char* path, char* out, size_t size);
// Reads the first line, without its end. Returns false if there is no line.
bool ReadLine(const char* path, char* out, size_t size);

}  // namespace gapless::internal::inject
