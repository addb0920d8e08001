// SPDX-License-Identifier: Apache-2.0
// The answer of `gapless tune storage`, as text and JSON: the parts of a sample, the ways to store and to decode its
// files, and in words which of them helps.
#include "report/tune/storage.h"

#include <algorithm>
#include <cmath>

#include "base/described_json.h"
#include "base/strings.h"
#include "optimize/recipe_use.h"
#include "proof/described.h"
#include "report/optimize/report.h"
#include "report/text_table.h"

namespace gapless::internal {

namespace documents {

struct SampleParts {
  double total_us = 0, read_us = 0, decode_us = 0, rest_us = 0, file_bytes = 0, files = 0;
  size_t watched = 0;
  std::optional<double> from_storage_share{};
  std::string decoder{};
  static constexpr FieldInfo kFields[] = {
      Field<&SampleParts::total_us>("total_us", "us", "in the dataset, mean of the samples that were watched"),
      Field<&SampleParts::read_us>("read_us", "us", "of it to read its files"),
      Field<&SampleParts::decode_us>("decode_us", "us", "of it in functions that are known to decode, without reading"),
      Field<&SampleParts::rest_us>("rest_us", "us", "the rest: augmentation and all else"),
      Field<&SampleParts::file_bytes>("file_bytes", "bytes", "of the files of a sample"),
      Field<&SampleParts::files>("files", "count", "files of a sample, mean"),
      Field<&SampleParts::watched>("watched", "count", "samples that were watched"),
      Field<&SampleParts::from_storage_share>("from_storage_share", "share",
                                              "of the bytes came from storage and not from the page cache"),
      Field<&SampleParts::decoder>("decoder", "", "library that decoded longest", kUnlessEmpty),
  };
};

struct StorageWay {
  std::string name{}, kind{};
  bool cold = false;
  std::string reason{};
  std::optional<double> files_per_second{}, samples_per_second{};
  std::optional<RatioInterval> speedup{}, speedup_over_cold{};
  std::optional<SpeedVerdict> verdict{}, verdict_over_cold{};
  std::optional<double> from_storage_share{};
  std::optional<int64_t> largest_pixel_difference{};
  std::optional<double> sample_saving_share{}, most_step_speedup{};
  std::optional<size_t> rounds{};
  static constexpr FieldInfo kFields[] = {
      Field<&StorageWay::name>("name", "", "files: where they lie; else the storage, or the package that decodes"),
      Field<&StorageWay::kind>("kind", "", "read or decode"),
      Field<&StorageWay::cold>("cold", "", "the files were dropped from the page cache before each pass"),
      Field<&StorageWay::reason>("reason", "", "why it was not measured", kUnlessEmpty),
      Field<&StorageWay::files_per_second>("files_per_second", "1/s", "files read or decoded by one thread"),
      Field<&StorageWay::samples_per_second>("samples_per_second", "1/s", "samples read by one thread"),
      Field<&StorageWay::speedup>("speedup", "", "over the files in the page cache, or over the first decoder"),
      Field<&StorageWay::verdict>("verdict", "", "of this comparison"),
      Field<&StorageWay::speedup_over_cold>("speedup_over_cold", "", "over the files as they come from storage"),
      Field<&StorageWay::verdict_over_cold>("verdict_over_cold", "", "of this comparison"),
      Field<&StorageWay::from_storage_share>("from_storage_share", "share",
                                             "of the bytes of a cold pass came from storage"),
      Field<&StorageWay::largest_pixel_difference>("largest_pixel_difference", "count", "to the first decoder, of 255"),
      Field<&StorageWay::sample_saving_share>("sample_saving_share", "share",
                                              "of the time of a sample as it is loaded now; below 0: it takes longer"),
      Field<&StorageWay::most_step_speedup>("most_step_speedup", "ratio", "of a step, upper bound of a model"),
      Field<&StorageWay::rounds>("rounds", "count", "in which it was measured"),
  };
};

struct StorageResult {
  SampleParts sample{};
  std::vector<StorageWay> ways{};
  double step_time_ms = 0;
  std::optional<double> wait_share{};
  int64_t workers = 0;
  size_t files = 0, images = 0, rounds = 0;
  int64_t bytes = 0;
  std::string best_storage{}, best_decoder{}, conclusion{};
  static constexpr FieldInfo kFields[] = {
      Field<&StorageResult::sample>("sample", "", "what a sample costs now"),
      Field<&StorageResult::ways>("ways", "", "to store the files, then to decode them"),
      Field<&StorageResult::step_time_ms>("step_time_ms", "ms", "duration of a step"),
      Field<&StorageResult::wait_share>("wait_share", "share", "of a step, for batches"),
      Field<&StorageResult::workers>("workers", "count", "worker processes of the loader"),
      Field<&StorageResult::files>("files", "count", "of the samples, that were stored in other ways"),
      Field<&StorageResult::bytes>("bytes", "bytes", "of these files"),
      Field<&StorageResult::images>("images", "count", "of these files that were decoded"),
      Field<&StorageResult::rounds>("rounds", "count", "in which all ways were measured"),
      Field<&StorageResult::best_storage>("best_storage", "", "saves most; missing: none significantly", kUnlessEmpty),
      Field<&StorageResult::best_decoder>("best_decoder", "", "saves most; missing: none significantly", kUnlessEmpty),
      Field<&StorageResult::conclusion>("conclusion", "", "in words"),
  };
};

}  // namespace documents

constinit const TypeInfo kStorageDocument = describe::MakeType<documents::StorageResult>();

namespace {

constexpr double kLittle = 0.02;  // of a sample, or of a step: not worth another storage

// "lmdb", "files, cold"
std::string WayName(const StorageArm& arm) { return StrCat(arm.name, arm.cold ? ", cold" : ""); }

std::string MicrosText(double ns) { return StrCat(FormatNumber(ns / 1e3, ns < 1e5 ? 1 : 0), " µs"); }

std::string PartLine(std::string_view name, double ns, const SampleCost& cost, std::string_view what) {
  return StrCat("  ", Padded(name, 7, false), Padded(MicrosText(ns), 12, true), "  ",
                Padded(FormatPercent(cost.ShareOf(ns)), 7, true), what.empty() ? "" : "  ", what, "\n");
}

std::string PartsTable(const SampleCost& cost) {
  const std::string files = StrCat(FormatBytes(static_cast<int64_t>(cost.file_bytes)), " a sample");
  const std::string storage =
      cost.storage_share ? StrCat(", ", FormatPercent(*cost.storage_share), " of it from storage in this run") : "";
  return StrCat("a sample now\n", PartLine("read", cost.read_ns, cost, StrCat(files, storage)),
                PartLine("decode", cost.decode_ns, cost, cost.decoder),
                PartLine("rest", cost.rest_ns, cost, "augmentation and all else of the dataset"),
                PartLine("sample", cost.total_ns, cost, ""));
}

std::string RatioCell(const std::optional<RatioInterval>& speedup) { return speedup ? SpeedupText(*speedup) : ""; }

std::string SavingCell(const StorageArm& arm) {
  return arm.sample_saving ? StrCat(FormatNumber(*arm.sample_saving * 100, 1), " %") : "";
}

std::string StepCell(const StorageArm& arm) {
  return arm.most_step_speedup ? StrCat("≤ ", FormatNumber(*arm.most_step_speedup, 2), "×") : "";
}

std::string StoreTable(const StorageTuning& tuning) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < tuning.arms.size(); ++i) {
    const StorageArm& arm = tuning.arms[i];
    if (arm.decodes || !arm.why_not.empty()) continue;
    rows.push_back({StrCat(tuning.best_store == i ? "▸ " : "  ", WayName(arm)),
                    FormatNumber(1e9 / (arm.file_ns * std::max(1.0, tuning.cost.opened)), 0), RatioCell(arm.speedup),
                    RatioCell(arm.cold_speedup), SavingCell(arm), StepCell(arm)});
  }
  return Aligned({"  reading", "samples/s", "over page cache", "over storage", "saves", "step"}, rows, "");
}

