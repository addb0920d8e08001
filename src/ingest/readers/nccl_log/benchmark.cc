// SPDX-License-Identifier: Apache-2.0
// Rows of nccl-tests. The head says which columns there are: versions differ (without root, with statistics of
// iterations, with a time at the end, with one placement only).
#include "ingest/readers/nccl_log/benchmark.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "ingest/names.h"
#include "ingest/readers/nccl_log/words.h"

namespace gapless::internal::nccl_log {
namespace {

constexpr double kMaxUs = 1e12;  // eleven days
constexpr int64_t kMaxBytes = int64_t{1} << 50;

bool IsWord(std::string_view text) { return !text.empty() && !NumberOf<double>(text) && text != "N/A"; }

// mpirun --tag-output writes "[1,0]<stdout>:" before each line, srun --label "0: ".
std::string_view WithoutLabel(std::string_view line) {
  line = Trimmed(line);
  if (const size_t at = line.find(">:"); line.starts_with('[') && at != line.npos && at < 40)
    return line.substr(at + 2);
  const size_t colon = line.find(": ");
  return colon != line.npos && colon > 0 && colon < 6 && NumberOf<int64_t>(Trimmed(line.substr(0, colon)))
             ? line.substr(colon + 2)
             : line;
}

// A row whose head was cut off, in the form that most versions have: "8 2 float sum -1 12.9 0.00 0.00 0 12.8 0.00 …"
bool IsPlainRow(const std::vector<std::string_view>& words) {
  if (words.size() != 13 || !NumberOf<int64_t>(words[0]) || !NumberOf<int64_t>(words[1])) return false;
  if (ElementBytes(words[2]) == 0 || !IsWord(words[3]) || !NumberOf<int64_t>(words[4])) return false;
  return std::none_of(words.begin() + 5, words.end(), IsWord);
}

}  // namespace

bool IsBenchmarkHead(std::string_view line) {
  line = Trimmed(WithoutLabel(line));
  return line.starts_with('#') && line.find("algbw") != line.npos && line.find("busbw") != line.npos &&
         line.find("size") != line.npos;
}

void BenchmarkText::Take(std::string_view piece) {
  piece = Trimmed(WithoutLabel(piece));
  if (piece.empty()) return;
  if (piece.starts_with('#')) return EndRow(), TakeNote(Trimmed(piece.substr(1)));
  const std::vector<std::string_view> words = Words(piece);
  TakeCommand(words);
  if (groups_ == 0 && IsPlainRow(words)) test_ = 0, groups_ = 2, group_words_ = 4, has_root_ = true;
  if (groups_ == 0) return;
  const bool begins = words.size() >= 3 && NumberOf<int64_t>(words[0]) && NumberOf<int64_t>(words[1]) &&
                      IsWord(words[2]) && *NumberOf<int64_t>(words[0]) >= 0;
  if (begins)
    EndRow();
  else if (row_.empty() || std::ranges::any_of(words, IsWord))
    return;
  for (const std::string_view word : words) row_.emplace_back(word);
}

// Older versions do not say which test it is: a command before the table may, "mpirun … build/all_reduce_perf -b 8".
void BenchmarkText::TakeCommand(const std::vector<std::string_view>& words) {
  for (std::string_view word : words) {
    word = word.substr(word.find_last_of('/') + 1);
    if (const size_t at = word.find("_perf"); at != word.npos && !CollectiveKind(word.substr(0, at)).empty())
      program_ = std::string(word);
  }
}

void BenchmarkText::TakeNote(std::string_view note) {
  const std::vector<std::string_view> words = Words(note);
  const std::string test = StrCat("comm.test.", std::max<int64_t>(test_, 0), ".");
  if (note.starts_with("Collective test starting:")) {
    program_ = std::string(words.back());
  } else if (note.starts_with("nThread ")) {
    BeginTest();
  } else if (words.size() > 4 && words[0] == "Rank" && words[2] == "Group") {
    TakeRank(words);
  } else if (note.find("-place") != note.npos) {
    placements_said_ = true;
    in_place_only_ = note.find("out-of-place") == note.npos;
  } else if (IsBenchmarkHead(StrCat("# ", note))) {
    TakeHead(words);
  } else if (note.starts_with("Out of bounds values") && words.size() > 5) {
    builder_.AddEnvironment(StrCat(test, "out_of_bounds"),
                            StrCat(words[5], words.size() > 6 ? " " : "", words.size() > 6 ? words[6] : ""));
  } else if (note.starts_with("Avg bus bandwidth") && words.size() > 4) {
    builder_.AddEnvironment(StrCat(test, "average_bus_gbps"),
                            StrCat(words[4], words.size() > 5 ? " " : "", words.size() > 5 ? words[5] : ""));
  }
}

void BenchmarkText::BeginTest() { groups_ = 0, ranks_ = kAbsent, placements_said_ = in_place_only_ = false; }

// "Rank  0 Group  0 Pid  64904 on  mew0 device  0 [0000:17:00] NVIDIA A100 80GB PCIe"
void BenchmarkText::TakeRank(const std::vector<std::string_view>& words) {
  const std::optional<int64_t> rank = NumberOf<int64_t>(words[1]);
  if (rank && *rank >= 0 && *rank < (1 << 24)) ranks_ = std::max(ranks_, *rank + 1);
  const auto closes = std::ranges::find_if(words, [](std::string_view word) { return word.ends_with(']'); });
  if (closes == words.end() || closes + 1 == words.end()) return;
  std::string device;
  for (auto at = closes + 1; at != words.end(); ++at) device += StrCat(device.empty() ? "" : " ", *at);
  builder_.AddEnvironment("comm.device", device);
}

void BenchmarkText::TakeHead(const std::vector<std::string_view>& words) {
  EndRow();
  ++test_;
  const auto is_time = [](std::string_view word) { return word == "time" || word == "cputime"; };
  const auto first = std::ranges::find_if(words, is_time);
  groups_ = static_cast<size_t>(std::ranges::count_if(words, is_time));
  has_root_ = std::ranges::count(words.begin(), first, std::string_view("root")) > 0;
  const auto last = std::ranges::find(words, std::string_view("timestamp"));
  group_words_ = groups_ == 0 ? 0 : static_cast<size_t>(last - first) / groups_;
  if (group_words_ < 3) groups_ = 0;
}

// Takes size, count, type, reduction and root from the row; returns the words they are.
size_t BenchmarkText::AddFront() {
  front_ = {.test = test_, .bytes = *NumberOf<int64_t>(row_[0]), .placement = {}, .dur_ns = 0};
  front_.program = program_, front_.elements = *NumberOf<int64_t>(row_[1]), front_.dtype = row_[2];
  front_.ranks = ranks_;
  size_t at = 3;
  if (at < row_.size() && IsWord(row_[at])) front_.redop = row_[at++];
  if (has_root_ && at < row_.size()) {
    const std::optional<int64_t> root = NumberOf<int64_t>(row_[at++]);
    if (root) front_.root = *root;
  }
  return at;
}

void BenchmarkText::AddGroup(size_t first, std::string_view placement) {
  const auto us = NumberOf<double>(row_[first]), algo = NumberOf<double>(row_[first + 1]),
             bus = NumberOf<double>(row_[first + 2]);
  if (!us || !(*us >= 0) || *us > kMaxUs || front_.bytes > kMaxBytes) return void(++cut_rows_);
  CommBenchmarkRow row = front_;
  const std::string_view kind = CollectiveKind(program_);
  row.kind = kind == "other" ? std::string_view() : kind;
  row.placement = placement, row.dur_ns = std::llround(*us * 1000);
  if (algo && std::isfinite(*algo)) row.algo_gbps = *algo;
  if (bus && std::isfinite(*bus)) row.bus_gbps = *bus;
  if (group_words_ > 3)
    if (const auto wrong = NumberOf<double>(row_[first + 3]); wrong && *wrong >= 0 && *wrong < 1e15)
      row.wrong = std::llround(*wrong);
  builder_.Add(row);
  ++rows_;
}

void BenchmarkText::EndRow() {
  if (row_.empty()) return;
  size_t at = AddFront();
  size_t groups = 0;
  for (; groups < groups_ && at + group_words_ <= row_.size(); ++groups, at += group_words_)
    AddGroup(at, groups == 1 || in_place_only_ ? "in_place" : "out_of_place");
  if (groups < groups_) ++cut_rows_;
  row_.clear();
}

void BenchmarkText::Finish() {
  EndRow();
  builder_.Count("cut_rows", Severity::kLoss, cut_rows_, kAbsent,
                 "rows of results without all of their numbers: what is there was kept");
}

}  // namespace gapless::internal::nccl_log
