// SPDX-License-Identifier: Apache-2.0
// The waste ledger: one definition per test, then random traces against painting every nanosecond by the definitions.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "analyses/testing/hand_made.h"
#include "analyses/timeline.h"

namespace gapless::internal {
namespace {

using testing::Analysed;
using testing::HandMade;
using testing::kComm;

constexpr std::array<std::string_view, 8> kBuckets = {"compute_ns",   "exposed_comm_ns", "exposed_copy_ns",
                                                      "idle_data_ns", "idle_launch_ns",  "idle_sync_ns",
                                                      "idle_host_ns", "idle_unknown_ns"};

void ExpectAddsUp(const testing::TableByName& ledger) {
  for (size_t row = 0; row < ledger.rows(); ++row) {
    int64_t all = 0, idle = 0;
    for (size_t bucket = 0; bucket < kBuckets.size(); ++bucket) {
      all += ledger.Int(row, kBuckets[bucket]);
      if (bucket >= 3) idle += ledger.Int(row, kBuckets[bucket]);
    }
    ASSERT_EQ(all, ledger.Int(row, "wall_ns")) << "row " << row;
    ASSERT_EQ(idle, ledger.Int(row, "idle_ns")) << "row " << row;
  }
}

TEST(Ledger, ComputingHidesCommunicationAndCopies) {
  HandMade trace;
  trace.Kernel("gemm", {0, 1, 10, 100}).Kernel("nccl", {1, 2, 50, 150}, kComm).Copy(CopyKind::kDtoD, {2, 3, 90, 200});
  Analysed run(trace);
  const auto ledger = run["ledger"];
  ASSERT_EQ(ledger.rows(), 1u);
  EXPECT_EQ(ledger.Int(0, "compute_ns"), 90);
  EXPECT_EQ(ledger.Int(0, "exposed_comm_ns"), 50) << "100 to 150";
  EXPECT_EQ(ledger.Int(0, "exposed_copy_ns"), 50) << "150 to 200: communication hides copies too";
  EXPECT_EQ(ledger.Int(0, "idle_ns"), 10);
  ExpectAddsUp(ledger);
}

TEST(Ledger, KernelsThatRunAtOnceCountOnce) {
  HandMade trace;
  trace.Kernel("a", {0, 1, 10, 100}, {.stream = 1})
      .Kernel("b", {1, 2, 20, 90}, {.stream = 2})
      .Kernel("c", {2, 3, 95, 120}, {.stream = 3});
  Analysed run(trace);
  EXPECT_EQ(run["ledger"].Int(0, "compute_ns"), 110);
}

TEST(Ledger, StepsAddUpToTheWholeWhenTheyTile) {
  HandMade trace;
  trace.Step(0, 0, 1000).Loader(0, 300).Kernel("a", {400, 410, 500, 1200});
  trace.Step(1, 1000, 2000).Loader(1000, 1500).Kernel("b", {1600, 1610, 1700, 1900});
  Analysed run(trace);
  const auto ledger = run["ledger"];
  ASSERT_EQ(ledger.rows(), 3u);
  EXPECT_TRUE(ledger.IsNull(0, "step"));
  EXPECT_EQ(ledger.Int(2, "step"), 1);
  for (const std::string_view bucket : kBuckets)
    EXPECT_EQ(ledger.Int(1, bucket) + ledger.Int(2, bucket), ledger.Int(0, bucket)) << bucket;
  EXPECT_EQ(ledger.Int(1, "idle_data_ns"), 300);
  EXPECT_EQ(ledger.Int(2, "idle_data_ns"), 300) << "until 1200 the device still computes step 0";
  ExpectAddsUp(ledger);
}

TEST(Ledger, AGapAcrossTwoStepsIsDividedBetweenThem) {
  HandMade trace;
  trace.Step(0, 0, 1000).Kernel("a", {0, 10, 20, 900}).Step(1, 1000, 2000).Kernel("b", {1100, 1150, 1200, 2000});
  Analysed run(trace);
  EXPECT_EQ(run["ledger"].Int(1, "idle_ns"), 20 + 100);
  EXPECT_EQ(run["ledger"].Int(2, "idle_ns"), 200);
}

TEST(Ledger, ATraceWithoutDeviceWorkHasNoRows) {
  HandMade trace;
  trace.Step(0, 0, 1000).Operator("aten::add", 10, 20);
  EXPECT_EQ(Analysed(trace)["ledger"].rows(), 0u);
}

// --- against painting
// ---------------------------------------------------------------------------------------------------

constexpr int64_t kAxis = 600;

struct Host {
  int64_t start, end, tid;
  HostState state;
};
struct Op {
  int64_t call_start, call_end, start, end, tid;
  int bucket;  // 0 compute, 1 communication, 2 copies
  bool linked;
};

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  int64_t operator()(int64_t below) { return static_cast<int64_t>(engine() % static_cast<uint64_t>(below)); }
  std::mt19937 engine;
};

// Slices of one thread nest: each call fills [start, end) with some, and those again.
void Nest(Random& random, int64_t start, int64_t end, int64_t tid, int depth, std::vector<Host>& out) {
  while (depth > 0 && end - start > 4) {
    const int64_t from = start + random(end - start - 2), to = from + 1 + random(end - from);
    out.push_back({from, std::min(to, end), tid, static_cast<HostState>(1 + random(4))});
    Nest(random, from, std::min(to, end), tid, depth - 1, out);
    start = std::min(to, end);
  }
}

void AddHost(const Host& host, HandMade& trace) {
  switch (host.state) {
    case HostState::kHost: trace.Annotation("forward", host.start, host.end, host.tid); break;
    case HostState::kLaunch: trace.Operator("aten::mm", host.start, host.end, host.tid); break;
    case HostState::kSync:
      trace.Call("cudaDeviceSynchronize", ApiKind::kDeviceSync, host.start, host.end, host.tid);
      break;
    case HostState::kData: trace.Operator("enumerate(DataLoader)#x.__next__", host.start, host.end, host.tid); break;
    case HostState::kNone: break;
  }
}

void AddOp(const Op& op, HandMade& trace) {
  const HandMade::Times times{op.call_start, op.call_end, op.start, op.end};
  const GpuOpDraft row{.op_class = op.bucket == 1 ? GpuOpClass::kCommunication : GpuOpClass::kOther,
                       .stream = 7 + op.bucket};
  if (!op.linked)
    trace.Unlaunched("op", op.start, op.end, row);
  else if (op.bucket == 2)
    trace.Copy(CopyKind::kDtoD, times, row, op.tid);
  else
    trace.Kernel("op", times, row, op.tid);
}

// The definitions of timeline.h, one nanosecond at a time.
class Painter {
 public:
  Painter(const std::vector<Host>& hosts, const std::vector<Op>& ops, Interval window)
      : hosts_(hosts), ops_(ops), window_(window) {}