std::string DecoderTable(const StorageTuning& tuning) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < tuning.arms.size(); ++i) {
    const StorageArm& arm = tuning.arms[i];
    if (!arm.decodes || !arm.why_not.empty()) continue;
    rows.push_back({StrCat(tuning.best_decoder == i ? "▸ " : "  ", arm.name), FormatNumber(1e9 / arm.file_ns, 0),
                    RatioCell(arm.speedup), arm.largest_difference ? StrCat(*arm.largest_difference, " of 255") : "",
                    SavingCell(arm), StepCell(arm)});
  }
  if (rows.empty()) return "";
  return StrCat("\n",
                Aligned({"  decoding", "images/s", "over the first", "largest difference", "saves", "step"}, rows, ""));
}

std::string NotMeasured(const StorageTuning& tuning, int width) {
  std::string text;
  for (const StorageArm& arm : tuning.arms)
    if (!arm.why_not.empty())
      text += StrCat("  ", Padded(WayName(arm), 16, false), "  ", Wrapped(arm.why_not, 20, width), "\n");
  return text.empty() ? "" : StrCat("\nnot measured\n", text);
}

std::string AboutReading(const StorageTuning& tuning) {
  const double share = tuning.cost.ShareOf(tuning.cost.read_ns);
  const std::string reading = StrCat("reading is ", FormatPercent(share), " of a sample");
  if (share < kLittle) return StrCat(reading, ": no other storage saves more than that");
  if (!tuning.best_store) return StrCat(reading, ", and no other storage is significantly faster");
  const StorageArm& best = tuning.arms[*tuning.best_store];
  return StrCat(reading, ": ", best.name, " reads ", SpeedupText(tuning.IsCold() ? *best.cold_speedup : *best.speedup),
                " as fast and saves ", FormatPercent(*best.sample_saving), " of a sample");
}

