// SPDX-License-Identifier: Apache-2.0
// The contract of all readers, over the whole table of readers: each is given every prefix of its sample at 4 KiB steps
// and a thousand mutations of it, and must answer with a trace or an error that says what to do; never crash, never
// hang.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "ingest/load.h"
#include "ingest/memory_source.h"
#include "ingest/reader.h"

namespace gapless::internal {
namespace {

// A sample of each format.
const std::map<std::string_view, std::string> kSamples = {{"agent", "samples/agent.events"},
                                                          {"cupti", "samples/stand_in.gcs"},
                                                          {"host_profile", "tests/data/python.host.json"},
                                                          {"kineto", "samples/resnet50_v100.pt.trace.json.gz"},
                                                          {"telemetry", "tests/data/telemetry.gts"},
                                                          {"nsys", "tests/data/nsys_two_processes.sqlite"},
                                                          {"nsys_json", "tests/data/nsys_stats/report.jsonl"},
                                                          {"nsys_stats", "tests/data/nsys_stats/printed.log"},
                                                          {"nsys_rep", "tests/data/nsys_two_processes.nsys-rep"},
                                                          {"gpu_samples", "tests/data/nvidia-smi.csv"},
                                                          {"ncu_csv", "tests/data/kernels.ncu.csv"},
                                                          {"ncu_rep", "tests/data/kernels.ncu-rep"},
                                                          {"summary", "tests/data/summary.gapsum"},
                                                          {"torch_memory", "tests/data/memory_snapshot.pickle"},
                                                          {"flight_recorder", "tests/data/nccl_trace_rank_0"},
                                                          {"nccl_log", "tests/data/nccl_tests.log"},
                                                          {"nccl_inspector", "tests/data/nccl_inspector.jsonl"},
                                                          {"op_table", "tests/data/summary.key_averages.txt"},
                                                          {"rocpd", "tests/data/rocm/run.db"},
                                                          {"rocprof_csv", "tests/data/rocm/run_kernel_trace.csv"},
                                                          {"rocprof_json", "tests/data/rocm/run_results.json"},
                                                          {"xplane", "tests/data/rocm/jax_gpu.xplane.pb"},
                                                          {"pstats", "tests/data/profile.prof"},
                                                          {"speedscope", "tests/data/profile.speedscope.json"},
                                                          {"collapsed", "tests/data/profile.folded"},
                                                          {"perf_script", "tests/data/perf.txt"},
                                                          {"line_profiler", "tests/data/lines.lprof"},
                                                          {"memory_profiler", "tests/data/mprofile.dat"},
                                                          {"memray", "tests/data/memray.json"},
                                                          {"scalene", "tests/data/scalene.json"},
                                                          {"proton", "tests/data/matmul.hatchet"},
                                                          {"pyinstrument", "tests/data/profile.pyisession"},
                                                          {"memory_timeline", "tests/data/memory_timeline.json"}};

#ifdef GAPLESS_SANITIZED
constexpr size_t kPrefixStep = 262'144, kTextStep = 16'384;  // each costs ten times as much
constexpr int kMutations = 100;
#else
constexpr size_t kPrefixStep = 4096, kTextStep = 4096;
constexpr int kMutations = 1000;
#endif

std::string Stored(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Decompressed(const std::string& path) {
  auto source = OpenFile(path);
  if (!source) return {};
  auto stream = (*source)->Open();
  std::string all, buffer(1 << 20, '\0');
  while (stream) {
    auto got = (*stream)->Read(buffer.data(), buffer.size());
    if (!got || *got == 0) break;
    all.append(buffer, 0, *got);
  }
  return all;
}

class ReaderContract : public ::testing::TestWithParam<const Reader*> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kSamples.contains(GetParam()->name)) << "add a sample of this format to kSamples";
    sample_ = Decompressed(kSamples.at(GetParam()->name));
    ASSERT_FALSE(sample_.empty()) << "run from the project's folder";
  }
  // The sample's head and tail, short enough to be read a thousand times.
  std::string Short() const {
    if (sample_.size() <= 80'000) return sample_;
    return sample_.substr(0, 60'000) + sample_.substr(sample_.size() - 20'000);
  }
  void ExpectTraceOrError(const std::string& bytes) {
    MemorySource source(bytes);
    ExpectTraceOrError(source);
  }
  void ExpectTraceOrError(Source& source) {
    const auto trace = ReadTrace(source, {.pool = pool_});
    if (!trace) {
      EXPECT_FALSE(trace.error().message.empty());
      EXPECT_FALSE(trace.error().hint.empty()) << trace.error().message;
    }
  }
  std::string sample_;
  ThreadPool pool_{1};
};

TEST_P(ReaderContract, DescribesItself) {
  const Reader& reader = *GetParam();
  EXPECT_FALSE(reader.help.empty());
  EXPECT_LE(reader.help.size(), 100U);
  EXPECT_EQ(reader.help.find('\n'), std::string_view::npos);
  EXPECT_FALSE(reader.extensions.empty());
}

TEST_P(ReaderContract, KnowsItsOwnSampleAndNoOther) {
  for (const auto& [name, path] : kSamples) {
    const std::string head = Decompressed(path).substr(0, 65536);
    EXPECT_EQ(GetParam()->sniff(head) == Sniff::kYes, name == GetParam()->name) << name;
  }
  EXPECT_EQ(GetParam()->sniff(""), Sniff::kNo);
}

// Every prefix of the stored file at 4 KiB steps (under sanitizers, which are twenty times slower, at 64 KiB steps).
TEST_P(ReaderContract, SurvivesEveryPrefixOfTheFile) {
  const std::string stored = Stored(kSamples.at(GetParam()->name));
  ASSERT_FALSE(stored.empty());
  const std::string path = ::testing::TempDir() + "/gapless_prefix_" + std::string(GetParam()->name);
  for (size_t size = 0; size < stored.size(); size += kPrefixStep) {
    std::ofstream(path, std::ios::binary) << stored.substr(0, size);
    auto source = OpenFile(path);
    ASSERT_TRUE(source);
    ExpectTraceOrError(**source);
  }
  std::filesystem::remove(path);
}

TEST_P(ReaderContract, SurvivesEveryPrefixOfTheText) {
  const std::string bytes = sample_.substr(0, kTextStep * 64);
  for (size_t size = 0; size <= bytes.size(); size += kTextStep) ExpectTraceOrError(bytes.substr(0, size));
}

TEST_P(ReaderContract, SurvivesMutations) {
  const std::string sample = Short();
  std::mt19937 random(20231);
  for (int i = 0; i < kMutations; ++i) {
    std::string mutated = sample;
    for (unsigned edit = 0; edit <= random() % 8; ++edit) {
      if (mutated.empty()) mutated = sample;  // a small one may be erased as a whole
      const size_t at = random() % mutated.size();
      switch (random() % 4) {
        case 0: mutated[at] = static_cast<char>(random()); break;
        case 1: mutated.erase(at, random() % 200); break;
        case 2: mutated.insert(at, sample.substr(random() % sample.size(), random() % 200)); break;
        default: mutated[at] = "{}[],:\"\\0-.e"[random() % 12]; break;
      }
    }
    ExpectTraceOrError(mutated);
  }
}

TEST_P(ReaderContract, ReadsTheSameTwice) {
  MemorySource source(sample_);
  const auto a = ReadTrace(source, {.pool = pool_});
  const auto b = ReadTrace(source, {.pool = pool_});
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->slices.size(), b->slices.size());
  EXPECT_TRUE(std::equal(a->slices.name.begin(), a->slices.name.end(), b->slices.name.begin()));
  EXPECT_TRUE(std::equal(a->gpu_ops.launch.begin(), a->gpu_ops.launch.end(), b->gpu_ops.launch.begin()));
}

INSTANTIATE_TEST_SUITE_P(Readers, ReaderContract, ::testing::ValuesIn(AllReaders().begin(), AllReaders().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Readers, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Reader* reader : AllReaders()) EXPECT_TRUE(names.insert(reader->name).second) << reader->name;
}

}  // namespace
}  // namespace gapless::internal
