// SPDX-License-Identifier: Apache-2.0
// Files of other tools in their smallest form: what a value is, its unit, and what it is a sample of.
#include "store/result_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"

namespace gapless::internal {
namespace {

constexpr const char* kHyperfine = R"({"results": [
  {"command": "sleep 0.1", "mean": 0.11, "stddev": 0.01, "median": 0.1, "times": [0.1, 0.12, 0.11], "exit_codes": [0, 0, 0]},
  {"command": "old", "mean": 0.5}]})";

constexpr const char* kPyperf = R"({"version": "1.0",
  "metadata": {"unit": "second", "hostname": "node", "loops": 8},
  "benchmarks": [
    {"metadata": {"name": "sort"}, "runs": [
      {"metadata": {"calibrate_loops": 8}, "warmups": [[1, 0.5]]},
      {"warmups": [[8, 9.0]], "values": [1.0, 3.0, 2.0]},
      {"values": [4.0, 6.0]}]},
    {"metadata": {"name": "rss", "unit": "byte"}, "runs": [{"values": [1024]}]}]})";

constexpr const char* kGoogle = R"({"context": {"host_name": "node", "num_cpus": 2, "library_build_type": "release"},
  "benchmarks": [
    {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "repetitions": 2, "iterations": 100, "real_time": 1.5,
     "cpu_time": 1.4, "time_unit": "us", "items_per_second": 10.0},
    {"name": "BM_x/8", "run_name": "BM_x/8", "run_type": "iteration", "iterations": 100, "real_time": 2.5, "time_unit": "us",
     "items_per_second": 20.0},
    {"name": "BM_x/8_mean", "run_name": "BM_x/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 2.0,
     "time_unit": "us"},
    {"name": "BM_bad", "run_type": "iteration", "error_occurred": true, "error_message": "no", "real_time": 0, "time_unit": "ns"}]})";

constexpr const char* kGoogleAggregates = R"({"context": {}, "benchmarks": [
    {"name": "BM_y_mean", "run_name": "BM_y", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 7, "time_unit": "ms"},
    {"name": "BM_y_median", "run_name": "BM_y", "run_type": "aggregate", "aggregate_name": "median", "real_time": 5, "time_unit": "ms"},
    {"name": "BM_y_cv", "run_name": "BM_y", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 0.1, "time_unit": "ms"}]})";

constexpr const char* kPytest =
    R"({"machine_info": {"node": "node"}, "version": "4.0.0", "datetime": "2026-01-02T03:04:05+00:00",
  "commit_info": {"id": "abc", "branch": "main", "dirty": true, "author_time": "2026-01-01T00:00:00+01:00"},
  "benchmarks": [
    {"name": "test_a", "fullname": "t.py::test_a", "stats": {"median": 9.0, "data": [0.5, 0.25], "rounds": 2, "iterations": 4}},
    {"name": "test_b", "fullname": "t.py::test_b", "stats": {"median": 0.75, "rounds": 5}}]})";

constexpr const char* kAsv =
    R"({"version": 2, "commit_hash": "def", "date": 1700000000000, "params": {"machine": "node"},
  "result_columns": ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "samples"],
  "results": {
    "bench.Sort.time_sort": [[0.5, null, NaN, 0.75], [["10", "20"], ["'a'", "'b'"]], "v", 1, 2.0, null, null,
                             [[0.5, 0.25], null, null, null]],
    "bench.peakmem_all": [[1048576]],
    "bench.track_loss": [[3.5], []]}})";

constexpr const char* kNvbench = R"({"meta": {"argv": ["bench"]}, "devices": [{"id": 0, "name": "NVIDIA H100"}],
  "benchmarks": [{"name": "copy", "states": [
    {"name": "Device=0 Size=8", "is_skipped": false, "summaries": [
      {"tag": "nv/cold/time/gpu/mean", "name": "GPU Time", "hint": "duration",
       "data": [{"name": "value", "type": "float64", "value": "1.5e-06"}]},
      {"tag": "nv/json/bin:nv/cold/sample_times", "data": [
        {"name": "filename", "type": "string", "value": "out/results.json-bin/0.bin"},
        {"name": "size", "type": "int64", "value": "3"}]}]},
    {"name": "Device=0 Size=9", "is_skipped": true, "skip_reason": "no memory"}]}]})";

