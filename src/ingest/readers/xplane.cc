// SPDX-License-Identifier: Apache-2.0
// xplane.pb: what the profilers of TensorFlow, JAX and PyTorch/XLA write (an XSpace). docs/formats/xplane.md describes
// what is read.
//
// The same profiler can write JSON of it, whose meaning is known (kineto/lanes.h). Here each event becomes one with
// the same fields, so that a recording means the same both ways.
#include <filesystem>

#include "base/strings.h"
#include "ingest/random_access.h"
#include "ingest/reader.h"
#include "ingest/readers/xplane/events.h"
#include "ingest/readers/xplane/space.h"
#include "ingest/refine.h"
#include "ingest/steps.h"

namespace gapless::internal::xplane_reader {
namespace {

constexpr std::string_view kExtensions[] = {".xplane.pb", ".xplane.pb.gz"};
constexpr std::string_view kHint =
    "record it again with jax.profiler.trace(\"logs\") or tf.profiler.experimental.start(\"logs\")";

Sniff SniffHead(std::string_view head) { return xplane::LooksLikeSpace(head) ? Sniff::kYes : Sniff::kNo; }

// The JSON that was made of the same recording has less in it, and is not read beside it.
void SayWhatIsBeside(const std::string& path, TraceBuilder& builder) {
  constexpr std::string_view kEnding = ".xplane.pb";
  std::error_code error;
  if (!path.ends_with(kEnding)) return;
  const std::string json = StrCat(path.substr(0, path.size() - kEnding.size()), ".trace.json.gz");
  builder.Count("same_recording", Severity::kInfo, std::filesystem::exists(json, error) ? 1 : 0, kAbsent,
                "the .trace.json.gz beside it is the same recording, and is not read");
}

Result<void> Read(Source& source, TraceBuilder& builder, const ReadContext& context) {
  GAPLESS_ASSIGN(const std::string bytes, ReadAll(source));
  const xplane::Space space = xplane::ReadSpace(bytes);
  xplane::Events events(space, builder);
  if (!events.Run(context)) return Fail(ErrorCode::kInterrupted, "interrupted", source.path());
  if (events.events() == 0)
    return Fail(ErrorCode::kInput,
                space.damaged ? "the XSpace is damaged: no event could be read" : "the XSpace holds no event",
                source.path(), std::string(kHint));
  builder.info().event_count = events.events();
  builder.info().framework = "xla";
  if (!space.hosts.empty()) builder.info().host = space.hosts.front();
  for (const std::string_view said : space.said)
    builder.Count("profiler_says", Severity::kInfo, 1, kAbsent, StrCat("the profiler says: ", Ellipsize(said, 300)));
  builder.Count("truncated_input", Severity::kError, space.damaged ? 1 : 0, static_cast<int64_t>(bytes.size()),
                "the file ends in the middle or is damaged; what stands before is all there");
  SayWhatIsBeside(source.path(), builder);
  return {};
}

void Complete(Trace& trace) {
  constexpr int64_t kUnixTimeFrom = 1'000'000'000'000'000'000;  // ns: later than 2001
  trace.info.start_unix_ns = trace.info.origin_ns >= kUnixTimeFrom ? trace.info.origin_ns : kAbsent;
  FindSteps(trace);
  RefineGpuOpClasses(trace);
  FillBlocksPerSm(trace);
}

}  // namespace

READER(xplane) = {.name = "xplane",
                  .help = "Recordings of the profilers of JAX, TensorFlow and PyTorch/XLA (XSpace)",
                  .extensions = kExtensions,
                  .sniff = SniffHead,
                  .read = Read,
                  .complete = Complete};

}  // namespace gapless::internal::xplane_reader
