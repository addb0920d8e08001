// SPDX-License-Identifier: Apache-2.0
// A pair is of the same process: its number stands in both, in the recording near its beginning. Where it is not seen
// there, the rank in the names decides, and at last that there is only one. Whether they are of one run the reader sees
// by the operators (readers/kineto/execution_trace.h).
#include "ingest/execution_traces.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "base/strings.h"

namespace gapless::internal {
namespace {

namespace fs = std::filesystem;
constexpr size_t kHeadBytes = size_t{64} * 1024;

bool IsJsonName(std::string_view path) {
  return path.ends_with(".json") || path.ends_with(".json.gz") || path.ends_with(".json.zst");
}

std::string HeadOf(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  const auto source = OpenFile(path);
  if (!source) return {};
  const auto stream = (*source)->Open();
  if (!stream) return {};
  const auto got = (*stream)->Read(head.data(), head.size());
  head.resize(got ? *got : 0);
  return head;
}

bool IsKinetoTrace(std::string_view head) {
  return head.find("\"traceEvents\"") != head.npos || head.find("\"deviceProperties\"") != head.npos;
}

// "et" between other signs, as in "run_et.json" and "pytorch_et_0.json", or a longer word for it.
bool IsNamedAsOne(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (!IsJsonName(name)) return false;
  if (name.find("execution_trace") != name.npos || name.find("chakra") != name.npos) return true;
  const auto is_letter = [&](size_t at) {
    return at < name.size() && std::isalpha(static_cast<unsigned char>(name[at]));
  };
  for (size_t at = 0; (at = name.find("et", at)) != name.npos; at += 2)
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + 2)) return true;
  return false;
}

struct Candidate {
  std::string path, pid;  // pid: its digits; empty: not said
  int64_t rank = kAbsent;
};

// The digits behind "pid".
std::string PidIn(std::string_view head) {
  const size_t at = head.find("\"pid\"");
  const size_t digit = at == head.npos ? at : head.find_first_of("0123456789", at);
  if (digit == head.npos) return {};
  return std::string(head.substr(digit, head.find_first_not_of("0123456789", digit) - digit));
}

bool NamesProcess(std::string_view head, std::string_view pid) {
  for (const std::string& text : {StrCat("\"pid\": ", pid, ","), StrCat("\"pid\":", pid, ",")})
    if (head.find(text) != head.npos) return true;
  return false;
}

// The candidate that is of the recording; null: none, or nobody knows which of several.
const Candidate* Match(const std::vector<const Candidate*>& candidates, std::string_view path, std::string_view head) {
  for (const Candidate* one : candidates)
    if (!one->pid.empty() && NamesProcess(head, one->pid)) return one;
  const int64_t rank = RankInName(path);
  for (const Candidate* one : candidates)
    if (rank != kAbsent && one->rank == rank) return one;
  return candidates.size() == 1 ? candidates.front() : nullptr;
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void Keep(const std::string& path, std::string_view head, std::vector<Candidate>& found) {
  if (IsExecutionTrace(head)) found.push_back({path, PidIn(head.substr(0, 4096)), RankInName(path)});
}

// Execution traces of a folder, by their names.
std::vector<Candidate> InFolder(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ended, error;
  for (fs::directory_iterator at(folder, ended), end; !ended && at != end; at.increment(ended))
    if (IsNamedAsOne(at->path().string()) && at->is_regular_file(error)) paths.push_back(at->path().string());
  std::ranges::sort(paths);
  std::vector<Candidate> found;
  for (const std::string& path : paths) Keep(path, HeadOf(path), found);
  return found;
}

}  // namespace

bool IsExecutionTrace(std::string_view head) {
  const std::string_view start = head.substr(0, 4096);
  const size_t schema = start.find("\"schema\""), nodes = start.find("\"nodes\"");
  return start.starts_with('{') && schema != start.npos && nodes != start.npos && !IsKinetoTrace(start);
}

void PairExecutionTraces(std::vector<InputPath>& inputs) {
  std::vector<Candidate> named;
  std::vector<std::pair<size_t, std::string>> recordings;  // place among the inputs, and its head
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].piped || !IsJsonName(inputs[i].path)) continue;
    std::string head = HeadOf(inputs[i].path);
    Keep(inputs[i].path, head, named);
    if (IsKinetoTrace(head)) recordings.emplace_back(i, std::move(head));
  }
  std::map<std::string, std::vector<Candidate>> beside;  // by folder
  std::vector<std::string> taken;
  for (const auto& [place, head] : recordings) {
    InputPath& input = inputs[place];
    const auto [folder, first] = beside.try_emplace(FolderOf(input.path));
    if (first) folder->second = InFolder(folder->first);
    std::vector<const Candidate*> candidates;
    for (const auto* list : {&named, &folder->second})
      for (const Candidate& one : *list)
        if (std::ranges::none_of(candidates, [&](const Candidate* known) {
              return fs::path(known->path).lexically_normal() == fs::path(one.path).lexically_normal();
            }))
          candidates.push_back(&one);
    if (const Candidate* found = Match(candidates, input.path, head))
      taken.push_back(input.execution_trace = found->path);
  }
  std::erase_if(inputs, [&](const InputPath& input) { return std::ranges::count(taken, input.path) > 0; });
}

}  // namespace gapless::internal