constexpr const char* kGapless = R"({"gapless": {"version": "0.1.0", "schema": 1}, "command": ["python", "train.py"],
  "metrics": {"samples_per_second": 812.5, "step_time_ms": 78.5, "memory_usage_gb": 10.25, "epoch_s": null},
  "steps": [78000000, 79000000, 78500000],
  "environment": {"commit": "abc", "branch": "main", "dirty": false, "gpu_type": "H100", "num_gpus": 8, "batch_size": 64,
                  "framework": "torch 2.4", "host": {"name": "node", "nvidia_driver": "550"}}})";

constexpr const char* kVllm = R"({"backend": "vllm", "num_prompts": 128, "duration": 3.3, "completed": 38, "failed": 90,
  "request_throughput": 38.4, "output_throughput": 6000.0, "mean_ttft_ms": 550.0, "std_ttft_ms": 165.0,
  "median_ttft_ms": 540.0, "p99_ttft_ms": 935.0, "errors": ["", ""]})";

constexpr const char* kGenaiPerf = R"({"request_throughput": {"unit": "requests/sec", "avg": 12.5},
  "request_latency": {"unit": "ms", "avg": 80.0, "p50": 75.0}, "output_sequence_length": {"unit": "tokens", "avg": 100},
  "request_count": {"unit": "requests", "avg": 20}, "input_config": {"model": "m"}})";

constexpr const char* kSglang =
    R"({"backend": "sglang", "completed": 2, "duration": 2.0, "request_throughput": 1.0, "total_throughput": 9.0,
  "mean_e2e_latency_ms": 30.0, "median_itl_ms": 4.0, "p99_tpot_ms": 6.0})";

constexpr const char* kGuidellm = R"({"benchmarks": [{"config": {"strategy": {"type_": "concurrent", "streams": 4}},
  "metrics": {"request_totals": {"successful": 19, "errored": 0, "incomplete": 3, "total": 22},
    "requests_per_second": {"successful": {"mean": 9.5, "median": 9.0}, "total": {"mean": 11.0}},
    "request_latency": {"successful": {"mean": 0.5, "median": 0.4, "percentiles": {"p95": 0.7, "p99": 0.9}}},
    "time_to_first_token_ms": {"successful": {"median": 20.0, "percentiles": {"p95": 31.0}}},
    "time_per_output_token_ms": {"successful": {"median": 6.0}},
    "inter_token_latency_ms": {"successful": {"median": 5.0}}}}]})";

constexpr const char* kCustom = R"([{"name": "train step", "unit": "ms", "value": 41.2, "range": "± 1.1"},
  {"name": "throughput", "unit": "samples/s", "value": 1553.0}, {"name": "loss", "unit": "nats", "value": "2.5"}])";

constexpr const char* kPageData =
    R"(window.BENCHMARK_DATA = {"lastUpdate": 1, "repoUrl": "x", "entries": {"Benchmark": [
  {"commit": {"id": "aa", "timestamp": "2026-10-01T10:00:00Z"}, "date": 1790000000000, "tool": "customSmallerIsBetter",
   "benches": [{"name": "step", "value": 40.5, "unit": "ms"}]},
  {"commit": {"id": "bb"}, "date": 1790086400000, "tool": "customSmallerIsBetter",
   "benches": [{"name": "step", "value": 60.5, "unit": "ms"}, {"name": "score", "value": 3, "unit": ""}]}]}};
)";

ResultFile Read(std::string_view text, std::string_view column = {}, const std::string& path = "results") {
  auto file = ReadResults(text, path, column);
  EXPECT_TRUE(file) << file.error().ToString();
  return file ? std::move(*file) : ResultFile();
}

// "name[unit] sampling: values"
std::string Show(const ResultSeries& series) {
  std::string out = StrCat(series.name, "[", series.unit, "] ", NameOf(series.unit_of_sampling), ":");
  for (const double value : series.values) out += StrCat(" ", value);
  return out;
}

