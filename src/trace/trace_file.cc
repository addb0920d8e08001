// SPDX-License-Identifier: Apache-2.0
// Writes and maps the file of a trace.
//
// Writing takes one pass for the checksum and one for the data; opening reads the whole file once for the checksum, and
// the columns once more for the checks. A file that this process has just written is not checked.
#include "trace/trace_file.h"

#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "base/temporaries.h"
#include "trace/mapped_file.h"
#include "trace/trace_check.h"

namespace gapless::internal {
namespace {

constexpr uint64_t kMagic = 0x31534C5041470A01;  // "\x01\nGAPLS1"
// To be raised when the file's form changes, or readers give other values for the same input.
constexpr uint64_t kFormat = 11;
constexpr size_t kAlign = 64;

struct Header {
  uint64_t magic = kMagic, schema = 0, file_bytes = 0, contents_hash = 0, entries = 0;
};
struct Entry {
  uint64_t offset = 0, bytes = 0;
};

struct Block {
  const void* data;
  size_t bytes;
};

// Returns the facts of the trace as texts, each of which ends with a zero.
std::string InfoText(const TraceInfo& info) {
  std::string text;
  for (const std::string* field : {&info.path, &info.format, &info.host, &info.framework}) text += *field + '\0';
  for (const int64_t number : {info.rank, info.world_size, info.pid, info.origin_ns, info.start_unix_ns, info.dur_ns,
                               info.event_count, info.process_start_unix_ns, info.process_end_unix_ns})
    text += StrCat(number, '\0');
  return text;
}

bool ParseInfo(std::string_view text, TraceInfo& info) {
  const auto fields = Split(text, '\0');
  if (fields.size() != 14) return false;
  size_t at = 0;
  for (std::string* field : {&info.path, &info.format, &info.host, &info.framework}) *field = fields[at++];
  for (int64_t* number : {&info.rank, &info.world_size, &info.pid, &info.origin_ns, &info.start_unix_ns, &info.dur_ns,
                          &info.event_count, &info.process_start_unix_ns, &info.process_end_unix_ns}) {
    const std::string_view field = fields[at++];
    if (std::from_chars(field.data(), field.data() + field.size(), *number).ec != std::errc()) return false;
  }
  return true;
}

class FileWriter {
 public:
  explicit FileWriter(int fd) : fd_(fd) {}
  bool Write(const void* data, size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t put = write(fd_, from, std::min<size_t>(bytes, size_t{1} << 30));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      from += put;
      bytes -= static_cast<size_t>(put);
    }
    return true;
  }

