// SPDX-License-Identifier: Apache-2.0
// The last lines: commands that lead on from this report, ready to be pasted.
#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless {
namespace {

// A path as one word of a shell.
std::string Quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  const std::string shown = Printable(path);
  if (!shown.empty() && shown.find_first_not_of(kPlain) == std::string::npos) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What the run was read from, as far as one path can say it: an archive, a folder's file, "PATH" for several.
std::string PathToType(const Run& run) {
  const auto traces = run.traces();
  if (traces.empty()) return "PATH";
  const std::string_view first = traces[0].trace->info.path;
  const size_t member = first.find("!/");
  if (member != std::string_view::npos) return Quoted(first.substr(0, member));
  if (traces.size() == 1) return Quoted(first);
  const size_t slash = first.find_last_of('/');
  return slash == std::string_view::npos ? "PATH" : Quoted(first.substr(0, slash));
}

// The statement that shows the rows behind the first bottleneck, else the kernels.
std::string Statement(const Report& report) {
  for (const Bottleneck& bottleneck : report.diagnosis.bottlenecks) {
    for (const Evidence& evidence : bottleneck.evidence) {
      if (!evidence.table.empty()) return StrCat("SELECT * FROM ", evidence.table, " LIMIT 20");
    }
  }
  return report.summary.total.wall_ns > 0 ? "SELECT * FROM kernels LIMIT 20" : "SELECT * FROM operators LIMIT 20";
}

}  // namespace

std::string NextSection(const Report& report, const Paint& paint) {
  const std::string path = PathToType(report.run);
  std::string out;
  if (report.summary.steps == 0 && report.summary.total.wall_ns > 0) {
    out += "next: call prof.step() after every training step, so that times are told per step\n";
  }
  const std::string_view lead = "next: ";
  out += StrCat(lead, paint.In(Tone::kHost, StrCat("gapless query ", path, " \"", Statement(report), "\"")), "\n");
  if (!paint.verbose()) {
    out += StrCat("      ", paint.In(Tone::kHost, StrCat("gapless analyze -v ", path)), "   for all the evidence\n");
  }
  return out;
}

}  // namespace gapless