std::vector<std::string> ShowAll(const ResultFile& file) {
  std::vector<std::string> out;
  for (const ResultSeries& series : file.series) out.push_back(Show(series));
  return out;
}

using Lines = std::vector<std::string>;

Lines FailedIn(std::string_view text) {
  Lines out;
  for (const FailedRuns& failed : Read(text).failed) out.push_back(DescribeFailed(failed));
  return out;
}

TEST(ResultsTest, HyperfineTimesAreProcesses) {
  const ResultFile file = Read(kHyperfine);
  EXPECT_EQ(file.tool, "hyperfine");
  EXPECT_EQ(ShowAll(file), (Lines{"sleep 0.1[s] process: 0.1 0.12 0.11", "old[s] unknown: 0.5"}));
}

// With --ignore-failure hyperfine times what fails, too; null is a run that a signal ended.
TEST(ResultsTest, RunsOfHyperfineThatFailedAreNoValues) {
  constexpr std::string_view kSome = R"({"results": [
    {"command": "a", "mean": 1, "times": [1.0, 0.1, 0.2, 1.1], "exit_codes": [0, 1, null, 0]},
    {"command": "b", "mean": 2, "times": [2.0], "exit_codes": [0]},
    {"command": "c", "mean": 0.3, "exit_codes": [2, 2]}]})";
  EXPECT_EQ(ShowAll(Read(kSome)), (Lines{"a[s] process: 1 1.1", "b[s] process: 2"}));
  EXPECT_EQ(FailedIn(kSome), (Lines{"2 of 4 runs of 'a' failed (ended by a signal, exit status 1)",
                                    "2 of 2 runs of 'c' failed (exit status 2)"}));
  const auto record = RecordFrom(Read(kSome));
  ASSERT_TRUE(record);
  ASSERT_EQ(record->metrics.size(), 1U) << "what failed is not recorded, not even what is left of it";
  EXPECT_EQ(record->metrics[0].name, "b");
}

TEST(ResultsTest, AFileInWhichEverythingFailedIsRefusedByName) {
  const auto file = ReadResults(
      R"({"results": [{"command": "train", "mean": 0.3, "times": [0.3, 0.3], "exit_codes": [1, 1]}]})", "b.json");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kInput);
  EXPECT_NE(file.error().message.find("2 of 2 runs of 'train' failed (exit status 1)"), std::string::npos)
      << file.error().ToString();
}

TEST(ResultsTest, OtherToolsSayInTheirWaysWhatFailed) {
  EXPECT_EQ(FailedIn(kGoogle), (Lines{"1 of 1 repetition of 'BM_bad' failed (no)"}));
  EXPECT_EQ(FailedIn(R"({"benchmarks": [
    {"name": "x", "run_type": "iteration", "real_time": 1, "time_unit": "s"},
    {"name": "y", "run_type": "iteration", "skipped": true, "skip_message": "no GPU", "real_time": 0, "time_unit": "s"}]})"),
            (Lines{"1 of 1 repetition of 'y' failed or was left out (no GPU)"}));
  EXPECT_EQ(FailedIn(R"({"machine_info": {}, "benchmarks": [{"fullname": "a", "stats": {"median": 1}},
    {"fullname": "b", "stats": {}}, {"fullname": "c", "has_error": true, "stats": {"median": 1}}]})"),
            (Lines{"the test 'b' failed", "the test 'c' failed"}));
  EXPECT_EQ(FailedIn(kAsv), (Lines{"the benchmark 'bench.Sort.time_sort(10, 'b')' failed or was left out",
                                   "the benchmark 'bench.Sort.time_sort(20, 'a')' failed or was left out"}));
  EXPECT_EQ(FailedIn(kNvbench), (Lines{"the state 'copy Device=0 Size=9' failed or was left out (no memory)"}));
}

