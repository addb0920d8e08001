// SPDX-License-Identifier: Apache-2.0
// A libcupti that lacks nearly everything.
extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(unsigned* version) {
  *version = 28;
  return 0;
}
