// SPDX-License-Identifier: Apache-2.0
// Sinks that compress what passes through them. Blocks come and go; nothing grows with the length of the stream.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "convert/sink.h"

namespace gapless::internal {

// Returns `inner` behind the compression that the name of the file asks for: gzip for ".gz", Zstandard for ".zst",
// none otherwise. Compression runs on a thread of its own, beside whoever writes.
std::unique_ptr<Sink> CompressByName(std::string_view file_name, std::unique_ptr<Sink> inner);

// The text as gzip, at once.
std::string Gzipped(std::string_view text);

}  // namespace gapless::internal