TEST(ResultsTest, ServersAreNoFasterForRefusingRequests) {
  const ResultFile file = Read(kVllm);
  EXPECT_EQ(file.tool, "serving");
  EXPECT_EQ(ShowAll(file), (Lines{"request_throughput[requests/s] process: 38.4",
                                  "output_throughput[tokens/s] process: 6000", "mean_ttft_ms[ms] process: 550",
                                  "median_ttft_ms[ms] process: 540", "p99_ttft_ms[ms] process: 935"}));
  EXPECT_EQ(file.series[0].higher_is_better, true);
  EXPECT_EQ(file.series[2].higher_is_better, false);
  EXPECT_EQ(FailedIn(kVllm), (Lines{"90 of 128 requests failed"}));
  EXPECT_FALSE(RecordFrom(file)) << "no figure of it is a result";
  // Older versions count only what was completed; SGLang writes a line a run, and errors only with details.
  EXPECT_EQ(FailedIn(R"({"num_prompts": 10, "completed": 8, "duration": 1, "request_throughput": 8})"),
            (Lines{"2 of 10 requests failed"}));
  const std::string lines =
      "{\"completed\": 3, \"duration\": 1, \"request_throughput\": 3}\n"
      "{\"completed\": 4, \"duration\": 1, \"request_throughput\": 4, \"errors\": [\"\", \"timed out\"]}\n";
  EXPECT_EQ(ShowAll(Read(lines)), (Lines{"request_throughput[requests/s] process: 4"}));
  EXPECT_EQ(FailedIn(lines), (Lines{"1 of 5 requests failed"}));
}

// The runs of one setting of `vllm bench sweep`; and what it writes where the server answered nothing.
TEST(ResultsTest, NumberedRunsAreValuesAndARunWithoutAnAnswerIsNone) {
  constexpr std::string_view kSweep = R"([
    {"completed": 8, "duration": 1.4, "request_throughput": 5.9, "p99_ttft_ms": 762.5, "run_number": 0},
    {"completed": 8, "duration": 0.6, "request_throughput": 12.5, "p99_ttft_ms": 57.6, "run_number": 1}])";
  EXPECT_EQ(ShowAll(Read(kSweep)),
            (Lines{"request_throughput[requests/s] process: 5.9 12.5", "p99_ttft_ms[ms] process: 762.5 57.6"}));
  const auto none = ReadResults(R"({"completed": 0, "failed": 8, "duration": 0.005, "request_throughput": 0.0})", "x");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no request of this run was answered"), std::string::npos);
}

TEST(ResultsTest, WhatSurroundsTheRequestsIsNoSpeedOfTheServer) {
  EXPECT_EQ(
      ShowAll(Read(R"({"request_latency": {"unit": "ms", "avg": 8}, "benchmark_duration": {"unit": "sec", "avg": 29.8},
    "http_req_blocked": {"unit": "ms", "avg": 0}, "http_req_waiting": {"unit": "ms", "avg": 7}})")),
      (Lines{"request_latency[ms] process: 8"}));
}

TEST(ResultsTest, GenaiPerfHasAUnitForEachMetric) {
  EXPECT_EQ(ShowAll(Read(kGenaiPerf)),
            (Lines{"request_throughput[requests/sec] process: 12.5", "request_latency[ms] process: 75"}));
  EXPECT_TRUE(FailedIn(kGenaiPerf).empty());
  std::string failing(kGenaiPerf);
  failing.replace(failing.size() - 1, 1, R"(, "error_request_count": {"unit": "requests", "avg": 5}})");
  EXPECT_EQ(FailedIn(failing), (Lines{"5 of 25 requests failed"}));
}

