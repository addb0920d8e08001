// SPDX-License-Identifier: Apache-2.0
#include "serve/served_job.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "collect/files.h"
#include "collect/private_files.h"
#include "serve/reply.h"

namespace gapless::internal {
namespace {

constexpr size_t kMostRecordings = 1000;
constexpr std::string_view kRecordingEnds[] = {".pt.trace.json.gz", ".pt.trace.json"};

// A recording is written under another name, and has its own when it is whole. Links are not followed.
template <class Found>
void FindRecordings(const std::string& folder, Found found) {
  const Descriptor run = OpenFolder(AT_FDCWD, folder);
  if (!run) return;
  for (const std::string& rank : NamesIn(run.get())) {
    if (rank != "main" && !rank.starts_with("rank")) continue;
    const Descriptor below = OpenFolder(run.get(), rank);
    if (!below) continue;
    for (const std::string& name : NamesIn(below.get())) {
      struct stat about {};
      if (!std::ranges::any_of(kRecordingEnds, [&](std::string_view end) { return name.ends_with(end); })) continue;
      if (::fstatat(below.get(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) continue;
      found(rank + "/" + name, int64_t{about.st_mtim.tv_sec} * 1000 + about.st_mtim.tv_nsec / 1'000'000);
    }
  }
}

// A slow step has the first recording that was written after it, before the next slow step.
void LinkEvents(ServedJob& job) {
  for (size_t i = 0; i < job.events.size(); ++i) {
    JobEvent& event = job.events[i];
    if (!event.text.starts_with("slow step")) continue;
    const int64_t until = i + 1 < job.events.size() ? job.events[i + 1].at_unix_ms : INT64_MAX;
    for (const JobRecording& recording : job.recordings) {
      if (recording.at_unix_ms < event.at_unix_ms || recording.at_unix_ms >= until) continue;
      event.run = recording.run;
      break;
    }
  }
}

}  // namespace

Result<std::unique_ptr<ServedMonitor>> ServedMonitor::Start(std::string id, const std::string& folder,
                                                            OpenRecording open) {
  std::unique_ptr<ServedMonitor> monitor(new ServedMonitor(std::move(id), folder, std::move(open)));
  GAPLESS_ASSIGN(monitor->feed_, JobFeed::Start(folder));
  return monitor;
}

std::string ServedMonitor::RunId(size_t at) const { return StrCat("m", id_, "-", at); }

std::vector<JobRecording> ServedMonitor::Recordings() const {
  const std::lock_guard lock(mutex_);
  FindRecordings(folder_, [&](const std::string& name, int64_t at_unix_ms) {
    if (recordings_.size() < kMostRecordings &&
        std::ranges::find(recordings_, name, &Recording::name) == recordings_.end())
      recordings_.push_back({name, at_unix_ms});
  });
  std::vector<JobRecording> all;
  for (size_t i = 0; i < recordings_.size(); ++i)
    all.push_back({.name = recordings_[i].name, .run = RunId(i), .at_unix_ms = recordings_[i].at_unix_ms});
  std::ranges::stable_sort(all, {}, &JobRecording::at_unix_ms);
  return all;
}

Result<std::string> ServedMonitor::JobJson() const {
  ServedJob job = feed_->Snapshot();
  job.id = id_;
  job.recordings = Recordings();
  LinkEvents(job);
  return JsonOf(job);
}

Result<const ServedRun*> ServedMonitor::Open(std::string_view run) {
  const std::string prefix = StrCat("m", id_, "-");
  if (!run.starts_with(prefix)) return nullptr;
  const std::string_view digits = run.substr(prefix.size());
  size_t at = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
  if (code != std::errc() || end != digits.data() + digits.size()) return nullptr;
  (void)Recordings();  // one may be new
  const std::lock_guard lock(mutex_);
  if (at >= recordings_.size()) return nullptr;
  if (const auto found = opened_.find(at); found != opened_.end()) return found->second.get();
  if (opened_.size() >= kMostOpen)
    return Fail(ErrorCode::kInput, StrCat(kMostOpen, " recordings of the job are open, which is all that may be"),
                recordings_[at].name, "gapless serve opens this one alone");
  GAPLESS_ASSIGN(auto analysis, open_(StrCat(folder_, "/", recordings_[at].name)));
  return (opened_[at] = std::make_unique<ServedRun>(RunId(at), std::move(analysis), true)).get();
}

std::vector<const ServedRun*> ServedMonitor::runs() const {
  const std::lock_guard lock(mutex_);
  std::vector<const ServedRun*> all;
  for (const auto& [at, run] : opened_) all.push_back(run.get());
  return all;
}

}  // namespace gapless::internal
