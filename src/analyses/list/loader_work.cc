// SPDX-License-Identifier: Apache-2.0
// Splits the time that a process spends inside its own data loader by the kind of work: reading files, decoding,
// transforming, tokenizing, collating.
//
// Each slice inside a wait for a batch adds its self time to the kind that its name gives; a name that gives none takes
// the kind of its parent. Example: a frame of torchvision/transforms that calls the built-in resize of an image is a
// transform, and so is the resize. The Python functions are known where stacks were recorded, and only of loaders
// without workers: the work of other processes is not in the recording. Linear in the slices.
#include "analyses/rows/loader_work.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyses/analysis.h"
#include "analyses/columns.h"
#include "analyses/surroundings.h"

namespace gapless::internal::loader_work_analysis {
namespace {

enum class Work : uint8_t { kOther, kRead, kDecode, kTransform, kTokenize, kCollate };
constexpr std::array<std::string_view, 6> kWorkNames = {"other", "read", "decode", "transform", "tokenize", "collate"};

struct Sign {
  std::string_view part;  // a part of a slice's name
  Work work;
  std::string_view library;  // as people call it; "": not known
};
// The first sign that fits decides: what is special comes before what is general. OpenCV's functions are built-in ones
// without a module in their names; others that are called the same are Python functions, with their file.
constexpr Sign kSigns[] = {
    {"ImagingDecoder", Work::kDecode, "PIL"},
    {"ImagePlugin.py", Work::kDecode, "PIL"},
    {"PIL/ImageFile.py", Work::kDecode, "PIL"},
    {"<built-in function imread>", Work::kDecode, "OpenCV"},
    {"<built-in function imdecode>", Work::kDecode, "OpenCV"},
    {"imageio/", Work::kDecode, "imageio"},
    {"skimage/io/", Work::kDecode, "scikit-image"},
    {"tifffile", Work::kDecode, "tifffile"},
    {"turbojpeg.py", Work::kDecode, "PyTurboJPEG"},
    {"imread", Work::kDecode, ""},
    {"imdecode", Work::kDecode, ""},
    {"decode_image", Work::kDecode, "torchvision"},
    {"decode_jpeg", Work::kDecode, "torchvision"},
    {"decode_png", Work::kDecode, "torchvision"},
    {"read_image", Work::kDecode, "torchvision"},
    {"torchcodec/", Work::kDecode, "TorchCodec"},
    {"decord/", Work::kDecode, "decord"},
    {"soundfile.py", Work::kDecode, "soundfile"},
    {"librosa/core/audio.py", Work::kDecode, "librosa"},
    {"torchvision/transforms/", Work::kTransform, "torchvision"},
    {"albumentations/", Work::kTransform, "albumentations"},
    {"kornia/", Work::kTransform, "kornia"},
    {"imgaug/", Work::kTransform, "imgaug"},
    {"monai/transforms/", Work::kTransform, "MONAI"},
    {"torchaudio/transforms/", Work::kTransform, "torchaudio"},
    {"timm/data/", Work::kTransform, "timm"},
    {"ImagingCore", Work::kTransform, "PIL"},
    {"PIL/ImageEnhance.py", Work::kTransform, "PIL"},
    {"PIL/ImageOps.py", Work::kTransform, "PIL"},
    {"tokenization_", Work::kTokenize, "transformers"},
    {"tokenizers", Work::kTokenize, "tokenizers"},
    {"tiktoken/", Work::kTokenize, "tiktoken"},
    {"sentencepiece/", Work::kTokenize, "sentencepiece"},
    {"data/_utils/collate.py", Work::kCollate, ""},
    {"data/data_collator.py", Work::kCollate, ""},
    {"<built-in function open>", Work::kRead, ""},
    {"of _io.", Work::kRead, ""},
    {"npyio", Work::kRead, "NumPy"},
    {"h5py/", Work::kRead, "h5py"},
    {"lmdb", Work::kRead, "LMDB"},
    {"pandas/io/", Work::kRead, "pandas"},
    {"pyarrow/", Work::kRead, "PyArrow"},
};
constexpr size_t kNoSign = std::size(kSigns);

// Returns the place of the first sign that fits the name; kNoSign: none does.
size_t SignOf(std::string_view name) {
  const auto fits = [&](const Sign& sign) { return name.find(sign.part) != name.npos; };
  return static_cast<size_t>(std::find_if(std::begin(kSigns), std::end(kSigns), fits) - std::begin(kSigns));
}

struct Sum {
  int64_t self_ns = 0;
  std::vector<int64_t> by_name{};  // by StringId
  std::map<std::string_view, int64_t> by_library{};
};
using Sums = std::array<Sum, kWorkNames.size()>;

Sums SumUp(const TraceTimeline& timeline, const std::vector<uint8_t>& around) {
  const Trace& trace = timeline.trace();
  const SliceTable& slices = trace.slices;
  std::vector<uint8_t> by_name(trace.strings.size(), UINT8_MAX), signs(slices.size(), kNoSign);
  Sums sums;
  const RowRange rows = RowsWithin(slices.ts_ns, timeline.window.host);
  for (auto row = static_cast<uint32_t>(rows.first); row < rows.last; ++row) {
    if ((around[row] & kInLoader) == 0) continue;
    const auto name = static_cast<uint32_t>(slices.name[row]);
    if (by_name[name] == UINT8_MAX) by_name[name] = static_cast<uint8_t>(SignOf(trace.Text(slices.name[row])));
    const SliceId parent = slices.parent[row];
    signs[row] = by_name[name] == kNoSign && parent.valid() ? signs[parent.value] : by_name[name];
    const bool is_known = signs[row] < kNoSign;
    Sum& sum = sums[is_known ? static_cast<size_t>(kSigns[signs[row]].work) : 0];
    sum.self_ns += slices.self_ns[row];
    if (sum.by_name.empty()) sum.by_name.resize(trace.strings.size());
    sum.by_name[name] += slices.self_ns[row];
    if (is_known && !kSigns[signs[row]].library.empty())
      sum.by_library[kSigns[signs[row]].library] += slices.self_ns[row];
  }
  return sums;
}

std::string_view LibraryOf(const Sum& sum) {
  const auto most = std::ranges::max_element(sum.by_library, {}, [](const auto& entry) { return entry.second; });
  return most == sum.by_library.end() ? std::string_view() : most->first;
}

void AddRows(const TraceTimeline& timeline, Tables& tables, TableOf<LoaderWorkRows>& table) {
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
    table.Row(*timeline.of)
        .Set("kind", kWorkNames[kind])
        .Set("self_ns", sums[kind].self_ns)
        .Set("share", ShareOf(sums[kind].self_ns, total_ns))
        .Set("library", LibraryOf(sums[kind]))
        .Set("function", timeline.trace().Text(name));
  }
}

Result<Table> Compute(const Run&, Tables& tables) {
  TableOf<LoaderWorkRows> table;
  for (const TraceTimeline& timeline : tables.Timelines()) AddRows(timeline, tables, table);
  return table;
}

}  // namespace

ANALYSIS(loader_work) = AnalysisOf<LoaderWorkRows>({.run = Compute});

}  // namespace gapless::internal::loader_work_analysis
