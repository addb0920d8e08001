// SPDX-License-Identifier: Apache-2.0
// Writes what happened on a simulated rank as PyTorch's profiler would have: its file, its clock, its cuts.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/strings.h"
#include "cluster/testing/job_layout.h"
#include "cluster/testing/job_program.h"
#include "cluster/testing/simulated_job.h"

namespace gapless::internal::testing {
namespace {

constexpr std::string_view kBaseNs = "1756684800000000000";
constexpr int64_t kFirstTsNs = 3'600'000'000'000;  // what the recorder's clock shows when the job starts
// PyTorch writes lists of up to this many ranks in full, of longer ones the first and the last.
constexpr size_t kLongestRanks = 30;
constexpr int64_t kCallNs = 400;  // time from the call of a message to its launch

void Number(std::string& out, int64_t value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void Micros(std::string& out, int64_t ns) {
  Number(out, ns / 1000);
  const auto rest = static_cast<int>(ns % 1000);
  out += '.';
  out += static_cast<char>('0' + rest / 100);
  out += static_cast<char>('0' + rest / 10 % 10);
  out += static_cast<char>('0' + rest % 10);
}

std::string RankList(const std::vector<int>& ranks, bool cut) {
  std::string text = "[";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += ", ";
    if (cut && ranks.size() > kLongestRanks && i == kLongestRanks - 1) {
      text += StrCat("..., ", ranks.back());
      break;
    }
    Number(text, ranks[i]);
  }
  return text + "]";
}

std::string_view CollectiveNameOf(std::string_view operation) {
  if (operation == "c10d::allreduce_") return "allreduce";
  if (operation == "c10d::_allgather_base_") return "_allgather_base";
  if (operation == "c10d::_reduce_scatter_base_") return "_reduce_scatter_base";
  if (operation == "c10d::alltoall_base_") return "all_to_allv";
  return operation == "c10d::send" ? "send" : "recv";
}

class RecordingWriter {
 public:
  RecordingWriter(const SimulatedJob& job, int rank)
      : job_(job), rank_(rank), device_(rank % kGpusPerHost), pid_(20'000 + 977 * HostOf(rank) + 13 * rank) {
    const auto host = static_cast<size_t>(HostOf(rank));
    offset_ns_ = job.host_offset_ns[host], drift_ = job.host_drift[host];
    for (const JobGroup& group : job.groups) members_.push_back(RankList(group.ranks, true));
  }

  std::string Write() {
    const RankRecord& record = job_.ranks[static_cast<size_t>(rank_)];
    out_.reserve(record.events.size() * 220 + 4096);
    Head();
    const uint32_t first = FirstCorrelation(record);
    if (job_.spec.batched_messages)
      for (const JobEvent& event : record.events)
        if (event.kind == EventKind::kCollective && event.peer >= 0) messages_[event.correlation] = &event;
    for (const JobEvent& event : record.events)
      if (event.ts_ns >= record.begins_ns && (event.correlation == 0 || event.correlation >= first)) Event(event);
    out_.back() = '\n';  // instead of the last comma
    out_ += "  ],\n  \"traceName\": \"";
    out_ += StrCat(HostName(HostOf(rank_)), '_', pid_, ".1756688400000000000.pt.trace.json\"\n}\n");
    return std::move(out_);
  }

 private:
  // Calls before this one were made before the recorder began, so it knows nothing of their work either.
  static uint32_t FirstCorrelation(const RankRecord& record) {
    for (const JobEvent& event : record.events)
      if (event.kind == EventKind::kLaunch && event.ts_ns >= record.begins_ns) return event.correlation;
    return UINT32_MAX;
  }

  void Head() {
    out_ += StrCat("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": ", device_,
                   ", \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85045542912, \"computeMajor\": 9, "
                   "\"computeMinor\": 0, \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048, "
                   "\"regsPerBlock\": 65536, \"warpSize\": 32, \"sharedMemPerBlock\": 49152, \"numSms\": 132}\n  ],\n");
    out_ += "  \"cupti_version\": 24,\n  \"cuda_runtime_version\": 12040,\n  \"cuda_driver_version\": 12040,\n";
    out_ += StrCat("  \"host_name\": \"", HostName(HostOf(rank_)), "\",\n");
    Distributed();
    out_ += StrCat("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ", kBaseNs, ",\n  \"traceEvents\": [\n");
  }

