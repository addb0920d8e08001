// SPDX-License-Identifier: Apache-2.0
// Recordings that come through a pipe: `zcat trace.json.gz | gapless analyze -`, `gapless analyze <(ssh host cat
// trace.json)`.
//
// Readers begin again after the format was recognised, and some look at the end first, so what comes is copied, as it
// comes, into a file without a name in TMPDIR, or else /var/tmp: it is gone with the program, however that ends. It may
// be as large as that folder has room; nothing of it is held in memory. What is a file already, as in `< trace.json`,
// is read where it is.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/source.h"

namespace gapless::internal {

inline constexpr std::string_view kStandardInput = "standard input";  // how messages and reports call "-"

// Is it "-", or a path of standard input such as /dev/stdin?
bool IsStandardInput(std::string_view path);
// Can it be read only once: standard input, a pipe, a socket, a device?
bool IsReadOnce(const std::string& path);

// Reads all of it, and returns a source of that. An error if it cannot be opened, read or kept, or if it is a terminal;
// kInterrupted soon after the flag was set, even when nothing comes. `progress` is called with the bytes so far.
Result<std::unique_ptr<Source>> Spool(const std::string& path, const std::atomic<bool>* cancel,
                                      const std::function<void(uint64_t)>& progress = {});

}  // namespace gapless::internal