// TPOT and inter-token latency, as tools call them, are three quantities; the formula says which one a number is.
TEST(ResultsTest, EachNumberOfAServerHasTheFormulaOfItsTool) {
  const auto of = [](std::string_view text, std::string_view name) {
    const ResultFile file = Read(text);
    for (const ResultSeries& series : file.series)
      if (series.name == name) return StrCat(series.own_name, " = ", series.formula);
    return StrCat("no ", name);
  };
  const std::string per_token = " = (latency - time to first token) / (output tokens - 1), one value a request";
  EXPECT_EQ(of(kSglang, "p99_tpot_ms"), "time_per_output_token" + per_token);
  EXPECT_EQ(of(kSglang, "median_itl_ms"),
            " = time between two chunks / tokens of the later one, once for each of its tokens");
  EXPECT_EQ(of(R"({"completed": 1, "duration": 1, "request_throughput": 1, "mean_e2el_ms": 3, "mean_itl_ms": 2})",
               "mean_itl_ms"),
            "inter_token_latency = time between two chunks of an answer, those of all requests");
  constexpr std::string_view kAiperf = R"({"request_latency": {"unit": "ms", "avg": 8, "p50": 7, "p95": 9, "p99": 11},
    "inter_token_latency": {"unit": "ms", "avg": 2.5}, "goodput": {"unit": "requests/sec", "avg": 3},
    "output_token_throughput_per_user": {"unit": "tokens/sec/user", "avg": 400}})";
  EXPECT_EQ(of(kAiperf, "inter_token_latency"), "time_per_output_token" + per_token);
  EXPECT_EQ(of(kAiperf, "goodput"), "goodput = requests that meet every objective / duration");
  EXPECT_EQ(ShowAll(Read(kAiperf)), (Lines{"request_latency[ms] process: 7", "request_latency_p95[ms] process: 9",
                                           "request_latency_p99[ms] process: 11",
                                           "inter_token_latency[ms] process: 2.5", "goodput[requests/sec] process: 3",
                                           "output_token_throughput_per_user[tokens/sec/user] process: 400"}));
  EXPECT_EQ(
      of(kGuidellm, "inter_token_latency_ms"),
      "time_per_output_token = (last token - first token) / (output tokens - 1) of a request, weighted by its tokens");
  EXPECT_EQ(of(kGuidellm, "time_per_output_token_ms"),
            " = (last token - start of the request) / output tokens of a request, weighted by its tokens");
  EXPECT_EQ(of(kHyperfine, "old"), " = ") << "its name says it";
}

TEST(ResultsTest, GoodputOfVllmHasAColonInItsName) {
  EXPECT_EQ(ShowAll(Read(R"({"completed": 4, "duration": 2, "request_throughput": 2, "request_goodput:": 1.5})")),
            (Lines{"request_throughput[requests/s] process: 2", "request_goodput[requests/s] process: 1.5"}));
}

TEST(ResultsTest, GuidellmIsReadOfTheRequestsThatSucceeded) {
  EXPECT_EQ(ShowAll(Read(kGuidellm)),
            (Lines{"requests_per_second[requests/s] process: 9.5", "request_latency[s] process: 0.4",
                   "request_latency_p95[s] process: 0.7", "request_latency_p99[s] process: 0.9",
                   "time_to_first_token_ms[ms] process: 20", "time_to_first_token_ms_p95[ms] process: 31",
                   "time_per_output_token_ms[ms] process: 6", "inter_token_latency_ms[ms] process: 5"}));
  EXPECT_TRUE(FailedIn(kGuidellm).empty()) << "what the end of the benchmark cut off has not failed";
  constexpr std::string_view kTwo = R"({"benchmarks": [
    {"args": {"strategy": {"type_": "constant", "rate": 2.5}}, "metrics": {"requests_per_second": {"successful": {"mean": 2}}},
     "run_stats": {"requests_made": {"successful": 8, "errored": 2}}},
    {"metrics": {"requests_per_second": {"successful": {"mean": 3}}}}]})";
  EXPECT_EQ(ShowAll(Read(kTwo)), (Lines{"constant 2.50: requests_per_second[requests/s] process: 2",
                                        "benchmark 2: requests_per_second[requests/s] process: 3"}));
  EXPECT_EQ(FailedIn(kTwo), (Lines{"2 of 10 requests failed (with constant 2.50)"}));
}

TEST(ResultsTest, CustomJsonOfGithubActionBenchmark) {
  const ResultFile file = Read(kCustom);
  EXPECT_EQ(file.tool, "github_action_benchmark");
  EXPECT_EQ(ShowAll(file),
            (Lines{"train step[s] unknown: 0.0412", "throughput[samples/s] unknown: 1553", "loss[nats] unknown: 2.5"}));
  EXPECT_EQ(file.series[0].higher_is_better, false);
  EXPECT_EQ(file.series[1].higher_is_better, true);
  EXPECT_FALSE(file.series[2].higher_is_better) << "its unit does not say";
}

