// SPDX-License-Identifier: Apache-2.0
// Reads tar archives (POSIX ustar, pax and GNU long names) as a stream of members: 512-byte headers, each followed
// by the member's bytes padded to 512.
// https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
//
// An archive is never unpacked to disk. The current member is read as the archive streams by, and what was read of its
// first megabyte is kept, so that a reader can begin again after its format was recognised. Opening a member again
// later walks the archive anew, O(its offset). A wrong checksum of a header ends the walk with an error:
// nothing says where the next header would be. Only regular files are members; links and devices are skipped.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/strings.h"
#include "ingest/source.h"

namespace gapless::internal {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kMaxName = 1 << 16;
constexpr size_t kMaxKept = size_t{1} << 20;  // bytes of a member that are kept for another opening
using Header = std::array<char, kBlock>;

// Returns a number of a header: octal text, or big-endian binary when the first bit is set (GNU's form for sizes
// over 8 GiB).
uint64_t Number(const char* field, size_t size) {
  uint64_t value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (size_t i = 1; i < size; ++i) value = value << 8 | static_cast<unsigned char>(field[i]);
    return value;
  }
  for (size_t i = 0; i < size; ++i)
    if (field[i] >= '0' && field[i] <= '7') value = value * 8 + static_cast<uint64_t>(field[i] - '0');
  return value;
}

bool ChecksumFits(const Header& header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  return sum == Number(header.data() + 148, 8);
}

std::string Text(const char* field, size_t size) { return {field, strnlen(field, size)}; }

// Returns the value of `key` among the "LEN key=value\n" records of a pax header, or "". Stops at a record whose
// length cannot be.
std::string PaxValue(std::string_view records, std::string_view key) {
  while (!records.empty()) {
    size_t length = 0, digits = 0;
    while (digits < records.size() && records[digits] >= '0' && records[digits] <= '9')
      length = length * 10 + static_cast<size_t>(records[digits++] - '0');
    if (length <= digits + 1 || length > records.size()) return {};
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    if (record.starts_with(key) && record.size() > key.size() && record[key.size()] == '=')
      return std::string(record.substr(key.size() + 1));
    records.remove_prefix(length);
  }
  return {};
}

struct Member {
  std::string name;
  uint64_t size = 0;
  bool regular = false;
};

// A TarCursor walks an archive forward. Going to the next member skips what was not read of the current one.
class TarCursor {
 public:
  TarCursor(std::unique_ptr<ByteStream> stream, std::string path)
      : stream_(std::move(stream)), path_(std::move(path)) {}

  // Goes to the next member; false at the end of the archive.
  Result<bool> Next() {
    std::string long_name;
    uint64_t long_size = 0;
    bool has_long_size = false;
    while (true) {
      GAPLESS_TRY(Skip(left_ + padding_));
      Header header{};
      GAPLESS_ASSIGN(auto whole, Fill(header.data(), kBlock));
      if (whole == 0 || header[0] == 0) return false;
      if (whole < kBlock || !ChecksumFits(header))
        return Fail(ErrorCode::kInput, "the archive is cut off or damaged", path_);
      const char type = header[156];
      const uint64_t size = Number(header.data() + 124, 12);
      SetLeft(size);
      if (type == 'L' || type == 'x') {
        GAPLESS_ASSIGN(auto extra, TakeText());
        if (type == 'L')
          long_name = Text(extra.data(), extra.size());
        else if (auto path = PaxValue(extra, "path"); !path.empty())
          long_name = path;
        if (const auto given = type == 'x' ? PaxValue(extra, "size") : ""; !given.empty())
          long_size = std::strtoull(given.c_str(), nullptr, 10), has_long_size = true;
        continue;
      }
      if (has_long_size) SetLeft(long_size);
      const std::string prefix =
          std::memcmp(header.data() + 257, "ustar", 5) == 0 ? Text(header.data() + 345, 155) : "";
      member_.name = !long_name.empty() ? long_name
                     : prefix.empty()   ? Text(header.data(), 100)
                                        : prefix + "/" + Text(header.data(), 100);
      member_.size = left_;
      member_.regular = type == '0' || type == 0 || type == '7';
      ++index_;
      return true;
    }
  }

  const Member& member() const { return member_; }
  int index() const { return index_; }
  // Bytes that were read of the current member.
  uint64_t taken() const { return member_.size - left_; }

  // Bytes of the current member.
  Result<size_t> Read(char* out, size_t size) {
    auto got = Fill(out, static_cast<size_t>(std::min<uint64_t>(size, left_)));
    if (!got) return got;
    left_ -= *got;
    if (*got == 0 && left_ > 0 && size > 0)
      return Fail(ErrorCode::kInput, "the archive is cut off within this member", path_);
    return got;
  }

