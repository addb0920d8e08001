// SPDX-License-Identifier: Apache-2.0
// A libcupti that lacks nearly everything.
// NOLINTNEXTLINE(readability-identifier-naming): CUPTI names it so
extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(unsigned* version) {
  *version = 28;
  return 0;
}
