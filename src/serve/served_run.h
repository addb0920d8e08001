// SPDX-License-Identifier: Apache-2.0
// A run that is served: its analysis, its timeline, and the data of its page, each made when it is first asked for.
#pragma once

#include <memory>
#include <string>

#include "base/once_flag.h"
#include "flows/analysis.h"
#include "lanes/run_lanes.h"
#include "serve/documents.h"

namespace gapless::internal {

class ServedRun {
 public:
  // `several`: other runs are served beside it. `options`: what a report has beyond the recording, as prices.
  ServedRun(std::string id, std::unique_ptr<RunAnalysis> analysis, bool several = false, AnalyzeOptions options = {})
      : id_(std::move(id)),
        analysis_(std::move(analysis)),
        lanes_(analysis_->tables()),
        several_(several),
        options_(std::move(options)) {}

  const std::string& id() const { return id_; }
  const RunAnalysis& analysis() const { return *analysis_; }
  const RunLanes& lanes() const { return lanes_; }
  ServedRunInfo Info() const;
  // Returns what a report inlines, without a timeline: the page asks for that.
  const std::string& PageJson() const;

 private:
  std::string id_;
  std::unique_ptr<RunAnalysis> analysis_;
  RunLanes lanes_;
  bool several_;
  AnalyzeOptions options_;
  mutable OnceFlag made_;
  mutable std::string page_;
};

}  // namespace gapless::internal
