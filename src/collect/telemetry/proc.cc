// SPDX-License-Identifier: Apache-2.0
// Reads small files of /proc and /sys, and parses their words and numbers. Views of words and lines point into the
// text that was given; the caller keeps it.
#include "collect/telemetry/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace gapless::internal {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view Trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

template <class T>
std::optional<T> ToNumber(std::string_view text) {
  text = Trimmed(text);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class F>
void ForEachName(const std::string& folder, F&& visit) {
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return;
  while (const dirent* entry = readdir(open)) visit(std::string_view(entry->d_name));
  closedir(open);
}

}  // namespace

std::optional<std::string> ReadSmallFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string content;
  char buffer[8192];
  ssize_t got = 0;
  while (content.size() < kMaxBytes && (got = read(file, buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<size_t>(got));
  close(file);
  if (got < 0) return std::nullopt;
  return content;
}

std::string ReadLineOf(const std::string& path) {
  const auto content = ReadSmallFile(path);
  return content ? std::string(Trimmed(*content)) : std::string();
}

std::optional<int64_t> ToInt(std::string_view text) { return ToNumber<int64_t>(text); }
std::optional<double> ToReal(std::string_view text) { return ToNumber<double>(text); }

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  for (const std::string_view line : Lines(text)) {
    if (!line.starts_with(key)) continue;
    std::string_view rest = line.substr(key.size());
    if (rest.empty() || (rest[0] != ':' && kBlanks.find(rest[0]) == std::string_view::npos)) continue;
    if (rest[0] == ':') rest.remove_prefix(1);
    const auto words = Words(rest);
    return words.empty() ? std::nullopt : ToInt(words[0]);
  }
  return std::nullopt;
}

std::vector<int64_t> NumbersIn(const std::string& folder) {
  std::vector<int64_t> numbers;
  ForEachName(folder, [&](std::string_view name) {
    if (const auto number = ToInt(name)) numbers.push_back(*number);
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gapless::internal
