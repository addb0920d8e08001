// SPDX-License-Identifier: Apache-2.0
// The parts of the time to the first token, on iterations and requests written by hand: each sum can be seen below.
#include "analyses/first_token.h"

#include <gtest/gtest.h>

#include "analyses/testing/hand_made.h"

namespace gapless::internal {
namespace {

using testing::HandMade;

constexpr int64_t kBegan = 1'700'000'000'000'000'000;  // of the recording, on the wall clock

// Times in ms. In each iteration a kernel runs, so that the device is there.
void Iterate(HandMade& trace, int64_t number, std::string_view name, int64_t start, int64_t end) {
  trace.shard().Add(StepRow{.number = number,
                            .name = trace.shard().Text(name),
                            .ts_ns = start * kMs,
                            .dur_ns = (end - start) * kMs,
                            .complete = true});
  trace.Kernel("k", {start * kMs, start * kMs + 10, start * kMs + 20, end * kMs - 10});
}

//   0 prompt of A and B 100 decode 150 prompt of C (600 tokens) 250 rest of C (100) 300 decode 350 prompt of D 400
void Server(HandMade& trace) {
  trace.Process(7, kBegan);
  Iterate(trace, 0, "execute_context_2(900)_generation_0(0)", 0, 100);
  Iterate(trace, 1, "execute_context_0(0)_generation_2(2)", 100, 150);
  Iterate(trace, 2, "execute_context_1(600)_generation_2(2)", 150, 250);
  Iterate(trace, 3, "execute_context_1(100)_generation_2(2)", 250, 300);
  Iterate(trace, 4, "execute_context_0(0)_generation_3(3)", 300, 350);
  Iterate(trace, 5, "execute_context_1(300)_generation_3(3)", 350, 400);
}
ClientRequest Sent(int64_t at_ms, int64_t first_ms, std::optional<int64_t> tokens = {}) {
  return {
      .start_unix_ns = kBegan + at_ms * kMs, .first_token_unix_ns = kBegan + first_ms * kMs, .prompt_tokens = tokens};
}
void ExpectParts(const FirstTokenParts& parts, int64_t queue, int64_t others, int64_t prefill, int64_t delivery) {
  EXPECT_EQ(parts.queue_ns, queue * kMs);
  EXPECT_EQ(parts.others_ns, others * kMs);
  EXPECT_EQ(parts.prefill_ns, prefill * kMs);
  EXPECT_EQ(parts.delivery_ns, delivery * kMs);
}
Result<FirstTokens> Split(HandMade& trace, std::vector<ClientRequest> requests, std::string_view host = "node1") {
  const Run run({trace.Finish()});
  Tables tables(run);
  return SplitFirstTokens(run, tables, requests, host);
}

TEST(FirstToken, PartsAddUpToWhatTheClientSaw) {
  HandMade trace;
  Server(trace);
  const auto tokens = Split(trace, {Sent(20, 302, 700), Sent(20, 302), Sent(260, 405, 300), Sent(500, 600)});
  ASSERT_TRUE(tokens) << tokens.error().message;
  ASSERT_EQ(tokens->requests.size(), 3U);
  ExpectParts(tokens->requests[0], 50, 80, 150, 2);  // C: others until 100, queue until 150, two parts until 300
  ExpectParts(tokens->requests[1], 50, 180, 50, 2);  // without its tokens only the last part is known to be its own
  ExpectParts(tokens->requests[2], 50, 40, 50, 5);   // D: C until 300, queue until 350
  EXPECT_EQ(tokens->requests[0].sum(), 282 * kMs);
  EXPECT_EQ(tokens->not_recorded, 1U) << "sent after the recording";
  EXPECT_FALSE(tokens->host_is_known);
}

// The host learns a little later than the client that an iteration is over; the next one has begun by then.
TEST(FirstToken, AnIterationIsOverWhenItIsHalfOver) {
  HandMade trace;
  Server(trace);
  const auto tokens = Split(trace, {Sent(140, 249, 600)});
  ASSERT_TRUE(tokens) << tokens.error().message;
  ExpectParts(tokens->requests[0], 10, 0, 99, 0);
}

TEST(FirstToken, RefusesWhatCannotBeLaidOver) {
  HandMade server, training, timeless;
  Server(server);
  const std::vector<ClientRequest> requests{Sent(20, 302)};
  Iterate(training, 0, "ProfilerStep#0", 0, 100);
  EXPECT_EQ(Split(training, requests).error().message, "the recording has no iterations of a serving engine");
  Iterate(timeless, 0, "execute_context_1(600)_generation_0(0)", 0, 100);
  EXPECT_EQ(Split(timeless, requests).error().message, "the recording does not say when it began on the wall clock");
  EXPECT_EQ(Split(server, {Sent(5000, 6000)}).error().message, "no prompt of these requests is in the recording");
}

TEST(FirstToken, TwoMachinesHaveTwoClocks) {
  for (const auto& [host, fits] : {std::pair("node1", true), std::pair("laptop", false)}) {
    HandMade trace;
    Server(trace.Host("node1"));
    const auto tokens = Split(trace, {Sent(20, 302)}, host);
    ASSERT_EQ(static_cast<bool>(tokens), fits);
    if (fits)
      EXPECT_TRUE(tokens->host_is_known);
    else
      EXPECT_EQ(tokens.error().message, "requests and recording are of two machines, whose clocks are not one");
  }
}

}  // namespace
}  // namespace gapless::internal
