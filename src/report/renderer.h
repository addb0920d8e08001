// SPDX-License-Identifier: Apache-2.0
// A renderer turns a diagnosed run into one document. It computes nothing: every number comes from the summary, the
// diagnosis or the table of an analysis; a renderer formats, chooses and leaves out.
//
// To add one: write src/report/renderers/<name>.cc and end it with
//   RENDERER(<name>) = {.name = "<name>", .help = "…", .extension = ".…", .render = Render};
// It is then `gapless analyze --format <name>`. All texts of a recording are untrusted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "base/result.h"
#include "diagnose/cost.h"
#include "diagnose/findings.h"
#include "diagnose/rule.h"
#include "gapless/report_options.h"
#include "predict/critical_path.h"
#include "predict/step_picture.h"
#include "predict/sweep.h"
#include "trace/run.h"

namespace gapless::internal {

// All that a renderer gets. References outlive the call; `tables` computes on demand, and is safe from several threads.
struct Report {
  const Run& run;
  Tables& tables;
  const Diagnosis& diagnosis;
  const RunSummary& summary;
  std::span<const Error> failures;  // inputs that could not be read, while others could
  std::optional<RunCost> cost{};    // absent: no rate was given
  // A step as recorded and with the fixes of summary.together; absent: nothing was replayed.
  std::optional<StepPictures> pictures{};
  // Speedup by cheaper kernels, for those that take the most time; empty: nothing was replayed.
  std::vector<SweptPart> sweep{};
  // The command that was recorded, of a run folder that was made here or copied whole; empty: not known.
  std::vector<std::string> command{};
  // The critical path of the main rank; absent: nothing was replayed.
  std::optional<DividedPath> path{};
};

// One format. `render` cannot fail: a report of an empty run is a short report.
struct Renderer {
  std::string_view name;       // equals the file name
  std::string_view help;       // one line of at most 72 characters
  std::string_view extension;  // extension of files of this format: ".html"
  std::string (*render)(const Report& report, const RenderOptions& options);
  std::string_view file = {};  // written when nothing says where to and the terminal is no place for it; "": it is
};

#define RENDERER(n)                   \
  extern const Renderer n##_renderer; \
  constinit const Renderer n##_renderer

std::span<const Renderer* const> AllRenderers();  // sorted by name; generated from the folder
// Returns the renderer called `name`; null if no renderer has that name.
const Renderer* FindRenderer(std::string_view name);
// Returns the renderer whose extension `path` ends in; null for other extensions.
const Renderer* RendererFor(std::string_view path);

}  // namespace gapless::internal
