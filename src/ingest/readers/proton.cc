// SPDX-License-Identifier: Apache-2.0
// Reads the tree of Proton, Triton's profiler (.hatchet): scopes and frames of Python with the GPU's kernels as leaves,
// each with its time, how often it ran and, where the program gave them, operations and bytes.
//
// A path becomes a row of stack; the kernels' times samples of it, each with the count of its launches: they are sums,
// without a time of their own. host_function has kernels by their own time and what called them by its total.
// Operations and bytes become kernel_metric. A tree may be deep, so it is walked with a stack of its own.
#include <vector>

#include "ingest/host_stacks.h"
#include "ingest/reader.h"
#include "ingest/readers/profile_json/document.h"

namespace gapless::internal::proton_reader {
namespace {

namespace dom = simdjson::dom;
using namespace profile_json;
constexpr std::string_view kExtensions[] = {".hatchet"};
constexpr std::string_view kHint = "triton.profiler.start(\"train\") … finalize() writes train.hatchet";
constexpr int64_t kMaxNs = int64_t{1} << 60;

Sniff SniffHead(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '[') return Sniff::kNo;
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  return has("\"frame\"") && has("\"metrics\"") && (has("\"children\"") || has("\"ROOT\"")) ? Sniff::kYes : Sniff::kNo;
}

// Numbers of Proton may be whole or real.
double MetricAt(const dom::element& metrics, std::string_view key) { return RealAt(metrics, key); }

class Walk {
 public:
  explicit Walk(TraceBuilder& builder) : builder_(builder), stacks_(builder, HostStacks::Lines::kBegin) {}

  void Take(const dom::element& root) {
    std::vector<Node> open{{root, 0}};
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      path_.resize(node.depth);
      Visit(node.element);
      std::vector<dom::element> children;
      for (const dom::element child : ArrayAt(node.element, "children")) children.push_back(child);
      for (size_t i = children.size(); i-- > 0;) open.push_back({children[i], path_.size()});
    }
  }
  void Finish() { stacks_.Finish(); }
  int64_t kernels() const { return stacks_.rows(); }

 private:
  struct Node {
    dom::element element;
    size_t depth = 0;
  };

  void Visit(const dom::element& node) {
    dom::element frame, metrics;
    std::string_view name;
    if (node["frame"].get(frame) != simdjson::SUCCESS || frame["name"].get(name) != simdjson::SUCCESS)
      return builder_.Count("bad_record", Severity::kLoss, 1, kAbsent, "a node that has no name");
    if (name != "ROOT" || !path_.empty()) path_.push_back(FrameOf(name));
    if (node["metrics"].get(metrics) != simdjson::SUCCESS || path_.empty()) return;
    AddMetrics(metrics, name);
    const double ns = MetricAt(metrics, "time (ns)");
    if (!(ns > 0 && ns < static_cast<double>(kMaxNs))) return;
    const double count = MetricAt(metrics, "count");
    const int64_t launches = count >= 1 && count < 1e15 ? static_cast<int64_t>(count) : 1;
    stacks_.Add(path_, {.ts_ns = order_++, .weight_ns = std::llround(ns), .count = launches});
  }

  // "/srv/app/train.py:41@train" of contexts of Python; else a scope or a kernel.
  static HostFrame FrameOf(std::string_view name) {
    const size_t at = name.rfind('@'), colon = at == name.npos ? at : name.rfind(':', at);
    if (colon == name.npos) return {.function = name};
    int64_t line = 0;
    for (const char c : name.substr(colon + 1, at - colon - 1)) {
      if (c < '0' || c > '9' || line > 100'000'000) return {.function = name};
      line = 10 * line + (c - '0');
    }
    return {.file = name.substr(0, colon), .function = name.substr(at + 1), .line = line};
  }

  void AddMetrics(const dom::element& metrics, std::string_view kernel) {
    dom::object all;
    if (metrics.get(all) != simdjson::SUCCESS) return;
    for (const auto [key, element] : all) {
      double value = 0;
      const bool is_fact = key == "count" || key == "time (ns)" || key.starts_with("device_");
      if (is_fact || element.get(value) != simdjson::SUCCESS || !std::isfinite(value)) continue;
      const std::string_view unit = key.starts_with("flops") ? "flop" : key == "bytes" ? "bytes" : "";
      builder_.AddKernelMetric(
          {.kernel_name = kernel, .launch_index = order_, .metric = key, .value = value, .unit = unit});
    }
  }

  TraceBuilder& builder_;
  HostStacks stacks_;
  std::vector<HostFrame> path_;
  int64_t order_ = 0;
};

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& /*context*/) {
  Document document;
  GAPLESS_TRY(Parse(source, "tree of Proton", kHint, document));
  dom::array roots;
  if (document.root.get(roots) != simdjson::SUCCESS)
    return Fail(ErrorCode::kInput, "the tree of Proton has no root", source.path(), std::string(kHint));
  Walk walk(builder);
  for (const dom::element root : roots) {
    dom::element frame;
    if (root["frame"].get(frame) == simdjson::SUCCESS) walk.Take(root);  // the last element describes the devices
  }
  if (walk.kernels() == 0)
    return Fail(ErrorCode::kInput, "the tree of Proton holds no kernel with a time", source.path(), std::string(kHint));
  walk.Finish();
  CountTimeless(builder);
  builder.info().event_count = walk.kernels();
  builder.AddEnvironment("python.profile", "proton");
  return {};
}

}  // namespace

READER(proton) = {.name = "proton",
                  .help = "Kernels by call path, as Proton, Triton's profiler, summed them up (.hatchet)",
                  .extensions = kExtensions,
                  .sniff = SniffHead,
                  .read = Read,
                  .complete = nullptr};

}  // namespace gapless::internal::proton_reader
