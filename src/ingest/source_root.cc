// SPDX-License-Identifier: Apache-2.0
// Recordings hold no text of the sources, but names and lines: of calls, and of the functions of Python that ran. So a
// file is compared with these, and with the time: it cannot be the recorded one if it ends before a recorded line, or
// if a function is nowhere at or above its line. A file that was modified after the recording is called changed, too,
// unless every recorded function begins in the line where it began: a checkout is often younger than a recording.
#include "ingest/source_root.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/portable.h"
#include "base/strings.h"
#include "ingest/path_texts.h"
#include "trace/own_code.h"
#include "trace/reading_note.h"

namespace gapless::internal {
namespace {

constexpr std::string_view kSourceEndings[] = {".py", ".pyx", ".ipynb", ".cu", ".cuh", ".cpp", ".cc", ".hpp"};
constexpr size_t kMostNamed = 5;           // files in a note
constexpr size_t kLinesOfDecorators = 12;  // between the line that a function has in a recording and its "def"
constexpr int64_t kSecond = 1'000'000'000;

// The facts that the recordings have of one file that was found.
struct Recorded {
  int64_t last_line = 0, end_unix_ns = kAbsent;
  std::set<std::pair<int64_t, std::string>> functions{};  // line and name
};

class Checkout {
 public:
  explicit Checkout(const std::string& folder) : folder_(folder) {}

  // Returns the path below the folder; "" if there is no such file.
  const std::string& Find(std::string_view recorded) {
    auto [at, is_new] = found_.try_emplace(std::string(recorded));
    if (is_new) at->second = Search(WithSlashes(recorded));
    return at->second;
  }
  Recorded& About(const std::string& below) { return about_[below]; }
  const std::map<std::string, Recorded>& files() const { return about_; }
  std::filesystem::path PathOf(const std::string& below) const { return folder_ / below; }

 private:
  std::string Search(const std::string& path) const {
    const auto ends = [&path](std::string_view ending) { return path.ends_with(ending); };
    if (path.starts_with('<') || IsInstalled(path) || IsOfGapless(path) || std::ranges::none_of(kSourceEndings, ends))
      return {};
    std::string_view rest = path;
    while (!rest.empty()) {
      std::error_code unknown;
      const bool is_plain = rest.front() != '/' && !rest.starts_with("../") && rest.find("/../") == rest.npos;
      if (is_plain && std::filesystem::is_regular_file(folder_ / rest, unknown)) return std::string(rest);
      const size_t slash = rest.find('/');
      if (slash == rest.npos) break;
      rest.remove_prefix(slash + 1);
    }
    return {};
  }

