// SPDX-License-Identifier: Apache-2.0
// Matrix work on tensor cores that stays below 60 % of its roofline.
//
// The roofline of an operator is the least time its FLOPs and bytes need on this device. Tuned libraries reach about 80
// % of it on large, aligned shapes; that bounds what can be gained (high). Small or odd shapes are often the model's:
// changing sizes or the batch brings part of it, and we expect to reach 60 % for half of the time (expected) and count
// a tenth of the time at least (low). The last two are assumptions. Calls under 10 µs are left to the rules on
// launches. Time is that of the kernels that multiply matrices: layout changes and fills that a library adds under the
// same operator are other rules' matter, and so are the products of unfused attention (eager_attention).
//
// AMD states that products reach about half of its data sheets' peaks ("maximum achievable FLOPs": 708 of 1,307 TFLOP/s
// in bf16 on an MI300X, rocm.blogs.amd.com, Measuring Max-Achievable FLOPs); there the peak counts as that much.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analyses/rows/attention.h"
#include "analyses/rows/matrix_work.h"
#include "analyses/rows/roofline.h"
#include "base/strings.h"
#include "diagnose/estimate.h"
#include "diagnose/evidence.h"
#include "diagnose/ledger_view.h"
#include "diagnose/rule.h"
#include "diagnose/thresholds.h"
#include "fixes/names.h"

namespace gapless::internal::low_matrix_efficiency_rule {
namespace {

// The share of the time at which TraceLens reports communication and copies.
constexpr double kLowMatrixEfficiencyTime = 0.05;

constexpr std::string_view kNeeds[] = {"ledger", "roofline", "matrix_work", "attention"};
constexpr double kTuned = 0.8;           // fraction of the roofline that libraries reach
constexpr double kAmdAchievable = 0.54;  // fraction of AMD's stated peaks that, according to AMD, matrix products reach

// Achievable fraction of the stated peak, by trace and device.
std::map<std::pair<int64_t, int64_t>, double> AchievableByDevice(const MatrixWorkRows& devices) {
  std::map<std::pair<int64_t, int64_t>, double> found;
  for (size_t row = 0; row < devices.rows(); ++row) {
    const bool amd = devices.Text(row, "vendor") == "amd" || devices.Text(row, "device_name").starts_with("AMD");
    found.emplace(std::pair(devices.Int(row, "trace"), devices.Int(row, "device")), amd ? kAmdAchievable : 1);
  }
  return found;
}

struct Rooflines {
  RooflineRows table;
  std::vector<double> achievable;  // by row
  bool eager_attention;            // a rule of its own judges its products