  size_t BucketAt(int64_t ts) const {
    size_t bucket = 3;
    for (const Op& op : ops_)
      if (op.start <= ts && ts < op.end) bucket = std::min(bucket, Bucket(op));
    return bucket < 3 ? bucket : 3 + static_cast<size_t>(CauseAt(ts));
  }

 private:
  // A copy call that returns when the copy is done.
  static bool Blocks(const Op& op) { return op.bucket == 2 && op.linked && op.call_end >= op.end; }
  static size_t Bucket(const Op& op) { return op.bucket == 2 && !op.linked ? 0 : static_cast<size_t>(op.bucket); }

  HostState StateAt(int64_t ts, int64_t tid) const {  // tid 0: the strongest of all threads that launch
    HostState state = HostState::kNone;
    for (const Host& host : hosts_)
      if ((tid == 0 ? Launches(host.tid) : host.tid == tid) && host.start <= ts && ts < host.end)
        state = std::max(state, host.state);
    for (const Op& op : ops_)  // launch calls are calls, too
      if (op.linked && (tid == 0 || op.tid == tid) && op.call_start <= ts && ts < op.call_end)
        state = std::max(state, Blocks(op) ? HostState::kSync : HostState::kLaunch);
    return state;
  }
  bool Launches(int64_t tid) const {
    return std::any_of(ops_.begin(), ops_.end(), [&](const Op& op) { return op.linked && op.tid == tid; });
  }

  IdleCause CauseAt(int64_t ts) const {
    int64_t g0 = window_.start;
    const Op* next = nullptr;
    for (const Op& op : ops_) {
      if (op.start <= ts) g0 = std::max(g0, op.end);
      if (op.start > ts && (next == nullptr || op.start < next->start)) next = &op;
    }
    if (next != nullptr && !next->linked) return IdleCause::kUnknown;
    if (next == nullptr && std::none_of(ops_.begin(), ops_.end(), [](const Op& op) { return op.linked; }))
      return IdleCause::kUnknown;
    // The rest of a gap after the call is always launch here: kAxis is shorter than what a start may take.
    if (next != nullptr && ts >= next->call_start)
      return ts < next->call_end && Blocks(*next) ? IdleCause::kSync : IdleCause::kLaunch;
    HostState state = StateAt(ts, next == nullptr ? 0 : next->tid);
    if (state < HostState::kLaunch) state = StateAt(ts, 0);
    if (state == HostState::kData) return IdleCause::kData;
    if (state == HostState::kSync) return IdleCause::kSync;
    return state == HostState::kLaunch ? IdleCause::kLaunch : IdleCause::kHost;
  }