  const std::filesystem::path folder_;
  std::map<std::string, std::string, std::less<>> found_;
  std::map<std::string, Recorded> about_;
};

// When the recording had ended; if it does not say, when its file was written.
int64_t EndOf(const TraceInfo& info) {
  if (info.start_unix_ns != kAbsent) return info.start_unix_ns + info.dur_ns;
  struct stat status {};
  if (info.piped || stat(info.path.substr(0, info.path.find("!/")).c_str(), &status) != 0) return kAbsent;
  return (int64_t{ModifiedAt(status).tv_sec} + 1) * kSecond;
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Notes the lines of a file in a text, and the function, if the text is the frame of one.
void Note(std::string_view text, const TraceInfo& info, Checkout& checkout) {
  const auto paths = PathsIn(text);
  for (const PathInText& path : paths) {
    const std::string& below = checkout.Find(text.substr(path.begin, path.end - path.begin));
    if (below.empty()) continue;
    Recorded& about = checkout.About(below);
    about.last_line = std::max(about.last_line, path.line);
    about.end_unix_ns = std::max(about.end_unix_ns, EndOf(info));
    const size_t name = text.find("): ", path.end);
    if (info.format != "kineto" || paths.size() != 1 || name == text.npos || text.find(';') != text.npos) continue;
    if (IsIdentifier(text.substr(name + 3))) about.functions.emplace(path.line, text.substr(name + 3));
  }
}

std::vector<std::string> LinesOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

bool Begins(const std::string& line, const std::string& function) {
  const size_t at = line.find(StrCat("def ", function));
  return at != line.npos && !IsIdentifier(line.substr(at + 4 + function.size(), 1));
}

// Returns the line in which the function begins for Python whose "def" is in line `at`: that of its first decorator.
int64_t FirstLine(const std::vector<std::string>& lines, int64_t at) {
  const auto is_decorator = [&lines](int64_t line) {
    const std::string& text = lines[static_cast<size_t>(line - 1)];
    const size_t begin = text.find_first_not_of(" \t");
    return begin != text.npos && text[begin] == '@';
  };
  while (at > 1 && is_decorator(at - 1)) --at;
  return at;
}

// Returns why the file cannot be the recorded one, or may not be; "" where nothing speaks against it.
std::string WhyStale(const Recorded& about, const std::filesystem::path& path) {
  const auto lines = LinesOf(path);
  const auto count = static_cast<int64_t>(lines.size());
  if (about.last_line > count && !path.string().ends_with(".ipynb"))
    return StrCat("has ", count, count == 1 ? " line" : " lines", ", and line ", about.last_line, " was recorded");
  bool all_begin = !about.functions.empty();
  for (const auto& [line, function] : about.functions) {
    std::optional<int64_t> nearest;
    for (int64_t at = 1; at <= std::min<int64_t>(count, line + kLinesOfDecorators); ++at)
      if (Begins(lines[static_cast<size_t>(at - 1)], function)) nearest = at;
    if (!nearest) return StrCat("has no function ", function, " at line ", line);
    all_begin = all_begin && FirstLine(lines, *nearest) == line;
  }
  struct stat status {};
  const bool is_known = about.end_unix_ns != kAbsent && stat(path.c_str(), &status) == 0;
  return is_known && !all_begin && int64_t{ModifiedAt(status).tv_sec} * kSecond > about.end_unix_ns
             ? "was modified after the recording"
             : "";
}

void SayWhatIsStale(const Checkout& checkout, Trace& trace) {
  std::vector<std::string> stale;
  for (const auto& [below, about] : checkout.files())
    if (const std::string why = WhyStale(about, checkout.PathOf(below)); !why.empty())
      stale.push_back(StrCat(below, " ", why));
  if (stale.empty()) return;
  const size_t count = stale.size();
  if (count > kMostNamed) stale.resize(kMostNamed);
  AddReadingNote(trace, "stale_sources", Severity::kLoss, 1,
                 StrCat("sources changed since the recording, so that lines may have moved: ", Join(stale, "; "),
                        count > kMostNamed ? StrCat("; and ", count - kMostNamed, " more") : ""));
}

}  // namespace

Result<size_t> MapSources(LoadedRun& loaded, const std::string& folder) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(folder, unknown))
    return Fail(ErrorCode::kUsage, "there is no such folder", folder, "--source-root names a folder with sources");
  Checkout checkout(folder);
  for (const RunTrace& each : loaded.run.traces())
    for (size_t id = 1; id < each.trace->strings.size(); ++id)
      Note(each.trace->strings[static_cast<StringId>(id)], each.trace->info, checkout);
  for (const RunTrace& each : loaded.run.traces()) {
    // The run was read a moment ago, and nothing has looked at its texts.
    ChangeTexts(const_cast<Trace&>(*each.trace), [&checkout](std::string_view text) {
      std::string out;
      size_t done = 0;
      for (const PathInText& path : PathsIn(text)) {
        const std::string& below = checkout.Find(text.substr(path.begin, path.end - path.begin));
        if (below.empty()) continue;
        out.append(text.substr(done, path.begin - done)).append(below);
        done = path.end;
      }
      return out.append(text.substr(done));
    });
  }
  if (!loaded.run.traces().empty()) SayWhatIsStale(checkout, const_cast<Trace&>(*loaded.run.traces().front().trace));
  return checkout.files().size();
}

}  // namespace gapless::internal
