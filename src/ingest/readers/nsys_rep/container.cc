// SPDX-License-Identifier: Apache-2.0
// Every length in the file is held to what is around it, and memory to what a report needs: blocks unpack to about a
// megabyte each, the block of texts to a few hundred at most.
#include "ingest/readers/nsys_rep/container.h"

#include <lz4.h>

#include <algorithm>

#include "base/strings.h"
#include "base/wire_format.h"

namespace gapless::internal::nsys_rep {
namespace {

constexpr std::string_view kEnd = "U3w[END]", kEventsMagic = "QDTEXT00";
constexpr std::string_view kEvents = "Raw Sampling Data", kOffsets = "Sampling Data Offsets";
constexpr uint64_t kTailBytes = 16;  // the place of the directory, and kEnd
constexpr uint64_t kMostOfBlock = uint64_t{64} << 20, kMostOfTexts = uint64_t{512} << 20;
constexpr uint64_t kMostOfMessage = uint64_t{256} << 20;
constexpr uint64_t kMaxExpansion = 255;  // ratio of LZ4: a byte of a length stands for 255
constexpr uint64_t kLongestVarint = 10;

uint64_t NumberAt(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t at = 0; at < 8; ++at) number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at])) << (8 * at);
  return number;
}

// "2025.1.3.140-251335620677v0" of "2025@1@3@140-251335620677v0."; older ones say only "1".
std::string VersionIn(std::string_view head) {
  std::string version(head.substr(kMagic.size()));
  version.resize(std::min(version.find('.'), version.size()));
  std::ranges::replace(version, '@', '.');
  return version;
}

}  // namespace

Unexpected Refuse(const std::string& path, std::string why) {
  return Fail(ErrorCode::kInput, StrCat("cannot read this report of Nsight Systems: ", why), path,
              StrCat("where nsys is installed: nsys export --type sqlite --output report.sqlite ", ShellWord(path),
                     "; then give report.sqlite"));
}

Result<std::unique_ptr<Container>> Container::Open(Source& source) {
  std::unique_ptr<Container> report(new Container);
  report->path_ = source.path();
  GAPLESS_ASSIGN(report->input_, RandomAccess::Open(source, kMagic));
  GAPLESS_TRY(report->ReadDirectory());
  GAPLESS_TRY(report->ReadSection("UI Data", report->ui_data));
  GAPLESS_TRY(report->ReadSection("Time Conversion Data", report->time_conversions));
  GAPLESS_ASSIGN(const uint64_t texts, report->PlaceOfTexts());
  const Section& events = report->sections_.find(kEvents)->second;
  std::string magic;
  if (!report->input_->Read(events.offset, std::min<uint64_t>(kEventsMagic.size(), events.size), magic) ||
      magic != kEventsMagic)
    return Refuse(report->path_, StrCat("its events begin with ", Printable(magic), ", not with ", kEventsMagic));
  report->end_ = events.offset + events.size;
  report->next_ = events.offset + kEventsMagic.size();
  if (texts > events.size - kEventsMagic.size())
    return Refuse(report->path_, "the place of its texts is not within its events");
  report->texts_at_ = report->next_ + texts;
  GAPLESS_TRY(report->ReadMessage(report->next_, report->session));
  GAPLESS_TRY(report->ReadMessage(report->next_, report->index));
  if (report->next_ > report->texts_at_) return Refuse(report->path_, "its header reaches into its texts");
  GAPLESS_ASSIGN(const Block block, report->BlockAt(report->texts_at_, report->end_, kMostOfTexts));
  std::string stored, unpacked;
  std::string_view message;
  GAPLESS_TRY(report->Unpack(block, stored, unpacked, message));
  unpacked.erase(0, static_cast<size_t>(message.data() - unpacked.data()));
  report->texts = std::move(unpacked);
  uint64_t after = block.offset + block.stored;
  GAPLESS_TRY(report->ReadMessage(after, report->threads));
  GAPLESS_TRY(report->ReadMessage(after, report->target));
  return report;
}

// The last 16 bytes say where the directory is, which ends before them.
Result<void> Container::ReadDirectory() {
  std::string head, tail, directory;
  const uint64_t size = input_->size();
  if (size < kMagic.size() + kTailBytes || !input_->Read(size - kTailBytes, kTailBytes, tail) || !tail.ends_with(kEnd))
    return Refuse(path_, StrCat("it was cut off: it does not end with ", kEnd));
  if (!input_->Read(0, std::min<uint64_t>(size, 128), head) || !head.starts_with(kMagic))
    return Refuse(path_, "it does not begin as one");
  header_version_ = VersionIn(head);
  const uint64_t at = NumberAt(tail), end = size - kTailBytes;
  if (at > end || end - at > kMostOfMessage || !input_->Read(at, end - at, directory))
    return Refuse(path_, "its directory is not where its end says");
  WireReader entries(directory);
  while (entries.Next()) {
    if (entries.number() != 1 || !entries.is_bytes()) continue;
    std::string name;
    Section section;
    WireReader entry(entries.bytes());
    while (entry.Next()) {
      if (entry.number() == 1) name = entry.bytes();
      if (entry.number() == 2) section.offset = entry.Unsigned();
      if (entry.number() == 3) section.size = entry.Unsigned();
    }
    if (entry.damaged() || section.offset > size || section.size > size - section.offset)
      return Refuse(path_, StrCat("the section ", Printable(name), " leaves the file"));
    sections_.insert_or_assign(name, section);
  }
  if (entries.damaged()) return Refuse(path_, "its directory is damaged");
  for (const std::string_view needed : {kEvents, kOffsets})
    if (!sections_.contains(needed)) return Refuse(path_, StrCat("it has no section ", needed));
  return {};
}

