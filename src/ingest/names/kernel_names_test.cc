// SPDX-License-Identifier: Apache-2.0
// Holds tests/data/kernel_names.tsv against the rules on names: names of kernels as recorders write them, and what they
// mean.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "ingest/names.h"

namespace gapless::internal {
namespace {

struct NamedKernel {
  std::string name, op_class, matrix_unit, precision, origin;
};

std::vector<NamedKernel> ReadTable() {
  std::ifstream file("tests/data/kernel_names.tsv");
  std::vector<NamedKernel> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || line.starts_with("name\t")) continue;
    std::istringstream cells(line);
    NamedKernel row;
    for (std::string* cell : {&row.name, &row.op_class, &row.matrix_unit, &row.precision, &row.origin})
      std::getline(cells, *cell, '\t');
    rows.push_back(std::move(row));
  }
  return rows;
}

TEST(KernelNamesTable, NamesManyKernelsOnceAndSaysWhereTheyComeFrom) {
  std::set<std::string> names;
  for (const NamedKernel& row : ReadTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.origin.empty()) << row.name;
  }
  EXPECT_GE(names.size(), 600u);
}

TEST(KernelNamesTable, EveryNameMeansWhatTheTableSays) {
  for (const NamedKernel& row : ReadTable()) {
    const KernelTraits traits = ClassifyKernel(row.name);
    EXPECT_EQ(ToString(traits.op_class), row.op_class) << row.name;
    EXPECT_EQ(ToString(traits.matrix_unit), row.matrix_unit) << row.name;
    EXPECT_EQ(ToString(traits.precision), row.precision) << row.name;
  }
}

TEST(KernelNamesTable, OnlyMatrixKernelsHaveAPrecision) {
  for (const NamedKernel& row : ReadTable()) {
    const KernelTraits traits = ClassifyKernel(row.name);
    if (IsMatrixWork(traits.op_class) || traits.op_class == GpuOpClass::kGemv) continue;
    EXPECT_EQ(traits.precision, KernelPrecision::kUnknown) << row.name;
  }
}

// Rules must hold for neighbours of the recorded names, too.
TEST(ClassifyKernel, TheInstructionDecidesBeforeTheFamily) {
  const auto unit = [](std::string_view name) { return ClassifyKernel(name).matrix_unit; };
  EXPECT_EQ(unit("sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_ffma"), MatrixUnit::kNo);
  EXPECT_EQ(unit("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32"), MatrixUnit::kYes);
  EXPECT_EQ(unit("ampere_sgemm_64x32_sliced1x4_nt"), MatrixUnit::kNo);
  EXPECT_EQ(unit("sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize32x32x16_tensor8x8x4"), MatrixUnit::kYes);
}

TEST(ClassifyKernel, WordsThatHoldAnInstructionByChanceAreNone) {
  EXPECT_EQ(ClassifyKernel("summation_kernel(float*)").matrix_unit, MatrixUnit::kUnknown) << "umma";
  EXPECT_EQ(ClassifyKernel("summa_gemm(float*)").matrix_unit, MatrixUnit::kUnknown);
}

TEST(ClassifyKernel, SharedMemoryIsNoCommunication) {
  EXPECT_EQ(ClassifyKernel("sgemm_shmem_kernel").op_class, GpuOpClass::kGemm);
  EXPECT_EQ(ClassifyKernel("nvshmem_quiet_kernel").op_class, GpuOpClass::kCommunication);
}

TEST(ClassifyKernel, DamagedMangledNamesAreRead) {
  EXPECT_EQ(ClassifyKernel("_ZN99999999999999999999at6nativeE").op_class, GpuOpClass::kOther);
  EXPECT_EQ(ClassifyKernel("_Z").op_class, GpuOpClass::kOther);
  EXPECT_EQ(ClassifyKernel("").op_class, GpuOpClass::kOther);
}

}  // namespace
}  // namespace gapless::internal
