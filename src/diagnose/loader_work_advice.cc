// SPDX-License-Identifier: Apache-2.0
// Maps each kind of data loading work to its advice, and adds the advice for the kinds with the most time.
#include "diagnose/loader_work_advice.h"

#include <string_view>

#include "analyses/rows/loader_work.h"
#include "base/strings.h"
#include "diagnose/evidence.h"

namespace gapless::internal {
namespace {

// A kind of work inside the loader is named from a quarter of its time: a cure then saves the step an eighth or more,
// where the loader takes half of it. Our own choice.
constexpr double kLoaderWorkShare = 0.25;

struct Cure {
  std::string_view kind;
  std::string_view words;  // names the kind in the evidence
  std::string_view text, code, effort;
};

constexpr Cure kCures[] = {
    {"decode", "decoding", "store the samples decoded and resized once, or decode them with a faster library", "",
     "hours"},
    {"read", "reading files",
     "read faster: keep the data set in memory (/dev/shm) or on a local disk, and pack small files into a few large "
     "ones "
     "(LMDB, HDF5, WebDataset)",
     "cp -r DATASET /dev/shm/  # where it fits into memory", "hours"},
    {"tokenize", "tokenizing", "tokenize once before the training, and store the tokens",
     "dataset = dataset.map(tokenize, batched=True, num_proc=4)", "minutes"},
    {"collate", "collating", "store samples as tensors of one size, so that collating a batch is a single copy", "",
     "hours"},
};
// Each decoder has its own faster replacement.
constexpr Cure kDecodeWithPil = {"decode", "decoding",
                                 "decode faster: torchvision.io.decode_image or PyTurboJPEG instead of PIL, or store "
                                 "the samples decoded and resized "
                                 "once",
                                 "image = torchvision.io.decode_image(torchvision.io.read_file(path))", "hours"};
constexpr Cure kDecodeWithOpenCv = {"decode", "decoding",
                                    "let OpenCV decode at half or a quarter of the size where the samples are made "
                                    "smaller anyway, or store them decoded "
                                    "and resized once",
                                    "image = cv2.imread(path, cv2.IMREAD_REDUCED_COLOR_2)", "hours"};
constexpr Cure kTransformOnHost = {
    "transform", "transforming",
    "make transforms cheaper: torchvision.transforms.v2 on uint8 tensors, resized once before the training",
    "v2.Compose([v2.RandomResizedCrop(224, antialias=True), v2.ToDtype(torch.float32, scale=True)])", "minutes"};
constexpr Cure kTransformOnGpu = {
    "transform", "transforming",
    "transform whole batches on the GPU: torchvision.transforms.v2 or kornia after the copy, or NVIDIA DALI as the "
    "loader",
    "batch = gpu_transforms(batch.to(device, non_blocking=True))  # v2.Compose([...]) of whole batches", "hours"};

const Cure* CureOf(std::string_view kind, std::string_view library, bool has_gpu) {
  if (kind == kTransformOnHost.kind) return has_gpu ? &kTransformOnGpu : &kTransformOnHost;
  if (kind == "decode" && library == "PIL") return &kDecodeWithPil;
  if (kind == "decode" && library == "OpenCV") return &kDecodeWithOpenCv;
  for (const Cure& cure : kCures)
    if (cure.kind == kind) return &cure;
  return nullptr;
}

}  // namespace

void AddLoaderWork(Tables& tables, bool has_gpu, Bottleneck& found) {
  const auto work = tables.Get<LoaderWorkRows>();
  std::string shares;
  for (size_t row = 0; row < work.rows() && work.Int(row, "trace") == work.Int(0, "trace"); ++row) {
    const std::string library = TextOr(work, row, "library", "");
    const Cure* const cure = CureOf(work.Text(row, "kind"), library, has_gpu);
    if (cure == nullptr) continue;
    const double share = work.Real(row, "share");
    const std::string words = library.empty() ? std::string(cure->words) : StrCat(cure->words, " with ", library);
    shares += StrCat(shares.empty() ? "" : ", ", words, " ", FormatPercent(share));
    if (share < kLoaderWorkShare) continue;
    found.recommendations.push_back(
        {StrCat(words, " takes ", FormatPercent(share), " of the loader's time: ", cure->text), "",
         std::string(cure->code), std::string(cure->effort)});
  }
  if (!shares.empty())
    found.evidence.push_back({.text = StrCat("inside the loader: ", shares), .table = "loader_work"});
}

}  // namespace gapless::internal