std::string AboutDecoding(const StorageTuning& tuning) {
  const double share = tuning.cost.ShareOf(tuning.cost.decode_ns);
  if (tuning.cost.decoder.empty()) return "no call of a decoder that is known was seen";
  const std::string decoding = StrCat("decoding (", tuning.cost.decoder, ") is ", FormatPercent(share), " of a sample");
  if (share < kLittle) return StrCat(decoding, ": no other decoder saves more than that");
  if (!tuning.best_decoder)
    return StrCat(decoding, tuning.images > 0 ? ", and no other decoder that can be imported is significantly faster"
                                              : ", and no other decoder of such files is known");
  const StorageArm& best = tuning.arms[*tuning.best_decoder];
  return StrCat(decoding, ": ", best.name, " decodes ", SpeedupText(*best.speedup), " as fast and saves ",
                FormatPercent(*best.sample_saving), " of a sample; pixels differ by ",
                best.largest_difference.value_or(0), " of 255 at most");
}

// "steps wait 40 % of their time for batches: both together …"
std::string AboutSteps(const StorageTuning& tuning) {
  if (!tuning.wait_share) return "how long steps wait for batches is not known";
  const std::string waits = StrCat("steps wait ", FormatPercent(*tuning.wait_share), " of their time for batches");
  if (*tuning.wait_share < kLittle) return StrCat(waits, ": neither storage nor decoder makes them faster");
  double saving = 0;
  for (const auto& best : {tuning.best_store, tuning.best_decoder})
    if (best) saving += tuning.arms[*best].sample_saving.value_or(0);
  if (saving < kLittle) return StrCat(waits, ", and nothing that was measured shortens that");
  return StrCat(waits, ": with what is marked they are at most ",
                FormatNumber(StepGain(*tuning.wait_share, tuning.workers, saving), 2), "× as fast");
}

