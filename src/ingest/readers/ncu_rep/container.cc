// SPDX-License-Identifier: Apache-2.0
// Each length is held to what is around it, so that a damaged one costs its block at most. Code and sources are passed
// over where they lie: of a report of gigabytes only the results are read.
#include "ingest/readers/ncu_rep/container.h"

#include <algorithm>

#include "base/strings.h"
#include "base/wire_format.h"

namespace gapless::internal::ncu_rep {
namespace {

constexpr uint64_t kSizeBytes = 4;
constexpr uint64_t kMostOfHeader = uint64_t{256} << 20, kMostOfMessage = uint64_t{1} << 30;

// Takes pid and path of a message about a process.
bool TakeProcess(std::string_view message, Block& block) {
  WireReader fields(message);
  while (fields.Next()) {
    if (fields.number() == 1 && !fields.is_bytes()) block.pid = fields.Int();
    if (fields.number() == 3 && fields.is_bytes()) block.process = fields.bytes();
  }
  return !fields.damaged();
}

bool TakeNames(std::string_view message, Block& block) {
  WireReader fields(message);
  while (fields.Next())
    if (fields.number() == 1 && fields.is_bytes()) block.names.emplace_back(fields.bytes());
  return !fields.damaged();
}

}  // namespace

Unexpected Refuse(const std::string& path, std::string why) {
  return Fail(ErrorCode::kInput, StrCat("cannot read this report of Nsight Compute: ", why), path,
              StrCat("where ncu is installed: ncu --import ", ShellWord(path),
                     " --csv --page raw > kernels.ncu.csv; then give kernels.ncu.csv"));
}

Result<std::unique_ptr<Container>> Container::Open(Source& source) {
  std::unique_ptr<Container> report(new Container);
  report->path_ = source.path();
  GAPLESS_ASSIGN(report->input_, RandomAccess::Open(source, kMagic));
  std::string head;
  if (!report->input_->Read(0, kMagic.size(), head) || head != kMagic)
    return Refuse(report->path_, StrCat("it begins with \"", Printable(head), "\", not with \"NVR\""));
  report->at_ = kMagic.size();
  uint64_t size = 0, version = 0;
  if (!report->TakeSize(report->input_->size(), size) || !report->input_->Read(report->at_, size, head))
    return Refuse(report->path_, "it was cut off in its beginning");
  WireReader fields(head);
  while (fields.Next())
    if (fields.number() == 1 && !fields.is_bytes()) version = fields.Unsigned();
  if (fields.damaged()) return Refuse(report->path_, "its beginning is damaged");
  if (version != kKnownVersion)
    return Refuse(report->path_,
                  StrCat("version ", version, " of its container is not known; version ", kKnownVersion, " is"));
  report->at_ += size;
  return report;
}

// Takes the four bytes of a size at at_, which must fit before `end`.
bool Container::TakeSize(uint64_t end, uint64_t& size) {
  std::string bytes;
  if (end < at_ || end - at_ < kSizeBytes || !input_->Read(at_, kSizeBytes, bytes)) return false;
  size = 0;
  for (size_t i = 0; i < kSizeBytes; ++i) size |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  if (size > std::min(end - at_ - kSizeBytes, kMostOfMessage)) return false;
  at_ += kSizeBytes;
  return true;
}

bool Container::TakeHeader(std::string_view header, Block& block) {
  WireReader fields(header);
  bool whole = true;
  while (fields.Next()) {
    const bool bytes = fields.is_bytes();
    switch (fields.number()) {
      case 1: block.sources = fields.Unsigned(); break;
      case 2: block.results = fields.Unsigned(); break;
      case 3:
        if (bytes) block.session.emplace_back(fields.bytes());
        break;
      case 4: whole = whole && TakeNames(fields.bytes(), block); break;
      case 5: block.size = fields.Unsigned(); break;
      case 6: whole = whole && TakeProcess(fields.bytes(), block); break;
      case 7:
      case 8:
      case 9: block.other += std::min<uint64_t>(fields.Unsigned(), UINT32_MAX); break;
      default: break;
    }
  }
  return whole && !fields.damaged();
}

Container::Found Container::Next(Block& block) {
  block = {.offset = at_};
  if (at_ == input_->size()) return Found::kEnd;
  uint64_t size = 0;
  std::string header;
  if (!TakeSize(input_->size(), size) || size > kMostOfHeader || !input_->Read(at_, size, header))
    return Found::kCutOff;
  if (!TakeHeader(header, block)) return Found::kDamaged;
  at_ += size;
  block.payload = message_ = at_;
  const uint64_t rest = input_->size() - at_;
  end_ = at_ + std::min(block.size, rest);
  at_ = block.size > rest ? UINT64_MAX : end_;
  return Found::kBlock;
}

bool Container::Skip(Piece* piece) {
  const uint64_t after = at_;
  at_ = message_;
  uint64_t size = 0;
  const bool there = TakeSize(end_, size);
  if (piece != nullptr) *piece = {at_, size};
  message_ = at_ + (there ? size : 0);
  at_ = after;
  return there;
}

bool Container::Read(std::string& message) {
  Piece piece;
  return Skip(&piece) && ReadAt(piece, message);
}

}  // namespace gapless::internal::ncu_rep