  const std::vector<Host>& hosts_;
  const std::vector<Op>& ops_;
  Interval window_;
};

// The axis is cut into slots. Each thread may make one launch call at the beginning of a slot; other slices fill the
// rest of slots, or cover whole slots, so that all of them nest.
constexpr int64_t kSlot = 40, kCall = 6;

std::vector<Host> RandomHosts(Random& random, int64_t middle) {
  std::vector<Host> hosts;
  for (const int64_t tid : {1, 2}) {
    for (const Interval half : {Interval{0, middle}, Interval{middle, kAxis}}) {
      const int64_t slots = half.length() / kSlot, from = random(slots), to = from + 1 + random(slots - from);
      if (random(3) != 0)
        hosts.push_back(
            {half.start + from * kSlot, half.start + to * kSlot, tid, static_cast<HostState>(1 + random(4))});
      for (int64_t slot = half.start; slot < half.end; slot += kSlot)
        if (random(2) != 0) Nest(random, slot + kCall, slot + kSlot, tid, 3, hosts);
    }
  }
  return hosts;
}

std::vector<Op> RandomOps(Random& random) {
  std::vector<Op> ops;
  for (const int64_t tid : {1, 2})
    for (int64_t slot = 0; slot < kAxis; slot += kSlot) {
      if (random(3) == 0) continue;
      const int64_t start = slot + random(3 * kSlot);
      const int64_t end = start + (start == 0 ? 1 : 0) + random(30);  // an operation of 0 to 0 has no time
      ops.push_back({slot, slot + 1 + random(kCall - 1), start, end, tid, static_cast<int>(random(3)), random(8) != 0});
    }
  // No two operations start together: which of them ends a gap would be a matter of their order in the file.
  std::sort(ops.begin(), ops.end(), [](const Op& a, const Op& b) { return a.start < b.start; });
  for (size_t i = 1; i < ops.size(); ++i)
    if (ops[i].start <= ops[i - 1].start) {
      const int64_t length = ops[i].end - ops[i].start;
      ops[i].start = ops[i - 1].start + 1;
      ops[i].end = ops[i].start + length;
    }
  return ops;
}

#ifdef GAPLESS_SANITIZED
constexpr unsigned kRandomTraces = 300;  // each costs ten times as much
#else
constexpr unsigned kRandomTraces = 1500;
#endif

TEST(Ledger, EqualsPaintingEachNanosecondOfRandomTraces) {
  for (unsigned seed = 0; seed < kRandomTraces; ++seed) {
    Random random(seed);
    const int64_t middle = kSlot * (6 + random(4));
    std::vector<Host> hosts = RandomHosts(random, middle);
    const std::vector<Op> ops = RandomOps(random);
    HandMade trace;
    trace.Step(0, 0, middle).Step(1, middle, kAxis);
    for (const Host& host : hosts) AddHost(host, trace);
    hosts.push_back({0, kAxis, 1, HostState::kHost});  // the steps
    for (const Op& op : ops) AddOp(op, trace);
    const auto finished = trace.Finish();
    const Window window = AnalysedWindow(*finished);
    Analysed run(std::vector{finished});
    const auto ledger = run["ledger"];
    ASSERT_EQ(ledger.rows(), 3u);
    ExpectAddsUp(ledger);
    const Painter painter(hosts, ops, window.span);
    for (size_t row = 1; row < 3; ++row) {
      const Interval span = window.steps[row - 1].span;
      std::array<int64_t, 8> painted{};
      for (int64_t ts = span.start; ts < span.end; ++ts) ++painted[painter.BucketAt(ts)];
      for (size_t bucket = 0; bucket < painted.size(); ++bucket)
        ASSERT_EQ(ledger.Int(row, kBuckets[bucket]), painted[bucket])
            << "seed " << seed << " step " << row - 1 << ' ' << kBuckets[bucket];
    }
    for (const std::string_view bucket : kBuckets)
      ASSERT_EQ(ledger.Int(1, bucket) + ledger.Int(2, bucket), ledger.Int(0, bucket));
  }
}

}  // namespace
}  // namespace gapless::internal
