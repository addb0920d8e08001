// SPDX-License-Identifier: Apache-2.0
// Takes out of a run where it was recorded, and by whom: for a report that leaves the house (--redact).
//
// All texts of the recordings are changed before anything is computed, so that no form of report, no table and no data
// of a page ever sees the original. Rows, numbers, names of operators, kernels and functions, and numbers of lines
// stay.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ingest/load.h"

namespace gapless::internal {

// Replaces paths ("file-3.py", "path-2"), hosts ("host-1"), users ("user-1") and the names of the recordings
// ("recording-1.json.gz"). The same thing has the same name in all runs and texts that one object changes, so that two
// runs can be compared, and each time that the same recordings are read in the same order. Files of public libraries
// keep their names below site-packages, and those of Python's own library; nobody's secret is in them, and a finding
// can be understood.
class Redaction {
 public:
  Redaction();
  ~Redaction();
  Redaction(const Redaction&) = delete;
  Redaction& operator=(const Redaction&) = delete;

  void Apply(LoadedRun& loaded);
  // Texts that are no recording's: commands, sentences of results.
  void Apply(std::span<std::string* const> texts);

 private:
  class Names;
  std::unique_ptr<Names> names_;
  int64_t recordings_ = 0;
};

}  // namespace gapless::internal