 private:
  void SetLeft(uint64_t size) {
    left_ = size;
    padding_ = (kBlock - size % kBlock) % kBlock;
  }
  Result<size_t> Fill(char* out, size_t size) {
    size_t done = 0;
    while (done < size) {
      auto got = stream_->Read(out + done, size - done);
      if (!got) return got;
      if (*got == 0) break;
      done += *got;
    }
    return done;
  }
  Result<void> Skip(uint64_t count) {
    std::vector<char> sink(size_t{64} * 1024);
    while (count > 0) {
      GAPLESS_ASSIGN(auto got, Fill(sink.data(), static_cast<size_t>(std::min<uint64_t>(count, sink.size()))));
      if (got == 0) break;
      count -= got;
    }
    left_ = padding_ = 0;
    return {};
  }
  Result<std::string> TakeText() {
    if (left_ > kMaxName) return Fail(ErrorCode::kInput, "the archive has a member name that is too long", path_);
    std::string text(static_cast<size_t>(left_), '\0');
    GAPLESS_TRY(Fill(text.data(), text.size()));
    left_ = 0;
    return text;
  }

  std::unique_ptr<ByteStream> stream_;
  std::string path_;
  Member member_;
  uint64_t left_ = 0, padding_ = 0;
  int index_ = -1;
};

// Reads a member from its beginning: first what is kept of it, then on from the cursor.
class MemberStream : public ByteStream {
 public:
  MemberStream(std::shared_ptr<TarCursor> cursor, std::shared_ptr<std::string> kept, std::string path)
      : cursor_(std::move(cursor)), kept_(std::move(kept)), path_(std::move(path)) {}

  Result<size_t> Read(char* out, size_t size) override {
    if (place_ < kept_->size()) {
      const size_t count = kept_->copy(out, size, static_cast<size_t>(place_));
      place_ += count;
      return count;
    }
    if (cursor_->taken() != place_)
      return Fail(ErrorCode::kInput, "two streams read one member of an archive at once", path_);
    auto got = cursor_->Read(out, size);
    if (!got) return got;
    if (kept_->size() == place_ && place_ + *got <= kMaxKept) kept_->append(out, *got);
    place_ += *got;
    return got;
  }

 private:
  std::shared_ptr<TarCursor> cursor_;
  std::shared_ptr<std::string> kept_;
  std::string path_;
  uint64_t place_ = 0;
};

// A MemberSource is one member. As long as all that was read of it is kept, another opening goes on with the cursor's
// stream; later ones decompress the archive anew up to the member.
class MemberSource : public Source {
 public:
  MemberSource(Source& archive, std::shared_ptr<TarCursor> cursor) : archive_(archive), cursor_(std::move(cursor)) {
    path_ = archive_.path() + "!/" + cursor_->member().name;
    stored_bytes_ = cursor_->member().size;
    index_ = cursor_->index();
  }
  Result<std::unique_ptr<ByteStream>> Open() override {
    if (cursor_->index() == index_ && cursor_->taken() == kept_->size())
      return std::unique_ptr<ByteStream>(std::make_unique<MemberStream>(cursor_, kept_, path_));
    GAPLESS_ASSIGN(auto stream, archive_.Open());
    auto again = std::make_shared<TarCursor>(std::move(stream), archive_.path());
    while (again->index() < index_) {
      GAPLESS_ASSIGN(auto more, again->Next());
      if (!more) return Fail(ErrorCode::kInput, "the archive changed while it was read", path_);
    }
    return std::unique_ptr<ByteStream>(
        std::make_unique<MemberStream>(std::move(again), std::make_shared<std::string>(), path_));
  }

 private:
  Source& archive_;
  std::shared_ptr<TarCursor> cursor_;
  std::shared_ptr<std::string> kept_ = std::make_shared<std::string>();
  int index_ = 0;
};

}  // namespace

bool IsTar(Source& source) {
  auto stream = source.Open();
  if (!stream) return false;
  Header header{};
  auto got = (*stream)->Read(header.data(), kBlock);
  return got && *got == kBlock && header[0] != 0 && ChecksumFits(header);
}

Result<void> ForEachTarMember(Source& archive, const std::function<void(Source&)>& visit) {
  GAPLESS_ASSIGN(auto stream, archive.Open());
  const auto cursor = std::make_shared<TarCursor>(std::move(stream), archive.path());
  while (true) {
    GAPLESS_ASSIGN(auto more, cursor->Next());
    if (!more) return {};
    if (!cursor->member().regular) continue;
    MemberSource member(archive, cursor);
    visit(member);
  }
}

}  // namespace gapless::internal
