// SPDX-License-Identifier: Apache-2.0
// Knows programs by the categories of their events, the names that they give processes and threads, and keys around
// their events.
#include "ingest/readers/kineto/foreign.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/strings.h"

namespace gapless::internal::kineto {
namespace {

// An Origin is a program, and where its sign stands. A category is the whole of it, or its beginning before a "*".
struct Origin {
  enum class Where : uint8_t { kCategory, kText, kArgument } where;
  std::string_view sign;
  std::string_view program;
};
using Where = Origin::Where;
constexpr std::string_view kTensorFlow = "a TensorFlow timeline", kXla = "a trace of TensorFlow's or JAX's profiler",
                           kRocprof = "a result of rocprof", kChromium = "a trace of Chromium or Node.js",
                           kClang = "a trace of clang's -ftime-trace", kVizTracer = "a trace of VizTracer",
                           kOnnx = "a profile of ONNX Runtime", kBazel = "a profile of Bazel",
                           kPerfetto = "a system trace (ftrace)", kMxnet = "a profile of MXNet",
                           kPySpy = "a recording of py-spy", kRay = "a timeline of Ray";
// The first that is seen counts, so the most telling stand first.
constexpr Origin kOrigins[] = {
    {Where::kText, "/stream:", kTensorFlow},
    {Where::kText, "/job:", kTensorFlow},
    {Where::kCategory, "Op", kTensorFlow},
    {Where::kText, "CPU HIP API", kRocprof},
    {Where::kText, "CPU HSA API", kRocprof},
    {Where::kText, "Markers and Ranges", kRocprof},
    {Where::kArgument, "BeginNs", kRocprof},
    {Where::kText, "/device:", kXla},
    {Where::kText, "/host:CPU", kXla},
    {Where::kText, "CrBrowserMain", kChromium},
    {Where::kText, "CrRendererMain", kChromium},
    {Where::kText, "chrome-bitness", kChromium},
    {Where::kText, "trace-config", kChromium},
    {Where::kCategory, "toplevel", kChromium},
    {Where::kCategory, "devtools.timeline*", kChromium},
    {Where::kCategory, "disabled-by-default*", kChromium},
    {Where::kCategory, "node,*", kChromium},
    {Where::kCategory, "v8*", kChromium},
    {Where::kText, "ExecuteCompiler", kClang},
    {Where::kText, "beginningOfTime", kClang},
    {Where::kText, "viztracer", kVizTracer},
    {Where::kCategory, "FEE", kVizTracer},
    {Where::kCategory, "Session", kOnnx},
    {Where::kText, "output_base", kBazel},
    {Where::kCategory, "action processing", kBazel},
    {Where::kCategory, "sched*", kPerfetto},
    {Where::kText, "MXNET_", kMxnet},
    {Where::kCategory, "py-spy", kPySpy},
    {Where::kCategory, "task::*", kRay},
    {Where::kCategory, "worker_idle", kRay},
};
static_assert(std::size(kOrigins) <= 32, "a bit each");
constexpr size_t kMaxCategories = 64, kShownCategories = 4;

bool Matches(std::string_view category, std::string_view sign) {
  return sign.ends_with('*') ? category.starts_with(sign.substr(0, sign.size() - 1)) : category == sign;
}

uint32_t BitsOf(Where where, std::string_view text) {
  uint32_t bits = 0;
  for (size_t i = 0; i < std::size(kOrigins); ++i) {
    if (kOrigins[i].where != where) continue;
    const std::string_view sign = kOrigins[i].sign;
    const bool is = where == Where::kCategory ? Matches(text, sign) : text.find(sign) != text.npos;
    bits |= is ? uint32_t{1} << i : 0;
  }
  return bits;
}

}  // namespace

void ForeignSigns::SeeEvent(const EventFields& event) {
  if (event.begin_ns != kAbsent) seen_ |= BitsOf(Where::kArgument, "BeginNs");
  const std::string_view category = TokenText(event.cat);
  if (category.empty() || categories_.size() == kMaxCategories || categories_.contains(category)) return;
  categories_.emplace(category);
  seen_ |= BitsOf(Where::kCategory, category);
}

void ForeignSigns::SeeText(std::string_view text) { seen_ |= BitsOf(Where::kText, text); }

void ForeignSigns::Add(const ForeignSigns& other) {
  seen_ |= other.seen_;
  categories_.insert(other.categories_.begin(), other.categories_.end());
}

std::string ForeignSigns::Categories() const {
  std::vector<std::string> shown;
  for (const std::string& category : categories_) {
    if (shown.size() == kShownCategories) break;
    shown.push_back(StrCat('"', Ellipsize(category, 40), '"'));
  }
  return Join(shown, ", ");
}

std::string_view ForeignSigns::Origin() const {
  for (size_t i = 0; i < std::size(kOrigins); ++i)
    if ((seen_ >> i & 1) != 0) return kOrigins[i].program;
  return {};
}

}  // namespace gapless::internal::kineto