 private:
  int fd_;
};

uint64_t FirstBlockAt(uint64_t entries) {
  return (sizeof(Header) + entries * sizeof(Entry) + kAlign - 1) / kAlign * kAlign;
}

// Hashes the directory and all blocks, without the padding.
class ContentsHash {
 public:
  ContentsHash() { XXH3_64bits_reset(&state_); }
  void Add(const void* data, size_t bytes) { XXH3_64bits_update(&state_, data, bytes); }
  uint64_t Value() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_{};
};

uint64_t Padded(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// The place of each block in the file.
std::vector<Entry> EntriesOf(const std::vector<Block>& blocks) {
  std::vector<Entry> entries;
  uint64_t offset = FirstBlockAt(blocks.size());
  for (const Block& block : blocks) {
    entries.push_back({offset, block.bytes});
    offset += Padded(block.bytes);
  }
  return entries;
}

// The header stands before the data, so the checksum is computed before anything is written.
bool WriteBlocks(int fd, const std::vector<Block>& blocks) {
  const std::vector<Entry> entries = EntriesOf(blocks);
  const uint64_t end = entries.back().offset + Padded(entries.back().bytes);
  Header header{.schema = TraceFileSchema(), .file_bytes = end, .entries = entries.size()};
  ContentsHash hash;
  hash.Add(entries.data(), entries.size() * sizeof(Entry));
  for (const Block& block : blocks) hash.Add(block.data, block.bytes);
  header.contents_hash = hash.Value();
  FileWriter writer(fd);
  static constexpr char kZeros[kAlign] = {};
  const auto pad = [&](uint64_t bytes) { return writer.Write(kZeros, (kAlign - bytes % kAlign) % kAlign); };
  bool good = writer.Write(&header, sizeof header) && writer.Write(entries.data(), entries.size() * sizeof(Entry)) &&
              pad(sizeof header + entries.size() * sizeof(Entry));
  for (const Block& block : blocks) good = good && writer.Write(block.data, block.bytes) && pad(block.bytes);
  return good;
}

// The blocks of a trace, and the texts that no column holds. A column of one value is a block of one value; the first
// column of a table has a value for each row all the same, so that the table's length is that of a block.
struct Contents {
  explicit Contents(const Trace& trace) : info(InfoText(trace.info)) {
    Trace::VisitTables(trace, [&](std::string_view, const auto& table) {
      bool first = true;
      std::decay_t<decltype(table)>::Visit(table, [&](std::string_view, const auto& column) {
        const auto written = std::exchange(first, false) ? column.Whole() : column;
        blocks.push_back({written.stored().data(), written.stored().size_bytes()});
        owners.push_back(written.owner());
      });
    });
    for (size_t id = 0; id < trace.strings.size(); ++id) {
      texts += trace.strings[StringId{static_cast<uint32_t>(id)}];
      ends.push_back(texts.size());
    }
    blocks.push_back({ends.data(), ends.size() * sizeof(uint64_t)});
    blocks.push_back({texts.data(), texts.size()});
    blocks.push_back({info.data(), info.size()});
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  std::string info, texts{};
  std::vector<uint64_t> ends{};  // where each text ends
  std::vector<Block> blocks{};
  std::vector<std::shared_ptr<const void>> owners{};  // of the columns' values
};

}  // namespace

uint64_t TraceFileSchema() {
  std::string layout = StrCat("format ", kFormat, ';');
  const Trace trace;
  Trace::VisitTables(trace, [&](std::string_view table, const auto& columns) {
    std::decay_t<decltype(columns)>::Visit(columns, [&](std::string_view name, const auto& column) {
      layout += StrCat(table, '.', name, ':', sizeof(typename std::decay_t<decltype(column)>::value_type), ';');
    });
  });
  return XXH3_64bits(layout.data(), layout.size());
}

Result<void> WriteTraceFile(const Trace& trace, const std::string& path) {
  const Contents contents(trace);  // takes memory, so it comes before the file
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", std::strerror(errno)), path);
  RememberTemporary(temporary);
  const bool written = WriteBlocks(fd, contents.blocks);
  const bool closed = close(fd) == 0;
  if (!written || !closed || rename(temporary.c_str(), path.c_str()) != 0) {
    const int problem = errno;
    unlink(temporary.c_str());
    ForgetTemporary(temporary);
    return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", std::strerror(problem)), path);
  }
  ForgetTemporary(temporary);
  return {};
}

namespace {

// Hands out the blocks of a mapped file in order; `good` turns false on the first that does not fit.
class BlockReader {
 public:
  BlockReader(std::shared_ptr<const MappedFile> mapping, std::vector<Entry> entries)
      : mapping_(std::move(mapping)), entries_(std::move(entries)) {}
  template <class T>
  std::span<const T> Next() {
    if (next_ >= entries_.size()) return good = false, std::span<const T>();
    const Entry entry = entries_[next_++];
    if (entry.bytes % sizeof(T) != 0) return good = false, std::span<const T>();
    return {reinterpret_cast<const T*>(mapping_->data() + entry.offset), entry.bytes / sizeof(T)};
  }
  const std::shared_ptr<const MappedFile>& mapping() const { return mapping_; }
  bool good = true;

 private:
  std::shared_ptr<const MappedFile> mapping_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

// Returns the directory of a file that somebody may have damaged or made, or nothing.
std::optional<std::vector<Entry>> CheckedEntries(const MappedFile& file) {
  Header header;
  if (file.bytes() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic || header.schema != TraceFileSchema() || header.file_bytes != file.bytes() ||
      header.entries > (file.bytes() - sizeof header) / sizeof(Entry))
    return std::nullopt;
  std::vector<Entry> entries(header.entries);
  std::memcpy(entries.data(), file.data() + sizeof header, header.entries * sizeof(Entry));
  ContentsHash hash;
  hash.Add(entries.data(), entries.size() * sizeof(Entry));
  for (const Entry& entry : entries) {
    if (entry.offset % kAlign != 0 || entry.offset > file.bytes() || entry.bytes > file.bytes() - entry.offset)
      return std::nullopt;
    hash.Add(file.data() + entry.offset, entry.bytes);
  }
  if (hash.Value() != header.contents_hash) return std::nullopt;
  return entries;
}

bool TakeTexts(BlockReader& blocks, Trace& trace) {
  const auto ends = blocks.Next<uint64_t>();
  const auto texts = blocks.Next<char>();
  const auto info = blocks.Next<char>();
  std::vector<std::string_view> views;
  views.reserve(ends.size());
  uint64_t begin = 0;
  for (const uint64_t end : ends) {
    if (end < begin || end > texts.size()) return false;
    views.emplace_back(texts.data() + begin, end - begin);
    begin = end;
  }
  if (views.empty() || !views.front().empty()) return false;
  trace.strings = StringPool::FromViews(std::move(views), blocks.mapping());
  return ParseInfo({info.data(), info.size()}, trace.info);
}

// Fills the tables and texts; false if the blocks do not fit.
bool TakeBlocks(BlockReader& blocks, Trace& trace) {
  Trace::VisitTables(trace, [&](std::string_view, auto& table) {
    using TableType = std::decay_t<decltype(table)>;
    size_t rows = 0;
    bool first = true;
    TableType::Visit(table, [&](std::string_view, auto& column) {
      using T = typename std::decay_t<decltype(column)>::value_type;
      const std::span<const T> values = blocks.Next<T>();
      if (std::exchange(first, false)) rows = values.size();
      if (values.size() == rows)
        column = Column<T>::View(values, blocks.mapping());
      else if (values.size() == 1)
        column = Column<T>::SameView(values[0], rows, blocks.mapping());
      else
        blocks.good = false;
    });
  });
  trace.file = blocks.mapping();
  return blocks.good && TakeTexts(blocks, trace);
}

}  // namespace

Result<Trace> MapTraceFile(const std::string& path) {
  GAPLESS_ASSIGN(auto file, MappedFile::Open(path));
  auto entries = CheckedEntries(*file);
  if (!entries) return Fail(ErrorCode::kInput, "is no column file of this version, or damaged", path);
  BlockReader blocks(std::move(file), std::move(*entries));
  Trace trace;
  if (!TakeBlocks(blocks, trace) || !HoldsTogether(trace)) return Fail(ErrorCode::kInput, "is damaged", path);
  return trace;
}

Result<Trace> MoveToFile(const Trace& trace, const std::string& folder) {
  const auto failed = [&] {
    return Fail(ErrorCode::kEnvironment, StrCat("cannot write: ", std::strerror(errno)), folder);
  };
  const int fd = OpenNameless(folder);
  if (fd < 0) return failed();
  const Contents contents(trace);
  if (!WriteBlocks(fd, contents.blocks)) {
    const int problem = errno;
    close(fd);
    errno = problem;
    return failed();
  }
  GAPLESS_ASSIGN(auto file, MappedFile::Take(fd));
  BlockReader blocks(std::move(file), EntriesOf(contents.blocks));
  Trace moved;
  if (!TakeBlocks(blocks, moved))
    return Fail(ErrorCode::kEnvironment, "the file does not hold what was written", folder);
  return moved;
}

}  // namespace gapless::internal