TEST(ResultsTest, PageDataIsAHistory) {
  const ResultFile file = Read(kPageData);
  EXPECT_EQ(ShowAll(file), (Lines{"step[s] unknown: 0.0405 0.0605", "score[] unknown: 3"}));
  ASSERT_EQ(file.runs.size(), 2U);
  EXPECT_EQ(file.runs[0].commit_sha, "aa");
  EXPECT_EQ(file.runs[1].recorded_unix_ns, 1'790'086'400'000'000'000);
  EXPECT_EQ(file.runs[1].metrics[1].higher_is_better, false) << "by the name of the tool";
  EXPECT_FALSE(RecordFrom(file)) << "many runs are not one";
}

TEST(ResultsTest, UnitsSayWhichDirectionIsBetter) {
  EXPECT_EQ(SecondsIn("ms"), 1e-3);
  EXPECT_EQ(SecondsIn("ns/iter"), 1e-9);
  EXPECT_FALSE(SecondsIn("samples/s"));
  EXPECT_EQ(HigherIsBetterBy("us"), false);
  EXPECT_EQ(HigherIsBetterBy("MiB"), false);
  EXPECT_EQ(HigherIsBetterBy("iter/sec"), true);
  EXPECT_EQ(HigherIsBetterBy("tokens/s"), true);
  EXPECT_FALSE(HigherIsBetterBy("points"));
}

TEST(ResultsTest, PyperfGivesOneValueForEachProcess) {
  const ResultFile file = Read(kPyperf);
  EXPECT_EQ(file.tool, "pyperf");
  EXPECT_EQ(ShowAll(file), (Lines{"sort[s] process: 2 5", "rss[bytes] process: 1024"}));
  EXPECT_EQ(file.facts.host, "node");
}

TEST(ResultsTest, GoogleBenchmarkRepetitionsAreWithinOneProcess) {
  const ResultFile file = Read(kGoogle);
  EXPECT_EQ(file.tool, "google_benchmark");
  EXPECT_EQ(ShowAll(file),
            (Lines{"BM_x/8[s] iteration: 1.5e-06 2.5e-06", "BM_x/8/items_per_second[items/s] iteration: 10 20"}));
  EXPECT_EQ(file.series[1].higher_is_better, true);
  EXPECT_EQ(ShowAll(Read(kGoogleAggregates)), (Lines{"BM_y[s] unknown: 0.005"}));
}

TEST(ResultsTest, PytestBenchmarkRoundsAreWithinOneProcess) {
  const ResultFile file = Read(kPytest);
  EXPECT_EQ(file.tool, "pytest_benchmark");
  EXPECT_EQ(ShowAll(file), (Lines{"t.py::test_a[s] iteration: 0.5 0.25", "t.py::test_b[s] unknown: 0.75"}));
  EXPECT_EQ(file.facts.commit_sha, "abc");
  EXPECT_EQ(file.facts.dirty, true);
  EXPECT_EQ(file.facts.author_unix_ns, 1'767'222'000'000'000'000);
}

TEST(ResultsTest, AsvHasASeriesForEachCombinationThatRan) {
  const ResultFile file = Read(kAsv);
  EXPECT_EQ(file.tool, "asv");
  EXPECT_EQ(ShowAll(file), (Lines{"bench.Sort.time_sort(10, 'a')[s] iteration: 0.5 0.25",
                                  "bench.Sort.time_sort(20, 'b')[s] unknown: 0.75",
                                  "bench.peakmem_all[bytes] unknown: 1048576", "bench.track_loss[] unknown: 3.5"}));
  EXPECT_EQ(file.facts.commit_sha, "def");
  EXPECT_FALSE(file.series[3].higher_is_better);
}

