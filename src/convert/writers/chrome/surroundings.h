// SPDX-License-Identifier: Apache-2.0
// The text around the events: the document's beginning, and the names of processes and threads.
#pragma once

#include <span>

#include "convert/writer.h"
#include "convert/writers/chrome/events.h"
#include "convert/writers/chrome/layout.h"

namespace gapless::internal::chrome {

// From the opening brace to the bracket that opens the events: devices, ranks and what the recorder said of itself,
// under the keys that readers of Kineto's JSON look for, and where the file comes from. The values of several traces
// are those of the first.
void WriteHead(std::span<const RunTrace* const> traces, const Layout& layout, bool has_all_steps, Events& out);
void WriteTail(Events& out);

// Names and order of the processes and threads of one trace. `of_several`: the file holds other ranks, too.
void WriteNames(const RunTrace& of, const Places& places, bool of_several, Events& out);

// One name or order: `what` is "process_name", "thread_sort_index" …
void WriteName(Events& out, std::string_view what, Place place, std::string_view name);
void WriteOrder(Events& out, std::string_view what, Place place, int64_t order);

}  // namespace gapless::internal::chrome
