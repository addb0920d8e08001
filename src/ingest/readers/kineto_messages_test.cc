// SPDX-License-Identifier: Apache-2.0
// Tests the kernels of batched messages, which take group, peer and size from the calls of the batch
// (trace/messages.cc).
#include <gtest/gtest.h>

#include "base/strings.h"
#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

// A thread of rank 1 in a pipeline of four; times in µs.
class KinetoMessages : public ::testing::Test {
 protected:
  // The note beside a call: it names the other rank alone, as PyTorch does.
  void Call(std::string_view kind, int peer, int64_t at, int64_t elements = 1000, int64_t dur = 4, int thread = 7) {
    events_.push_back(StrCat(
        R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":7,"tid":)", thread, R"(,"ts":)", at, R"(,"dur":)",
        dur, R"(,"args":{"External id":)", at, R"(,"Collective name":")", kind, R"(","In msg nelems":)", elements,
        R"(,"Out msg nelems":)", elements, R"(,"Group size":4,"dtype":"BFloat16","Process Group Name":"3",)",
        R"("Process Group Ranks":"[0, 1, 2, 3]",")", kind == "send" ? "Dst Rank" : "Src Rank", R"(":)", peer, "}}"));
  }
  void Launch(int64_t at, std::string_view arguments = "", std::string_view kernel = "ncclDevKernel_SendRecv(args)",
              int thread = 7) {
    events_.push_back(StrCat(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":7,"tid":)", thread,
                             R"(,"ts":)", at, R"(,"dur":1,"args":{"correlation":)", at, "}}"));
    events_.push_back(StrCat(R"({"ph":"X","cat":"kernel","name":")", kernel, R"(","pid":0,"tid":20,"ts":)", at + 100,
                             R"(,"dur":3,"args":{"device":0,"stream":20,"correlation":)", at, arguments, "}}"));
  }
  const CollectiveTable& Read() {
    std::string json = "{\"traceEvents\":[";
    for (const std::string& event : events_) json += (json.back() == '[' ? "" : ",") + event;
    MemorySource source(json + "]}");
    auto trace = ReadTrace(source, {.pool = pool_});
    EXPECT_TRUE(trace) << trace.error().ToString();
    if (trace) trace_ = std::move(*trace);
    return trace_.collectives;
  }
  std::string_view Text(StringId id) const { return trace_.Text(id); }

  std::vector<std::string> events_{};
  ThreadPool pool_{2};
  Trace trace_{};
};

TEST_F(KinetoMessages, OfOneMessageIsThatMessage) {
  Call("send", 2, 10), Launch(20);
  const CollectiveTable& all = Read();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(Text(all.kind[0]), "send");
  EXPECT_EQ(Text(all.group[0]), "3");
  EXPECT_EQ(Text(all.group_ranks[0]), "[0, 1, 2, 3]");
  EXPECT_EQ(all.group_size[0], 4);
  EXPECT_EQ(all.dst_rank[0], 2);
  EXPECT_EQ(all.src_rank[0], kAbsent32) << "nobody wrote it";
  EXPECT_EQ(all.bytes[0], 2000);
}

TEST_F(KinetoMessages, ToAndFromTheNextStageAreOneExchange) {
  Call("send", 2, 10, 1000), Call("recv", 2, 15, 300), Launch(20);
  const CollectiveTable& all = Read();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(Text(all.kind[0]), "send_recv");
  EXPECT_EQ(all.dst_rank[0], 2);
  EXPECT_EQ(all.src_rank[0], 2);
  EXPECT_EQ(all.in_elements[0], 1000);
  EXPECT_EQ(all.out_elements[0], 300);
  EXPECT_EQ(all.bytes[0], 2000) << "what it sends";
}

TEST_F(KinetoMessages, SeveralOfOneDirectionAreOneOfTheirSum) {
  Call("recv", 0, 10, 1000), Call("recv", 2, 15, 500), Launch(20);
  const CollectiveTable& all = Read();
  EXPECT_EQ(Text(all.kind[0]), "recv");
  EXPECT_EQ(all.src_rank[0], kAbsent32) << "of two ranks";
  EXPECT_EQ(all.bytes[0], 3000);
  EXPECT_EQ(all.out_elements[0], 1500);
}

TEST_F(KinetoMessages, SizesThatCannotBeAreAbsent) {
  Call("send", 2, 10, INT64_MAX), Call("send", 2, 13, 5), Launch(20), Call("send", 2, 30, -5), Launch(40);
  const CollectiveTable& all = Read();
  EXPECT_EQ(all.in_elements[0], kAbsent);
  EXPECT_EQ(all.in_elements[1], kAbsent);
}

// Its kernel may say all that, or nothing: recorders before 2.2 wrote nothing.
TEST_F(KinetoMessages, ACallThatLaunchesItselfIsNoBatch) {
  Call("send", 0, 10);  // its batch has no kernel in the recording
  Call("recv", 2, 20, 700, 10), Launch(25);
  Call("send", 2, 40, 1000, 10);
  Launch(45, R"(,"Collective name":"send","In msg nelems":5,"dtype":"Float","Group size":2,"Process Group Name":"9")");
  const CollectiveTable& all = Read();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(Text(all.kind[0]), "recv");
  EXPECT_EQ(all.bytes[0], 1400);
  EXPECT_EQ(Text(all.group[1]), "9") << "what its kernel says counts";
  EXPECT_EQ(all.bytes[1], 20);
}

TEST_F(KinetoMessages, CallsOfAnotherThreadAndLaunchesOfOtherCollectivesAreNone) {
  Call("send", 2, 10, 1000, 4, 6), Launch(20);
  Call("send", 2, 30), Launch(40, R"(,"Collective name":"allreduce")", "ncclDevKernel_AllReduce(args)"), Launch(50);
  const CollectiveTable& all = Read();
  ASSERT_EQ(all.size(), 3U);
  for (size_t row = 0; row < all.size(); ++row) EXPECT_EQ(all.group[row], StringId::kNone) << row;
  EXPECT_EQ(Text(all.kind[1]), "all_reduce");
}

TEST_F(KinetoMessages, TheOrdinalIsThatOfTheGroupTheyGot) {
  Launch(10, R"(,"Collective name":"allreduce","Process Group Name":"3")", "ncclDevKernel_AllReduce(args)");
  for (const int64_t at : {30, 50}) Call("send", 2, at), Launch(at + 10);
  const CollectiveTable& all = Read();
  ASSERT_EQ(all.size(), 3U);
  for (size_t row = 0; row < all.size(); ++row) EXPECT_EQ(all.sequence[row], static_cast<int64_t>(row));
}

}  // namespace
}  // namespace gapless::internal
