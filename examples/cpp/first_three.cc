// SPDX-License-Identifier: Apache-2.0
// Prints a run's largest losses and its longest kernels, and writes a report.
//
// usage: first_three RECORDING REPORT.md
#include <gapless/gapless.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>

namespace {

int Complain(const gapless::Error& error) {
  std::cerr << error.ToString() << '\n';
  return error.code == gapless::ErrorCode::kUsage ? 2 : 3;
}

// The bottlenecks are ranked: the first ones pay most.
void PrintDearest(const gapless::Run& run, size_t most) {
  const std::vector<gapless::Bottleneck> found = run.Diagnose();
  for (size_t i = 0; i < std::min(most, found.size()); ++i) {
    std::cout << i + 1 << ' ' << found[i].id << ": " << found[i].title;
    if (found[i].gain) std::cout << std::fixed << std::setprecision(2) << ", " << found[i].gain->expected << " times";
    if (!found[i].cured_by.empty()) std::cout << ", cured with " << found[i].cured_by;
    std::cout << '\n';
    for (const gapless::Recommendation& advice : found[i].recommendations) std::cout << "    " << advice.text << '\n';
  }
}

// Goes through a table as it is, cell by cell; a time that was not recorded is absent and counts for nothing.
int64_t KernelTime(const gapless::Table& operations) {
  int64_t total_ns = 0;
  for (const gapless::Row row : operations)
    if (row["kind"].Text() == "kernel") total_ns += row["dur_ns"].Int().value_or(0);
  return total_ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: first_three RECORDING REPORT.md\n";
    return 2;
  }
  const auto run = gapless::Run::Open(argv[1]);
  if (!run) return Complain(run.error());
  for (const gapless::Error& failure : run->Failures()) std::cerr << "not read: " << failure.ToString() << '\n';

  PrintDearest(*run, 3);

  const auto operations = run->Table("gpu_op");
  if (!operations) return Complain(operations.error());
  std::cout << "kernels run for " << KernelTime(*operations) << " ns\n";

  const auto longest =
      run->Query("SELECT name, max(dur_ns) AS ns FROM gpu_op GROUP BY name ORDER BY ns DESC, name LIMIT 3");
  if (!longest) return Complain(longest.error());
  for (const gapless::Row row : *longest)
    std::cout << row["ns"].Int().value_or(0) << " ns " << row["name"].Text().value_or("") << '\n';

  const auto report = run->Render("markdown");
  if (!report) return Complain(report.error());
  std::ofstream file(argv[2]);
  file << *report;
  return file.flush() ? 0 : 4;
}
