// SPDX-License-Identifier: Apache-2.0
// The last lines: commands that lead on from this report, ready to be pasted.
#include "base/strings.h"
#include "report/renderers/terminal/sections.h"

namespace gapless::internal {
namespace {

// A path as one word of a shell.
std::string Quoted(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  std::string shown = Printable(path);
  if (!shown.empty() && shown.find_first_not_of(kPlain) == std::string::npos) return shown;
  std::string out = "'";
  for (const char c : shown) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// " ORDER BY … DESC" by the column that says how much, when the table has one.
std::string LargestFirst(std::string_view table) {
  for (const Analysis* analysis : AllAnalyses()) {
    if (analysis->name != table) continue;
    for (const ColumnSpec& column : analysis->columns) {
      if (column.name == "dur_ns" || column.name == "total_ns") return StrCat(" ORDER BY ", column.name, " DESC");
    }
  }
  return {};
}

// A table to look at next: what the rule of the first bottleneck looked at beyond the ledger.
std::string TableToSee(const Report& report) {
  if (report.summary.total.wall_ns == 0) return "operators";
  if (report.diagnosis.bottlenecks.empty()) return "kernels";
  for (const Rule* rule : AllRules()) {
    if (rule->id != report.diagnosis.bottlenecks[0].id) continue;
    for (const std::string_view need : rule->needs) {
      if (need != "ledger" && need != "steps") return std::string(need);
    }
  }
  return "idle";
}

}  // namespace

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

std::string NextSection(const Report& report, const Paint& paint) {
  const std::string path = PathToType(report.run);
  std::string out;
  if (report.summary.total.wall_ns == 0) {
    out += "next: record the GPU as well: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])\n";
  } else if (report.summary.steps == 0) {
    out += "next: call prof.step() after every step, so that times are told per step\n";
  }
  const std::string_view lead = out.empty() ? "next: " : "      ";
  const std::string table = TableToSee(report);
  const std::string query =
      StrCat("gapless query ", path, " \"SELECT * FROM ", table, LargestFirst(table), " LIMIT 20\"");
  out += StrCat(lead, paint.In(Tone::kHost, query), "\n");
  if (!paint.verbose()) out += "      the same command with -v shows all evidence and the code to paste\n";
  return out;
}

}  // namespace gapless::internal
