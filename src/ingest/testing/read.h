// SPDX-License-Identifier: Apache-2.0
// Reads a source that must be readable: a test of what cannot be read calls ReadTrace itself.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal::testing {

inline Trace ReadFrom(Source& source) {
  ThreadPool pool(1);
  auto trace = ReadTrace(source, {.pool = pool});
  EXPECT_TRUE(trace) << trace.error().ToString();
  return trace ? std::move(*trace) : Trace();
}

inline Trace ReadText(std::string text) {
  MemorySource source(std::move(text));
  return ReadFrom(source);
}

}  // namespace gapless::internal::testing
