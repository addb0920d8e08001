// SPDX-License-Identifier: Apache-2.0
// Measures what a sample costs and what other storage or another decoder of its files would bring (`gapless tune
// storage`).
//
//   1. The command runs as it is: the step, and its share of waiting for batches.
//   2. It runs once more, and the agent watches some samples (hooks/samples.py): their files, and the time of reading,
//      decoding and the rest.
//   3. A program beside the agent (gapless_agent/storage) stores copies of those very files in other ways and decodes
//      them by other libraries, in rounds of random order. Each way is judged by its pairs with the files where they
//      lie, or with the first decoder, which is the program's own where it is one of those that are known.
//
// The user's files are only read. Copies lie in two temporary folders, which are gone when this returns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trial/run_once.h"
#include "validate/pair_sequence.h"

namespace gapless::internal {

struct StorageOptions {
  PairOptions pairs{};
  size_t most_rounds = 12;
  double budget_s = 600;
  uint64_t seed = 0;
};

// The time of a sample in the dataset, means over the samples that were watched; the three parts add up to it.
struct SampleCost {
  double total_ns = 0, read_ns = 0, decode_ns = 0, rest_ns = 0;
  size_t samples = 0, files = 0;          // that were watched, and different files that they opened
  double file_bytes = 0, opened = 0;      // of a sample: bytes of its files, and their number
  std::optional<double> storage_share{};  // of these bytes came from storage, not from the page cache
  std::string decoder{};                  // library that took most of the time to decode; empty: none was seen
  double ShareOf(double part_ns) const { return total_ns > 0 ? part_ns / total_ns : 0; }
};

// One way to store the files, or to decode them.
struct StorageArm {
  std::string name{};     // "files", "tmpfs", "lmdb", "hdf5", "tar in order", …; of a decoder that of its package
  bool decodes = false;   // it is a decoder
  bool cold = false;      // its files were dropped from the page cache before each pass
  std::string why_not{};  // it was not measured
  double file_ns = 0;     // of a file, median over the rounds; 0: not measured
  size_t rounds = 0;
  std::optional<RatioInterval> speedup{};       // over the files in the page cache, or the first decoder; not of these
  std::optional<RatioInterval> cold_speedup{};  // over the files that come from storage; not of these, nor of decoders
  SpeedVerdict verdict = SpeedVerdict::kCannotTell, cold_verdict = SpeedVerdict::kCannotTell;
  std::optional<double> from_storage_share{};   // of the bytes of a cold pass, the least of all passes
  std::optional<int64_t> largest_difference{};  // of a pixel to the first decoder, of 255
  std::optional<double> sample_saving{};        // share of the time of a sample as it is now; below 0: it takes longer
  std::optional<double> most_step_speedup{};    // by the model of StepGain()
};

struct StorageTuning {
  SampleCost cost{};
  double step_ms = 0;
  std::optional<double> wait_share{};  // of a step; absent: the agent does not know it
  int64_t workers = 0;                 // of the loader with most
  std::vector<StorageArm> arms{};
  size_t rounds = 0, files = 0, images = 0;  // files that were stored, and images that were decoded
  int64_t bytes = 0;
  std::optional<size_t> best_store{}, best_decoder{};  // arm that saves most of a sample, significantly

  // Do the bytes of a sample come from storage rather than from the page cache?
  bool IsCold() const;
};

// The speedup of a step at most, if a sample takes `saving` (a share) less time. Without workers the step waits while
// its samples are loaded, and takes so much less. With workers samples are loaded meanwhile: a step that waits takes as
// long as they take for its batch, and in the end at least what it takes without waiting.
double StepGain(double wait_share, int64_t workers, double saving);

// Reads what the agents of a run noted. An error: no sample was read from files of its own, with the reason.
struct WatchedSamples {
  SampleCost cost{};
  std::vector<std::string> files{};  // in the order of loading, each once
  std::string python{};              // the interpreter that loaded them
};
Result<WatchedSamples> ReadSamples(const std::string& run_folder);

// Judges what the rounds gave: `result` is the document of gapless_agent/storage. Fills the arms and what follows.
Result<void> JudgeStorage(std::string_view result, const StorageOptions& options, StorageTuning& tuning);

// An error: the command fails, takes no steps or reads no files; the measuring program fails; the user ends it.
Result<StorageTuning> TuneStorage(const RunRequest& request, const StorageOptions& options,
                                  const std::function<void(const std::string& doing)>& listener);

}  // namespace gapless::internal
