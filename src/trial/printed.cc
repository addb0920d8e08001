// SPDX-License-Identifier: Apache-2.0
// Reads the end of a program's output as lines: a carriage return ends a line, long lines keep both ends. Numbers
// are found by a pattern's first group.
//
// Progress bars write thousands of states into one "line" separated by carriage returns; each of them is a line
// here, so that the patterns find them. Memory is bounded by the bytes that are read, and for one line by twice
// kLongestLine.
#include "trial/printed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "collect/files.h"

namespace gapless::internal {
namespace {

constexpr size_t kPrintedTail = 4000, kChunk = size_t{1} << 16;
constexpr std::string_view kSeam = " … ";

// A Lines object takes output in chunks of any size, and joins lines across them.
class Lines {
 public:
  void Take(std::string_view chunk) {
    while (!chunk.empty()) {
      const size_t end = chunk.find_first_of("\r\n");
      Append(chunk.substr(0, end));
      if (end == chunk.npos) return;
      End();
      chunk.remove_prefix(end + 1);
    }
  }

  Printed Finish() {
    if (!line_.empty()) End();
    return std::move(printed_);
  }

  void KeepTail(std::string_view chunk) {
    printed_.tail += chunk.substr(chunk.size() - std::min(chunk.size(), kPrintedTail));
    printed_.tail.erase(0, printed_.tail.size() - std::min(printed_.tail.size(), kPrintedTail));
  }

 private:
  // Beyond the longest line the middle goes, now and then.
  void Append(std::string_view part) {
    line_ += part;
    if (line_.size() <= 2 * kLongestLine) return;
    cut_ = true;
    line_.erase(kLongestLine / 2, line_.size() - kLongestLine);
  }

  void End() {
    if (cut_ || line_.size() > kLongestLine) {
      ++printed_.cut_lines;
      printed_.text.append(line_, 0, kLongestLine / 2).append(kSeam);
      line_.erase(0, line_.size() - kLongestLine / 2);
    }
    printed_.text.append(line_).push_back('\n');
    line_.clear();
    cut_ = false;
  }

  Printed printed_;
  std::string line_{};
  bool cut_ = false;
};

}  // namespace

Printed ReadPrinted(const std::string& path, size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) return {};
  const size_t size = static_cast<size_t>(std::max<off_t>(0, facts.st_size));
  if (size > most) ::lseek(file.get(), static_cast<off_t>(size - most), SEEK_SET);
  Lines lines;
  std::string chunk(kChunk, 0);
  for (ssize_t got = 0; (got = ::read(file.get(), chunk.data(), chunk.size())) > 0;) {
    const std::string_view part(chunk.data(), static_cast<size_t>(got));
    lines.Take(part);
    lines.KeepTail(part);
  }
  return lines.Finish();
}

Printed PrintedFrom(std::string_view output) {
  Lines lines;
  lines.Take(output);
  lines.KeepTail(output);
  return lines.Finish();
}

std::vector<double> NumbersIn(const Printed& printed, const Pattern& pattern) {
  std::vector<double> values;
  pattern.ForEach(printed.text, [&](std::string_view match) {
    const std::string word(match.substr(0, kLongestLine));
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    if (end != word.c_str() && std::isfinite(value)) values.push_back(value);
  });
  return values;
}

}  // namespace gapless::internal
