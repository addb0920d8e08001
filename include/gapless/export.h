// SPDX-License-Identifier: Apache-2.0
// GAPLESS_API marks what the library exports; everything else in it is hidden.
#pragma once

#define GAPLESS_API __attribute__((visibility("default")))