  void Distributed() {
    std::string groups;
    int count = 0;
    for (const JobGroup& group : job_.groups) {
      if (std::ranges::find(group.ranks, rank_) == group.ranks.end()) continue;
      if (count++ > 0) groups += ", ";
      groups += StrCat("{\"pg_name\": \"", group.name, "\", \"pg_desc\": \"", group.description,
                       "\", \"backend_config\": \"cuda:nccl\", \"pg_size\": ", group.ranks.size(),
                       ", \"ranks\": ", RankList(group.ranks, false), "}");
    }
    out_ += StrCat("  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ", rank_,
                   ", \"world_size\": ", job_.spec.ranks, ", \"pg_count\": ", count, ", \"pg_config\": [", groups,
                   "], \"nccl_version\": \"2.21.5\"},\n");
  }

  int64_t Clock(int64_t true_ns) const {
    return kFirstTsNs + true_ns + std::llround(static_cast<double>(true_ns) * drift_ + offset_ns_);
  }

  void Begin(std::string_view category, std::string_view name, int64_t pid, int64_t tid, const JobEvent& event) {
    out_ += "  {\"ph\": \"X\", \"cat\": \"";
    out_ += category;
    out_ += "\", \"name\": \"";
    out_ += name;
    out_ += "\", \"pid\": ";
    Number(out_, pid);
    out_ += ", \"tid\": ";
    Number(out_, tid);
    out_ += ", \"ts\": ";
    const int64_t begin = Clock(event.ts_ns);
    Micros(out_, begin);
    out_ += ", \"dur\": ";
    Micros(out_, std::max<int64_t>(1, Clock(event.ts_ns + event.dur_ns) - begin));
  }

  void OnHost(std::string_view category, std::string_view name, const JobEvent& event, std::string_view number = {}) {
    Begin(category, name, pid_, pid_ + event.stream, event);
    if (!number.empty()) {
      out_ += ", \"args\": {\"";
      out_ += number;
      out_ += "\": ";
      Number(out_, event.correlation);
      out_ += "}";
    }
    out_ += "},\n";
  }

  void Event(const JobEvent& event) {
    const WorkName& work = WorkNameOf(event.name < 64 && event.kind != EventKind::kStep ? event.name : 0);
    const bool copies_in = work.kernel.starts_with("Memcpy H");
    switch (event.kind) {
      case EventKind::kStep: return OnHost("user_annotation", StrCat("ProfilerStep#", event.name), event);
      case EventKind::kLoader:
        return OnHost("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", event);
      case EventKind::kGarbage: return OnHost("user_annotation", "Python GC", event);
      case EventKind::kOperator: return Operator(work.operation, event);
      case EventKind::kLaunch: return Launch(event);
      case EventKind::kCopyCall: return OnHost("cuda_runtime", "cudaMemcpyAsync", event, "correlation");
      case EventKind::kSync: return OnHost("cuda_runtime", "cudaStreamSynchronize", event, "correlation");
      case EventKind::kKernel: return Kernel(work.kernel, event);
      case EventKind::kCopy:
        Begin("gpu_memcpy", work.kernel, device_, event.stream, event);
        return Device(event, StrCat(", \"bytes\": ", copies_in ? 1 << 20 : 4), "}},\n");
      case EventKind::kCollective: return Collective(work, event);
    }
  }

  // The note beside the call of a message ends before the launch, with which its batch ends.
  void Launch(const JobEvent& event) {
    if (const auto message = messages_.find(event.correlation); message != messages_.end()) {
      JobEvent call = event;
      call.ts_ns -= kCallNs, call.dur_ns = kCallNs / 2;
      Begin("cpu_op", "record_param_comms", pid_, pid_ + event.stream, call);
      out_ += ", \"args\": {\"External id\": ";
      Number(out_, event.correlation);
      Arguments(WorkNameOf(message->second->name), *message->second);
    }
    OnHost("cuda_runtime", "cudaLaunchKernel", event, "correlation");
  }

  void Operator(std::string_view name, const JobEvent& event) {
    if (event.stream == 0) return OnHost("cpu_op", name, event, "External id");
    OnHost("cpu_op", StrCat("autograd::engine::evaluate_function: ", name.substr(name.find(':') + 2)), event,
           "External id");
  }

  void Device(const JobEvent& event, std::string_view more, std::string_view end) {
    out_ += ", \"args\": {\"External id\": ";
    Number(out_, event.correlation);
    out_ += ", \"device\": ";
    Number(out_, device_);
    out_ += ", \"context\": 1, \"stream\": ";
    Number(out_, event.stream);
    out_ += ", \"correlation\": ";
    Number(out_, event.correlation);
    out_ += more;
    out_ += end;
  }

