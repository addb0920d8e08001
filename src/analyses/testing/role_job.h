// SPDX-License-Identifier: Apache-2.0
// A job of two roles that take turns, for tests: three times a rollout on one GPU, then training on another.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "analyses/testing/hand_made.h"
#include "trace/formats.h"

namespace gapless::internal::testing {

// `roles`: of the trainer and of the rollout server; "" says none.
inline std::vector<std::shared_ptr<const Trace>> RoleJob(std::array<std::string_view, 2> roles,
                                                         int64_t rollout = 60 * kMs, int64_t train = 30 * kMs) {
  constexpr int64_t kStart = 1'700'000'000'000'000'000;
  HandMade trainer, server;
  trainer.Process(10, kStart).Operator("Optimizer.step#Adam.step", 0, 10);
  server.Process(11, kStart).Operator("aten::mm", 0, 10);
  if (!roles[0].empty()) trainer.Environment(kJobRoleKey, roles[0]);
  if (!roles[1].empty()) server.Environment(kJobRoleKey, roles[1]);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t at = i * (rollout + train), turn = at + rollout;
    server.Kernel("decode", {at, at + 1, at, turn});
    trainer.Kernel("gemm", {turn, turn + 1, turn, turn + train});
  }
  const int64_t end = 3 * (rollout + train);
  server.Kernel("decode", {end, end + 1, end, end + rollout});
  return {trainer.Finish(), server.Finish()};
}

}  // namespace gapless::internal::testing
