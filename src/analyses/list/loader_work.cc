// SPDX-License-Identifier: Apache-2.0
// Splits the time that a process spends inside its own data loader by the kind of work: reading files, decoding,
// transforming, tokenizing, collating.
//
// Each slice inside a wait for a batch adds its self time to the kind that its name gives; a name that gives none takes
// the kind of its parent. Example: a frame of torchvision/transforms that calls the built-in resize of an image is a
// transform, and so is the resize. The Python functions are known where stacks were recorded, and only of loaders
// without workers: the work of other processes is not in the recording. Linear in the slices.
#include "analyses/rows/loader_work.h"

#include <array>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/surroundings.h"

namespace gapless::internal {
namespace {

enum class Work : uint8_t { kOther, kRead, kDecode, kTransform, kTokenize, kCollate };
constexpr std::array<std::string_view, 6> kWorkNames = {"other", "read", "decode", "transform", "tokenize", "collate"};

struct Sign {
  std::string_view part;  // a part of a slice's name
  Work work;
};
// The first sign that fits decides: what is special comes before what is general.
constexpr Sign kSigns[] = {
    {"ImagingDecoder", Work::kDecode},
    {"ImagePlugin.py", Work::kDecode},
    {"PIL/ImageFile.py", Work::kDecode},
    {"imread", Work::kDecode},
    {"imdecode", Work::kDecode},
    {"decode_image", Work::kDecode},
    {"decode_jpeg", Work::kDecode},
    {"decode_png", Work::kDecode},
    {"read_image", Work::kDecode},
    {"torchcodec/", Work::kDecode},
    {"decord/", Work::kDecode},
    {"soundfile.py", Work::kDecode},
    {"librosa/core/audio.py", Work::kDecode},
    {"torchvision/transforms/", Work::kTransform},
    {"albumentations/", Work::kTransform},
    {"kornia/", Work::kTransform},
    {"imgaug/", Work::kTransform},
    {"monai/transforms/", Work::kTransform},
    {"torchaudio/transforms/", Work::kTransform},
    {"timm/data/", Work::kTransform},
    {"ImagingCore", Work::kTransform},
    {"PIL/ImageEnhance.py", Work::kTransform},
    {"PIL/ImageOps.py", Work::kTransform},
    {"tokenization_", Work::kTokenize},
    {"tokenizers", Work::kTokenize},
    {"tiktoken/", Work::kTokenize},
    {"sentencepiece/", Work::kTokenize},
    {"data/_utils/collate.py", Work::kCollate},
    {"data/data_collator.py", Work::kCollate},
    {"<built-in function open>", Work::kRead},
    {"of _io.", Work::kRead},
    {"npyio", Work::kRead},
    {"h5py/", Work::kRead},
    {"lmdb", Work::kRead},
    {"pandas/io/", Work::kRead},
    {"pyarrow/", Work::kRead},
};

// Returns kOther for a name that no sign fits.
Work WorkOf(std::string_view name) {
  for (const Sign& sign : kSigns)
    if (name.find(sign.part) != name.npos) return sign.work;
  return Work::kOther;
}

struct Sum {
  int64_t self_ns = 0;
  std::vector<int64_t> by_name{};  // by StringId
};
using Sums = std::array<Sum, kWorkNames.size()>;

Sums SumUp(const TraceTimeline& timeline, const std::vector<uint8_t>& around) {
  const Trace& trace = timeline.trace();
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> by_name(trace.strings.size(), UINT8_MAX), work(slices.size());
  Sums sums;
  const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
  for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
    if ((around[row] & kInLoader) == 0) continue;
    const auto name = static_cast<uint32_t>(slices.name[row]);
    if (by_name[name] == UINT8_MAX) by_name[name] = static_cast<uint8_t>(WorkOf(trace.Text(slices.name[row])));
    const SliceId parent = slices.parent[row];
    work[row] = by_name[name] == 0 && parent.valid() ? work[parent.value] : by_name[name];
    Sum& sum = sums[work[row]];
    sum.self_ns += slices.self_ns[row];
    if (sum.by_name.empty()) sum.by_name.resize(trace.strings.size());
    sum.by_name[name] += slices.self_ns[row];
  }
  return sums;
}

void AddRows(const TraceTimeline& timeline, Tables& tables, Table& table) {
  const Sums sums = SumUp(timeline, tables.Once(timeline.trace(), Surroundings));
  int64_t total_ns = 0;
  for (const Sum& sum : sums) total_ns += sum.self_ns;
  if (total_ns == sums[0].self_ns) return;  // no function was recognised: the split says nothing
  std::vector<size_t> kinds;
  for (size_t kind = 0; kind < sums.size(); ++kind)
    if (sums[kind].self_ns > 0) kinds.push_back(kind);
  std::ranges::stable_sort(kinds, [&](size_t a, size_t b) { return sums[a].self_ns > sums[b].self_ns; });
  for (const size_t kind : kinds) {
    const auto longest = std::ranges::max_element(sums[kind].by_name);
    const auto name = static_cast<StringId>(longest - sums[kind].by_name.begin());
    BeginRow(table, *timeline.of)
        .Text(kWorkNames[kind])
        .Int(sums[kind].self_ns)
        .Real(ShareOf(sums[kind].self_ns, total_ns))
        .Text(timeline.trace().Text(name));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  Table table = EmptyTable<LoaderWorkRows>();
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(loader_work) = {
    .name = "loader_work",
    .help = "Time inside a loader without workers, by kind of work: reading, decoding, transforming",
    .columns = LoaderWorkRows::kColumns,
    .run = Compute};

}  // namespace gapless::internal
