// SPDX-License-Identifier: Apache-2.0
// Reads what `gapless report` is given: recordings, folders of `optimize`, results of `bench` and `tune`, histories.
#pragma once

#include <string>

#include "cli/loading.h"
#include "report/lab/lab.h"

namespace gapless::internal {

// Reads each path into the view, in the order given. The recording that `optimize` made is the baseline where none is
// given before its folder. An error names the first path that is nothing of these.
Result<LabView> ReadLab(const ReadArguments& arguments, const Session& session);

// Adds a result as JSON, of any of the verbs; `name` is how the text refers to it.
Result<void> AddResult(const std::string& path, const std::string& name, LabView& view);
// Adds a recording.
Result<void> AddRecording(const std::string& path, const std::string& name, const ReadArguments& arguments,
                          const Session& session, LabView& view);
// Adds a history: the series of its newest run, with the changes of level.
Result<void> AddHistory(const std::string& url, const Session& session, LabView& view);

}  // namespace gapless::internal
