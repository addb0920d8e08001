// SPDX-License-Identifier: Apache-2.0
// Gives the kernels of batched messages what their calls said.
//
// PyTorch calls each send and receive of a batch (batch_isend_irecv, which pipelines use) by itself and launches one
// kernel when the batch ends, outside of all calls. The recorder writes group, peer and size beside the calls, and
// nothing beside such a kernel. Each thread is walked in time: a launch within a call belongs to that call; a launch
// after calls that launched nothing belongs to all of them.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "trace/derive.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSend = "send", kReceive = "recv";

// A call or a launch on a thread.
struct Moment {
  int64_t pid = 0, tid = 0, ts_ns = 0;
  bool is_launch = false;
  uint32_t row = 0;  // place among the calls, or row of the table of collectives
};

std::vector<Moment> MomentsOf(const Trace& trace, const std::vector<CollectiveRow>& calls) {
  std::vector<Moment> moments;
  for (uint32_t row = 0; row < calls.size(); ++row)
    moments.push_back({.pid = calls[row].pid, .tid = calls[row].tid, .ts_ns = calls[row].ts_ns, .row = row});
  for (uint32_t row = 0; row < trace.collectives.size(); ++row) {
    const GpuOpId op = trace.collectives.gpu_op[row];
    const SliceId launch = op.valid() ? trace.gpu_ops.launch[op.value] : SliceId{};
    if (!launch.valid()) continue;
    const uint32_t thread = trace.slices.thread[launch.value].value;
    moments.push_back(
        {trace.threads.pid[thread], trace.threads.tid[thread], trace.slices.ts_ns[launch.value], true, row});
  }
  std::ranges::stable_sort(moments, {},
                           [](const Moment& one) { return std::tuple(one.pid, one.tid, one.ts_ns, one.is_launch); });
  return moments;
}

// A Sum adds up a size of messages. Absent: a message has none, or one that cannot be; or there is no message.
struct Sum {
  std::optional<int64_t> all{};
  void Add(int64_t one) {
    if (!all) all = 0;
    all = one < 0 || *all < 0 || *all > INT64_MAX - one ? kAbsent : *all + one;
  }
  int64_t value() const { return all.value_or(kAbsent); }
};

// The value that all messages share; absent where they differ.
template <class T>
struct Shared {
  std::optional<T> one{};
  bool differs = false;
  void Add(T value) {
    differs |= one && *one != value;
    one = value;
  }
  T Or(T absent) const { return differs || !one ? absent : *one; }
};

// A batch of messages of one rank, as one collective: what it sends, else what it receives, is its size.
class Batch {
 public:
  void Add(const CollectiveRow& call, bool sends) {
    group_.Add(call.group), dtype_.Add(call.dtype), ranks_.Add(call.group_ranks), size_.Add(call.group_size);
    (sends ? sends_ : receives_)++;
    if (sends) receiver_.Add(call.dst_rank);
    if (!sends) sender_.Add(call.src_rank);
    (sends ? sent_ : received_).Add(call.in_elements);
    (sends ? sent_bytes_ : received_bytes_).Add(call.bytes);
  }

  void Fill(CollectiveTable& table, uint32_t row, StringId kind) const {
    table.kind.mutable_data()[row] = kind;
    table.group.mutable_data()[row] = group_.Or(StringId::kNone);
    table.dtype.mutable_data()[row] = dtype_.Or(StringId::kNone);
    table.group_ranks.mutable_data()[row] = ranks_.Or(StringId::kNone);
    table.group_size.mutable_data()[row] = size_.Or(kAbsent32);
    table.src_rank.mutable_data()[row] = sender_.Or(kAbsent32);
    table.dst_rank.mutable_data()[row] = receiver_.Or(kAbsent32);
    const bool sends = sends_ > 0, receives = receives_ > 0;
    table.in_elements.mutable_data()[row] = (sends ? sent_ : received_).value();
    table.out_elements.mutable_data()[row] = (receives ? received_ : sent_).value();
    table.bytes.mutable_data()[row] = (sends ? sent_bytes_ : received_bytes_).value();
  }

  bool sends_alone() const { return receives_ == 0; }
  bool receives_alone() const { return sends_ == 0; }

 private:
  Shared<StringId> group_{}, dtype_{}, ranks_{};
  Shared<int32_t> size_{}, sender_{}, receiver_{};
  Sum sent_{}, received_{}, sent_bytes_{}, received_bytes_{};
  int64_t sends_ = 0, receives_ = 0;
};

void CountOnceMore(CollectiveTable& table) {
  std::map<StringId, int64_t> next;  // ordinal within each group
  int64_t* sequence = table.sequence.mutable_data();
  for (size_t row = 0; row < table.size(); ++row) sequence[row] = next[table.group[row]]++;
}

}  // namespace

void JoinMessages(Trace& trace, const std::vector<CollectiveRow>& calls) {
  if (calls.empty()) return;
  CollectiveTable& table = trace.collectives;
  std::vector<uint32_t> waiting;  // calls of the thread that have launched nothing so far
  const Moment* before = nullptr;
  const std::vector<Moment> moments = MomentsOf(trace, calls);
  for (const Moment& moment : moments) {
    if (before != nullptr && (before->pid != moment.pid || before->tid != moment.tid)) waiting.clear();
    before = &moment;
    if (!moment.is_launch) {
      waiting.push_back(moment.row);
      continue;
    }
    // A launch within the last call is of that call alone: what waited before it has no kernel in this recording.
    if (!waiting.empty() && moment.ts_ns < calls[waiting.back()].ts_ns + calls[waiting.back()].dur_ns)
      waiting.erase(waiting.begin(), waiting.end() - 1);
    const bool is_message = trace.Text(table.kind[moment.row]) == "send_recv";
    if (is_message && table.group[moment.row] == StringId::kNone && !waiting.empty()) {
      Batch batch;
      for (const uint32_t call : waiting) batch.Add(calls[call], trace.Text(calls[call].kind) == kSend);
      batch.Fill(table, moment.row,
                 batch.sends_alone()      ? trace.strings.Intern(kSend)
                 : batch.receives_alone() ? trace.strings.Intern(kReceive)
                                          : table.kind[moment.row]);
    }
    waiting.clear();
  }
  CountOnceMore(table);
}

}  // namespace gapless::internal