std::string StorageConclusion(const StorageTuning& tuning) {
  return StrCat(AboutReading(tuning), "\n", AboutDecoding(tuning), "\nthe rest is ",
                FormatPercent(tuning.cost.ShareOf(tuning.cost.rest_ns)), " of a sample\n", AboutSteps(tuning), "\n");
}

// The conclusion for a terminal: what goes on in the next line is indented.
std::string WrappedConclusion(const StorageTuning& tuning, int width) {
  const std::string conclusion = StorageConclusion(tuning);
  std::string text;
  for (const std::string_view line : Split(conclusion, '\n'))
    if (!line.empty()) text += StrCat(Wrapped(line, 2, width), "\n");
  return text;
}

documents::StorageWay WayIn(const StorageTuning& tuning, const StorageArm& arm) {
  documents::StorageWay way{.name = arm.name,
                            .kind = arm.decodes ? "decode" : "read",
                            .cold = arm.cold,
                            .reason = arm.why_not,
                            .speedup = arm.speedup,
                            .speedup_over_cold = arm.cold_speedup,
                            .from_storage_share = arm.from_storage_share,
                            .largest_pixel_difference = arm.largest_difference,
                            .sample_saving_share = arm.sample_saving,
                            .most_step_speedup = arm.most_step_speedup};
  if (arm.speedup) way.verdict = arm.verdict;
  if (arm.cold_speedup) way.verdict_over_cold = arm.cold_verdict;
  if (!arm.why_not.empty()) return way;
  way.files_per_second = 1e9 / arm.file_ns;
  if (!arm.decodes) way.samples_per_second = 1e9 / (arm.file_ns * std::max(1.0, tuning.cost.opened));
  way.rounds = arm.rounds;
  return way;
}

}  // namespace

std::string StorageText(const StorageTuning& tuning, const std::vector<std::string>& command, int width) {
  const std::string workers = FormatCounted(tuning.workers, "worker");
  return StrCat(ShellCommand(command), " · step ", FormatNumber(tuning.step_ms, 2), " ms · ", workers, " · ",
                FormatCounted(static_cast<int64_t>(tuning.cost.samples), "sample"), " watched\n\n",
                PartsTable(tuning.cost), "\n", StoreTable(tuning), DecoderTable(tuning), "\n",
                WrappedConclusion(tuning, width), FormatCounted(static_cast<int64_t>(tuning.files), "file"), ", ",
                FormatBytes(tuning.bytes), ", in ", FormatCounted(static_cast<int64_t>(tuning.rounds), "round"),
                "; copies are gone, and the files are unchanged\n", NotMeasured(tuning, width));
}

std::string StorageJson(const StorageTuning& tuning) {
  const SampleCost& cost = tuning.cost;
  documents::StorageResult document{.sample = {.total_us = cost.total_ns / 1e3,
                                               .read_us = cost.read_ns / 1e3,
                                               .decode_us = cost.decode_ns / 1e3,
                                               .rest_us = cost.rest_ns / 1e3,
                                               .file_bytes = cost.file_bytes,
                                               .files = cost.opened,
                                               .watched = cost.samples,
                                               .from_storage_share = cost.storage_share,
                                               .decoder = cost.decoder},
                                    .step_time_ms = tuning.step_ms,
                                    .wait_share = tuning.wait_share,
                                    .workers = tuning.workers,
                                    .files = tuning.files,
                                    .images = tuning.images,
                                    .rounds = tuning.rounds,
                                    .bytes = tuning.bytes,
                                    .conclusion = StorageConclusion(tuning)};
  for (const StorageArm& arm : tuning.arms) document.ways.push_back(WayIn(tuning, arm));
  if (tuning.best_store) document.best_storage = tuning.arms[*tuning.best_store].name;
  if (tuning.best_decoder) document.best_decoder = tuning.arms[*tuning.best_decoder].name;
  return DocumentOf("tune", document);
}

}  // namespace gapless::internal
