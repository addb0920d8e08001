// SPDX-License-Identifier: Apache-2.0
// Numbers that nobody can guess, from the kernel.
#pragma once

#include <cstddef>
#include <span>

namespace gapless::internal {

// False if the kernel gives none.
bool FillWithRandom(std::span<std::byte> bytes);

}  // namespace gapless::internal