  void Kernel(std::string_view name, const JobEvent& event) {
    Begin("kernel", name, device_, event.stream, event);
    Device(event, ", \"grid\": [", {});
    Number(out_, event.grid);
    out_ += ", 1, 1], \"block\": [256, 1, 1]}},\n";
  }

  void Collective(const WorkName& work, const JobEvent& event) {
    Begin("kernel", work.kernel, device_, event.stream, event);
    Device(event, ", \"grid\": [16, 1, 1], \"block\": [512, 1, 1]", {});
    if (messages_.contains(event.correlation))
      out_ += "}},\n";
    else
      Arguments(work, event);
  }

  // Writes kind, size and group of a collective, which end the arguments of its event.
  void Arguments(const WorkName& work, const JobEvent& event) {
    const auto place = static_cast<size_t>(event.group);
    const JobGroup& group = job_.groups[place];
    const auto size = static_cast<int64_t>(group.ranks.size());
    const std::string_view name = CollectiveNameOf(work.operation);
    const int64_t out = name == "_allgather_base"        ? event.elements * size
                        : name == "_reduce_scatter_base" ? event.elements / size
                                                         : event.elements;
    out_ += StrCat(", \"Collective name\": \"", name, "\", \"In msg nelems\": ", event.elements,
                   ", \"Out msg nelems\": ", out, ", \"Group size\": ", size, ", \"dtype\": \"BFloat16\"");
    out_ += StrCat(", \"Process Group Name\": \"", group.name, "\", \"Process Group Description\": \"",
                   group.description, "\", \"Process Group Ranks\": \"", members_[place], "\"");
    // PyTorch writes the other rank alone beside a call.
    const bool by_call = messages_.contains(event.correlation);
    if (event.peer >= 0 && !(by_call && name == "send"))
      out_ += StrCat(", \"Src Rank\": ", name == "send" ? rank_ : event.peer);
    if (event.peer >= 0 && !(by_call && name == "recv"))
      out_ += StrCat(", \"Dst Rank\": ", name == "send" ? event.peer : rank_);
    out_ += "}},\n";
  }

  const SimulatedJob& job_;
  const int rank_, device_, pid_;
  double offset_ns_ = 0, drift_ = 0;
  std::map<uint32_t, const JobEvent*> messages_{};  // correlation → a message that is called in a batch
  std::vector<std::string> members_{};              // of each group, as the recorder writes them
  std::string out_{};
};

std::string Quoted(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += StrCat(all.empty() ? "\"" : ", \"", text, "\"");
  return "[" + all + "]";
}

}  // namespace

std::string RecordingOf(const SimulatedJob& job, int rank) { return RecordingWriter(job, rank).Write(); }

std::string HostName(int host) {
  std::string number = std::to_string(host);
  while (number.size() < 3) number.insert(0, 1, '0');
  return "node" + number;
}

std::string RankText(const std::vector<int>& ranks) {
  std::string text;
  for (size_t first = 0; first < ranks.size();) {
    size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == first ? std::to_string(ranks[first]) : StrCat(ranks[first], '-', ranks[last]);
    first = last + 1;
  }
  return text;
}

std::string TruthOf(const SimulatedJob& job) {
  const JobTruth& truth = job.truth;
  const JobLayout& layout = job.spec.layout;
  return StrCat("{\n  \"seed\": ", job.spec.seed, ",\n  \"kind\": \"", NameOf(truth.fault), "\",\n  \"variant\": \"",
                truth.variant, "\",\n  \"ranks\": \"", RankText(truth.ranks), "\",\n  \"hosts\": ", Quoted(truth.hosts),
                ",\n  \"switch\": ", truth.leaf < 0 ? std::string("null") : std::to_string(truth.leaf),
                ",\n  \"severity\": ", FormatDigits(truth.severity, 4), ",\n  \"step_ns\": ", truth.step_ns,
                ",\n  \"step_without_ns\": ", truth.step_without_ns, ",\n  \"groups\": ", Quoted(truth.groups),
                ",\n  \"layout\": {\"data\": ", layout.data, ", \"tensor\": ", layout.tensor,
                ", \"pipeline\": ", layout.pipeline, ", \"expert\": ", layout.expert,
                ", \"microbatches\": ", layout.microbatches, ", \"sharded\": ", layout.sharded ? "true" : "false",
                ", \"sequence_parallel\": ", layout.sequence_parallel ? "true" : "false",
                "},\n  \"ranks_of_job\": ", job.spec.ranks, "\n}\n");
}

}  // namespace gapless::internal::testing