  explicit Rooflines(Tables& tables)
      : table(tables.Get<RooflineRows>()), eager_attention(tables.Get<AttentionRows>().rows() > 0) {
    const auto by_device = AchievableByDevice(tables.Get<MatrixWorkRows>());
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto at = by_device.find({table.Int(row, "trace"), table.Int(row, "device")});
      achievable.push_back(at == by_device.end() ? 1 : at->second);
    }
  }
};

bool IsMatrixKind(std::string_view kind) { return kind == "gemm" || kind == "conv" || kind == "attention"; }

// Returns the fraction of the roofline that matrix kernels reach; NaN if not known, or without such kernels.
double MatrixShare(const Rooflines& rooflines, size_t row) {
  const RooflineRows& roofline = rooflines.table;
  if (roofline.IsNull(row, "roofline_share")) return std::numeric_limits<double>::quiet_NaN();
  const double peak = roofline.Text(row, "bound") == "compute" ? rooflines.achievable[row] : 1;
  return roofline.Real(row, "roofline_share") * roofline.Real(row, "device_ns") / roofline.Real(row, "matrix_ns") /
         peak;
}

bool IsProductOfAttention(const Rooflines& rooflines, size_t row) {
  const std::string_view name = rooflines.table.Text(row, "operator");
  return rooflines.eager_attention && (name == "aten::bmm" || name == "aten::baddbmm");
}

// Rows of roofline that run on matrix units below kBadlyUsedShare of it, the longest first.
std::vector<size_t> SlowRows(const Rooflines& rooflines) {
  const RooflineRows& roofline = rooflines.table;
  std::vector<size_t> rows;
  for (const size_t row : LargestRows(roofline, "matrix_ns", roofline.rows())) {
    if (!IsMatrixKind(roofline.Text(row, "kind")) || roofline.Text(row, "matrix_unit") != "yes") continue;
    if (!(MatrixShare(rooflines, row) < kBadlyUsedShare) || IsProductOfAttention(rooflines, row)) continue;
    if (roofline.Real(row, "matrix_ns") < kShortKernelNs * roofline.Real(row, "calls")) continue;
    rows.push_back(row);
  }
  return rows;
}

// Elements that fill the 16 bytes matrix units load at once (NVIDIA's and AMD's guides for GEMM).
int64_t Alignment(std::string_view dtype) {
  return dtype == "fp8" ? 16 : dtype == "fp32" ? 4 : dtype == "fp64" ? 2 : 8;
}

constexpr RooflineRows::IntColumn kSizes[] = {"m", "n", "k"};  // sizes of the product

std::string UnalignedText(const RooflineRows& roofline, size_t row) {
  const int64_t alignment = Alignment(roofline.Text(row, "dtype"));
  std::string sizes;
  for (const auto size : kSizes) {
    // The rows of a convolution are positions in space, those of attention the sequence: no one chooses them, and
    // padding them does not matter.
    const bool attention = roofline.Text(row, "kind") == "attention";
    if (size == "m" || (size == "n" && attention)) continue;
    if (roofline.IsNull(row, size) || roofline.Int(row, size) % alignment == 0) continue;
    sizes += StrCat(sizes.empty() ? "" : ", ", size.name(), " = ", roofline.Int(row, size));
  }
  return sizes.empty() ? "" : StrCat(sizes, ": not a multiple of ", alignment);
}

// Returns the cause, if the tables show it; else "".
std::string CauseText(const RooflineRows& roofline, size_t row) {
  if (std::string text = UnalignedText(roofline, row); !text.empty()) return text;
  if (!roofline.IsNull(row, "sm_share") && roofline.Real(row, "sm_share") < kWellUsedShare)
    return StrCat("its blocks fill ", FormatPercent(roofline.Real(row, "sm_share")), " of the multiprocessors");
  if (!roofline.IsNull(row, "tiles_per_sm") && roofline.Real(row, "tiles_per_sm") < 1)
    return StrCat("its result has ", FormatNumber(roofline.Real(row, "tiles_per_sm"), 2),
                  " tiles of 128×128 per multiprocessor");
  constexpr int64_t kSmall = 64;  // no kernel's tile is much smaller
  for (const auto size : kSizes)
    if (!roofline.IsNull(row, size) && roofline.Int(row, size) < kSmall)
      return StrCat(size.name(), " = ", roofline.Int(row, size), ": less than a tile");
  return {};
}

std::string SizeText(const RooflineRows& roofline, size_t row) {
  if (roofline.IsNull(row, "m") || roofline.IsNull(row, "n") || roofline.IsNull(row, "k"))
    return StrCat(" ", Ellipsize(roofline.Text(row, "shapes"), 60));
  const int64_t batch = roofline.Int(row, "batch");
  return StrCat(" m ", roofline.Int(row, "m"), ", n ", roofline.Int(row, "n"), ", k ", roofline.Int(row, "k"),
                batch > 1 ? StrCat(", ", batch, " times") : "");
}

std::vector<Evidence> EvidenceOf(const Rooflines& rooflines, const std::vector<size_t>& rows,
                                 const LedgerView& ledger) {
  const RooflineRows& roofline = rooflines.table;
  std::vector<Evidence> all;
  constexpr size_t kNamed = 4;
  for (size_t i = 0; i < rows.size() && i < kNamed; ++i) {
    const size_t row = rows[i];
    const std::string cause = CauseText(roofline, row);
    const double share = MatrixShare(rooflines, row), peak = roofline.Real(row, "peak_tflops");
    const double tflops =
        roofline.Real(row, "tflops") * roofline.Real(row, "device_ns") / roofline.Real(row, "matrix_ns");
    all.push_back({.text = StrCat(roofline.Text(row, "operator"), SizeText(roofline, row), " (",
                                  roofline.Text(row, "dtype"), "): ", ledger.CostText(roofline.Int(row, "matrix_ns")),
                                  " at ", FormatPercent(share), " of the roofline, ", FormatNumber(tflops, 1), " of ",
                                  FormatNumber(peak, 0), " TFLOP/s", cause.empty() ? "" : StrCat("; ", cause)),
                   .value = share,
                   .unit = "share",
                   .table = "gpu_op",
                   .rows = IdsOf(roofline, {row}, "gpu_op_id"),
                   .source = TextOr(roofline, row, "source_line", "")});
  }
  return all;
}

// Advice for what takes at least a tenth of the time; attention first where it is the longest.
std::vector<Recommendation> Recommend(const RooflineRows& roofline, const std::vector<size_t>& rows, int64_t time_ns) {
  std::vector<Recommendation> all;
  bool unaligned = false, conv = false, small = false, attention = false;
  for (const size_t row : rows) {
    if (10 * roofline.Int(row, "matrix_ns") < time_ns && row != rows[0]) continue;
    unaligned |= !UnalignedText(roofline, row).empty();
    conv |= roofline.Text(row, "kind") == "conv", attention |= roofline.Text(row, "kind") == "attention";
    constexpr double kFewTiles = 4;  // the last, unfinished round of blocks is then a fifth of the time or more
    small |= !roofline.IsNull(row, "tiles_per_sm") && roofline.Real(row, "tiles_per_sm") < kFewTiles;
  }
  if (unaligned)
    all.push_back(
        {"pad channels, features and the vocabulary to multiples of 64 (at least 8): matrix units work on "
         "whole tiles",
         "", "vocab_size = (vocab_size + 63) // 64 * 64", "hours"});
  if (attention)
    all.push_back(
        {"try another kernel for attention: which backend is fastest depends on GPU, head size and length",
         fixes::kSdpa.Item(),
         "with torch.nn.attention.sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION]):", "minutes"});
  if (conv)
    all.push_back({"keep convolutions in channels_last, the layout that matrix units read", fixes::kChannelsLast.Item(),
                   "model = model.to(memory_format=torch.channels_last)", "minutes"});
  if (small)
    all.push_back(
        {"give each matrix product more rows: a larger batch, or one product for all layers that share an input", "",
         "", "hours"});
  all.push_back({"let the compiler search for better kernels", fixes::kCompile.Item(),
                 "model = torch.compile(model, mode=\"max-autotune\")", "minutes"});
  const auto first = std::find_if(all.begin(), all.end(), [](const Recommendation& recommendation) {
    return recommendation.fix == fixes::kSdpa.name;
  });
  if (roofline.Text(rows[0], "kind") == "attention" && first != all.end()) std::rotate(all.begin(), first, first + 1);
  return all;
}

Gain GainOf(const Rooflines& rooflines, const std::vector<size_t>& rows, const LedgerView& ledger) {
  double time = 0, to_good = 0, to_tuned = 0;
  for (const size_t row : rows) {
    const double ns = rooflines.table.Real(row, "matrix_ns"), share = MatrixShare(rooflines, row);
    time += ns, to_good += ns * (1 - share / kWellUsedShare), to_tuned += ns * (1 - share / kTuned);
  }
  return EstimateGain({.wall_ns = ledger.total.wall_ns,
                       .low_ns = 0.1 * time,
                       .expected_ns = 0.5 * to_good,
                       .high_ns = to_tuned,
                       .confidence = 0.4});
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const LedgerView& ledger = ReadLedger(tables);
  const Rooflines rooflines(tables);
  const RooflineRows& roofline = rooflines.table;
  const std::vector<size_t> rows = SlowRows(rooflines);
  int64_t time_ns = 0;
  double least_ns = 0;
  for (const size_t row : rows)
    time_ns += roofline.Int(row, "matrix_ns"),
        least_ns += roofline.Real(row, "matrix_ns") * MatrixShare(rooflines, row);
  const double share = ledger.Share(time_ns);
  if (share < kLowMatrixEfficiencyTime) return std::vector<Bottleneck>{};
  Bottleneck found;
  found.share_of_step = share;
  found.title = StrCat("matrix units run at ", FormatPercent(least_ns / static_cast<double>(time_ns)),
                       " of their roofline for ", ledger.CostText(time_ns));
  found.description =
      StrCat("Products, convolutions and attention on the matrix units that reach less than ",
             FormatPercent(kBadlyUsedShare), " of their roofline take ", FormatPercent(share), " of the time.");
  found.evidence = EvidenceOf(rooflines, rows, ledger);
  found.recommendations = Recommend(roofline, rows, time_ns);
  found.gain = GainOf(rooflines, rows, ledger);
  return std::vector{std::move(found)};
}

}  // namespace

RULE(low_matrix_efficiency) = {
    .id = "low_matrix_efficiency",
    .type = BottleneckType::kKernelEfficiency,
    .title = "Matrix units are used far below their peak",
    .why =
        "Time of products, convolutions and attention on matrix units that reach less than 40 % of their roofline: "
        "FLOPs and bytes from the shapes of the inputs, against the data sheet of the GPU (below 40 % is critical; of "
        "AMD's stated peaks 54 % count, what AMD says products reach). The products of attention that is not fused "
        "have a rule of their own. Layout changes that a library adds do not count. Reported at 5 % of the analysed "
        "time or more. Operators whose calls take less than 10 µs are left out, and so are kernels whose shapes, GPU "
        "or units are not known.",
    .saves = "1/10 of it; half of what reaching 60 % of the roofline brings; what reaching 80 % brings",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::low_matrix_efficiency_rule