TEST(ResultsTest, NvbenchGivesTheMeanWhenItsSamplesAreNotThere) {
  const ResultFile file = Read(kNvbench);
  EXPECT_EQ(file.tool, "nvbench");
  EXPECT_EQ(ShowAll(file), (Lines{"copy Device=0 Size=8[s] unknown: 1.5e-06"}));
  EXPECT_EQ(file.facts.gpu_type, "NVIDIA H100");
}

TEST(ResultsTest, NvbenchSamplesAreReadFromTheFileBesideIt) {
  std::string pattern = (std::filesystem::temp_directory_path() / "gapless-nvbench-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  std::filesystem::create_directories(folder + "/results.json-bin");
  const float times[] = {0.5F, 0.25F, 0.125F};
  std::ofstream(folder + "/results.json-bin/0.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(times), sizeof times);
  const ResultFile file = Read(kNvbench, {}, folder + "/results.json");
  EXPECT_EQ(ShowAll(file), (Lines{"copy Device=0 Size=8[s] iteration: 0.5 0.25 0.125"}));
  std::filesystem::remove_all(folder);
}

TEST(ResultsTest, GaplessHasMetricsAndStepsAndSaysWhere) {
  const ResultFile file = Read(kGapless);
  EXPECT_EQ(file.tool, "gapless");
  ASSERT_EQ(file.series.size(), 4U);
  EXPECT_EQ(Show(file.series[0]), "samples_per_second[1/s] process: 812.5");
  EXPECT_EQ(file.series[0].higher_is_better, true);
  EXPECT_EQ(file.series[1].higher_is_better, false);
  EXPECT_EQ(file.series[3].name, "step_time");
  EXPECT_EQ(file.series[3].unit_of_sampling, Sampling::kIteration);
  EXPECT_DOUBLE_EQ(file.series[3].values[0], 0.078);
  EXPECT_EQ(file.facts.commit_sha, "abc");
  EXPECT_EQ(file.facts.host, "node");
  EXPECT_EQ(file.facts.driver, "550");
  EXPECT_EQ(file.facts.num_gpus, 8);
  EXPECT_EQ(file.facts.command, "python train.py");
  const auto record = RecordFrom(file);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->source, "gapless");
  EXPECT_DOUBLE_EQ(record->Find("step_time")->value, 0.0785) << "the median";
  EXPECT_EQ(record->Find("step_time")->samples.size(), 3U);
  EXPECT_EQ(record->Find("epoch_s"), nullptr);
}

// "steps" of several processes in one series would pass for one sample of independent values.
TEST(ResultsTest, GaplessOfSeveralProcessesHasTheirMedians) {
  const auto last = [](std::string_view text) { return Show(Read(text).series.back()); };
  EXPECT_EQ(last(R"({"gapless": {}, "metrics": {}, "steps": [1000000000, 2000000000], "process_medians": [500, 250]})"),
            "step_time[s] process: 0.5 0.25");
  EXPECT_EQ(last(R"({"gapless": {}, "metrics": {}, "steps": [1000000000, 2000000000], "process_medians": [1500]})"),
            "step_time[s] iteration: 1 2");
  EXPECT_EQ(last(R"({"gapless": {}, "metrics": {}, "source": "pattern", "steps": [], "process_medians": [7, 8]})"),
            "value[] process: 7 8");
}

TEST(ResultsTest, PlainNumbersAndColumns) {
  EXPECT_EQ(ShowAll(Read("# times\n1.5\n\n2e-3\r\n+3\n")), (Lines{"value[] unknown: 1.5 0.002 3"}));
  EXPECT_EQ(ShowAll(Read("time,name,size\n1,a,8\n2,b,\n")), (Lines{"time[] unknown: 1 2", "size[] unknown: 8"}));
  EXPECT_EQ(ShowAll(Read("time,name,size\n1,a,8\n2,b,9\n", "size")), (Lines{"size[] unknown: 8 9"}));
  EXPECT_EQ(ShowAll(Read("1,2\n3,4\n", "2")), (Lines{"column 2[] unknown: 2 4"}));
}

TEST(ResultsTest, WhatCannotBeReadIsSaid) {
  const auto refused = [](std::string_view text, std::string_view column, std::string_view why) {
    const auto file = ReadResults(text, "f", column);
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().code, ErrorCode::kInput);
    EXPECT_NE(file.error().ToString().find(why), std::string::npos) << file.error().ToString();
  };
  refused("", "", "no results of a tool");
  refused("hello\nworld\n", "", "there are: asv");
  refused("{\"results\": [", "", "no JSON");
  refused("{\"a\": 1}", "", "no results of a tool");
  refused("1\nnan\n", "", "f:row 2");
  refused("1\n2x\n", "", "'2x' is not a number");
  refused("a,b\n1,2\n", "c", "there are: a, b");
}

