// SPDX-License-Identifier: Apache-2.0
// Judges names of events: kernels, copies, calls of the runtime, Python frames, annotations and collectives.
#include "ingest/readers/kineto/name_traits.h"

#include <string>

#include "ingest/readers/kineto/frames.h"
#include "trace/marks.h"

namespace gapless::internal::kineto {

void NameJudge::Judge(StringId name, Category category, NameTraits& traits) {
  const std::string text(shard_.strings[name]);  // a copy: interning below may move the texts' index, never the texts
  traits.known |= static_cast<uint16_t>(1U << static_cast<unsigned>(category));
  if (category == Category::kRuntime || category == Category::kDriver) traits.api = ClassifyApi(text);
  if (category == Category::kMemcpy) traits.copy = ClassifyCopy(text);
  if (category == Category::kPython) traits.source_line = shard_.Text(UserFunction(text));
  if (category == Category::kKernel) {
    traits.kernel = ClassifyKernel(text);
    if (traits.kernel.op_class == GpuOpClass::kCommunication) traits.collective = shard_.Text(CollectiveKind(text));
  }
  if (category == Category::kOperator || category == Category::kAnnotation) {
    traits.annotation = text.starts_with("ProfilerStep#") || text.starts_with("Optimizer.") || IsDataLoadingMark(text);
    if (text.starts_with("gloo:") || text.starts_with("mpi:") || text.starts_with("ucc:"))
      traits.host_collective = shard_.Text(CollectiveKind(text));
    traits.notes_collective = text == "record_param_comms";
  }
}

}  // namespace gapless::internal::kineto