// A section that is not there is empty.
Result<void> Container::ReadSection(std::string_view name, std::string& bytes) {
  const auto section = sections_.find(name);
  if (section == sections_.end()) return {};
  if (section->second.size > kMostOfMessage || !input_->Read(section->second.offset, section->second.size, bytes))
    return Refuse(path_, StrCat("its section ", name, " cannot be read"));
  return {};
}

// Returns where the block of texts is, counted from behind the magic of the events.
Result<uint64_t> Container::PlaceOfTexts() {
  std::string offsets, codec;
  GAPLESS_TRY(ReadSection(kOffsets, offsets));
  std::optional<uint64_t> texts;
  WireReader fields(offsets);
  while (fields.Next()) {
    if (fields.number() == 1) codec = fields.bytes();
    if (fields.number() == 2) texts = fields.Unsigned();
  }
  if (fields.damaged() || !texts) return Refuse(path_, StrCat("its section ", kOffsets, " is damaged"));
  if (codec != "lz4") return Refuse(path_, StrCat("its blocks are compressed by ", Printable(codec), ", not by lz4"));
  return *texts;
}

// Reads a length and a message of that length, and moves `offset` behind it.
Result<void> Container::ReadMessage(uint64_t& offset, std::string& message) {
  std::string head;
  uint64_t size = 0;
  if (!input_->Read(offset, std::min(kLongestVarint, end_ - offset), head))
    return Refuse(path_, "a message of its header cannot be read");
  std::string_view rest = head;
  if (!TakeVarint(rest, size) || size > kMostOfMessage || size > end_ - offset - (head.size() - rest.size()))
    return Refuse(path_, StrCat("a message of its header, at byte ", offset, ", is longer than its section"));
  offset += head.size() - rest.size();
  if (!input_->Read(offset, size, message)) return Refuse(path_, "a message of its header cannot be read");
  offset += size;
  return {};
}

Result<Container::Block> Container::BlockAt(uint64_t offset, uint64_t end, uint64_t most) const {
  std::string head;
  Block block{.offset = offset};
  if (!input_->Read(offset, std::min(2 * kLongestVarint, end - offset), head))
    return Refuse(path_, StrCat("the block at byte ", offset, " cannot be read"));
  std::string_view rest = head;
  if (!TakeVarint(rest, block.stored) || !TakeVarint(rest, block.unpacked) ||
      block.stored > end - offset - (head.size() - rest.size()))
    return Refuse(path_, StrCat("the block at byte ", offset, " is longer than its section"));
  if (block.unpacked > most || block.unpacked > block.stored * kMaxExpansion)
    return Refuse(path_, StrCat("the block at byte ", offset, " says that it unpacks to ", block.unpacked, " bytes"));
  block.offset += head.size() - rest.size();
  return block;
}

Result<std::optional<Container::Block>> Container::NextBlock() {
  const std::lock_guard lock(mutex_);
  if (next_ >= texts_at_) return std::optional<Block>();
  GAPLESS_ASSIGN(Block block, BlockAt(next_, texts_at_, kMostOfBlock));
  next_ = block.offset + block.stored;
  block.order = order_++;
  return std::optional(block);
}

// Unpacks a block, which holds one message with its length before it.
Result<void> Container::Unpack(const Block& block, std::string& stored, std::string& unpacked,
                               std::string_view& message) const {
  if (!input_->Read(block.offset, block.stored, stored))
    return Refuse(path_, StrCat("the block at byte ", block.offset, " cannot be read"));
  unpacked.resize(block.unpacked);
  const int size = LZ4_decompress_safe(stored.data(), unpacked.data(), static_cast<int>(stored.size()),
                                       static_cast<int>(unpacked.size()));
  std::string_view rest = unpacked;
  if (size < 0 || static_cast<uint64_t>(size) != block.unpacked || !TakeMessage(rest, message) || !rest.empty())
    return Refuse(path_, StrCat("the block at byte ", block.offset, " is damaged"));
  return {};
}

}  // namespace gapless::internal::nsys_rep