TEST(ResultsTest, EqualNamesAreToldApart) {
  const ResultFile file = Read(R"({"results": [{"command": "x", "mean": 1}, {"command": "x", "mean": 2}]})");
  EXPECT_EQ(ShowAll(file), (Lines{"x[s] unknown: 1", "x#2[s] unknown: 2"}));
}

// One reader each, whatever the order they are asked in.
TEST(ResultsContractTest, AFileIsRecognisedByOneReader) {
  const std::string_view samples[] = {kHyperfine, kPyperf,    kGoogle, kPytest, kAsv,      kNvbench, kGapless,
                                      kVllm,      kGenaiPerf, kCustom, kSglang, kGuidellm, "1\n2\n"};
  for (const std::string_view sample : samples) {
    const bool is_json = sample[0] == '{' || sample[0] == '[';
    const auto json = is_json ? JsonValue::Parse(sample) : Result<JsonValue>(JsonValue());
    ASSERT_TRUE(json) << json.error().ToString();
    int readers = 0;
    for (const ResultReader* reader : AllResultReaders())
      readers += reader->recognises({.path = "f", .text = sample, .json = is_json ? &*json : nullptr, .column = {}});
    EXPECT_EQ(readers, 1) << sample;
  }
  for (const ResultReader* reader : AllResultReaders()) EXPECT_LE(reader->help.size(), 72U) << reader->name;
}

TEST(ResultsContractTest, ReadersSurviveEveryPrefixAndMutation) {
  const std::string_view samples[] = {kHyperfine, kPyperf,    kGoogle, kPytest,   kAsv,    kNvbench,  kGapless,
                                      kVllm,      kGenaiPerf, kCustom, kPageData, kSglang, kGuidellm, "a,b\n1,2\n"};
  for (const std::string_view sample : samples) {
    for (size_t length = 0; length < sample.size(); ++length) (void)ReadResults(sample.substr(0, length), "f");
    uint64_t state = 1;
    for (int i = 0; i < 1000; ++i) {
      std::string text(sample);
      for (int change = 0; change < 3; ++change) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        text[(state >> 33) % text.size()] = "0{}[],:\"eN-"[(state >> 20) % 11];
      }
      const auto file = ReadResults(text, "f");
      if (!file) continue;
      for (const ResultSeries& series : file->series) ASSERT_FALSE(series.values.empty());
      if (file->failed.empty() && file->runs.empty()) {
        ASSERT_TRUE(RecordFrom(*file));
      }
    }
  }
}

TEST(JsonValueTest, NumbersAreExactAndNanIsNull) {
  const auto json =
      JsonValue::Parse(R"({"a": 1700000000123456789, "b": [NaN, -Infinity, "NaN \" Infinity"], "c": 0.1})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->Get("a").Int(), 1'700'000'000'123'456'789);
  EXPECT_FALSE(json->Get("b").items()[0].Number());
  EXPECT_EQ(*json->Get("b").items()[2].Text(), "NaN \" Infinity");
  EXPECT_EQ(json->Get("c").Number(), 0.1);
  EXPECT_FALSE(json->Get("d").Get("e").Text());
  EXPECT_EQ(ToJson(*json), R"({"a": 1700000000123456789, "b": [null, null, "NaN \" Infinity"], "c": 0.1})");
  EXPECT_FALSE(JsonValue::Parse(std::string(200, '[') + std::string(200, ']')));
}

}  // namespace
}  // namespace gapless::internal
