// SPDX-License-Identifier: Apache-2.0
#include "base/allocator.h"
#include "cli/app.h"

int main(int argc, char** argv) {
  gapless::internal::ReturnLargeBlocks();
  return gapless::internal::RunProgram(argc, argv);
}
