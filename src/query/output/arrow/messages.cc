// SPDX-License-Identifier: Apache-2.0
// Numbers of fields, types and headers are those of Arrow's Schema.fbs and Message.fbs.
//
// No library writes them here. Arrow's own is larger than this program (libarrow has 49 MB in pyarrow's wheel), and
// nanoarrow is in none of the distributions that gapless is built on. What is needed of the format are the three
// messages below; pyarrow, Polars and DuckDB read them back in tests/query_files_test.py.
#include "query/output/arrow/messages.h"

#include <utility>

#include "query/output/arrow/flat_buffer.h"

namespace gapless::internal {
namespace {

constexpr int64_t kMetadataV5 = 4;
constexpr int64_t kSchemaHeader = 1, kDictionaryHeader = 2, kBatchHeader = 3;
constexpr int64_t kIntType = 2, kFloatType = 3, kUtf8Type = 5, kLargeUtf8Type = 20;
constexpr int64_t kDouble = 2;
constexpr size_t kAlignment = 8;

// Appends an integer of the format's envelope.
void AppendInt32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift & 0xFF);
}

size_t Padded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Adds the table that every message begins with. Returns the place of its header.
FlatBuffer::Place BeginMessage(FlatBuffer& buffer, int64_t header, size_t body) {
  const auto places =
      buffer.AddTable(FlatBuffer::kRoot, {{0, kMetadataV5}, {1, header}, {2}, {3, static_cast<int64_t>(body)}});
  return places[2];
}

std::string Envelope(FlatBuffer buffer) {
  const std::string metadata = std::move(buffer).Finish();
  std::string out;
  AppendInt32(out, 0xFFFFFFFF);
  AppendInt32(out, static_cast<uint32_t>(metadata.size()));
  return out += metadata;
}

void AddWholeNumbers(FlatBuffer& buffer, FlatBuffer::Place from, int64_t bits) {
  buffer.AddTable(from, {{0, bits}, {1, 1}});
}

void AddMetadata(FlatBuffer& buffer, FlatBuffer::Place from, const ArrowField& field) {
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  if (!field.unit.empty()) pairs.emplace_back("unit", field.unit);
  if (!field.help.empty()) pairs.emplace_back("help", field.help);
  const auto places = buffer.AddVector(from, pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto pair = buffer.AddTable(places[i], {{0}, {1}});
    buffer.AddText(pair[0], pairs[i].first);
    buffer.AddText(pair[1], pairs[i].second);
  }
}

int64_t TypeNumber(const ArrowField& field) {
  if (field.type == ColumnType::kInt) return kIntType;
  if (field.type == ColumnType::kReal) return kFloatType;
  return field.long_texts ? kLargeUtf8Type : kUtf8Type;
}

void AddField(FlatBuffer& buffer, FlatBuffer::Place from, const ArrowField& field, int64_t id) {
  const bool texts = field.type == ColumnType::kText;
  // name, nullable, type, its table, children, metadata; texts also have a dictionary.
  const auto places = texts ? buffer.AddTable(from, {{0}, {1, 1}, {2, TypeNumber(field)}, {3}, {5}, {6}, {4}})
                            : buffer.AddTable(from, {{0}, {1, 1}, {2, TypeNumber(field)}, {3}, {5}, {6}});
  buffer.AddText(places[0], field.name);
  switch (field.type) {
    case ColumnType::kInt: AddWholeNumbers(buffer, places[3], 64); break;
    case ColumnType::kReal: buffer.AddTable(places[3], {{0, kDouble}}); break;
    case ColumnType::kText: buffer.AddTable(places[3], {}); break;
  }
  buffer.AddVector(places[4], 0);
  AddMetadata(buffer, places[5], field);
  if (!texts) return;
  const auto dictionary = buffer.AddTable(places[6], {{0, id}, {1}});
  AddWholeNumbers(buffer, dictionary[1], 32);
}

size_t BodySize(std::span<const ArrowNode> nodes) {
  size_t size = 0;
  for (const ArrowNode& node : nodes)
    for (const std::string_view buffer : node.buffers) size += Padded(buffer.size());
  return size;
}

void AddBatch(FlatBuffer& buffer, FlatBuffer::Place from, int64_t rows, std::span<const ArrowNode> nodes) {
  std::vector<std::pair<int64_t, int64_t>> counts, stretches;
  size_t at = 0;
  for (const ArrowNode& node : nodes) {
    counts.emplace_back(node.rows, node.absent);
    for (const std::string_view part : node.buffers) {
      stretches.emplace_back(static_cast<int64_t>(at), static_cast<int64_t>(part.size()));
      at += Padded(part.size());
    }
  }
  const auto places = buffer.AddTable(from, {{0, rows}, {1}, {2}});
  buffer.AddPairs(places[1], counts);
  buffer.AddPairs(places[2], stretches);
}

std::string WithBody(FlatBuffer buffer, std::span<const ArrowNode> nodes) {
  std::string out = Envelope(std::move(buffer));
  out.reserve(out.size() + BodySize(nodes));
  for (const ArrowNode& node : nodes)
    for (const std::string_view part : node.buffers) out.append(part).append(Padded(part.size()) - part.size(), '\0');
  return out;
}

}  // namespace

std::string ArrowSchemaMessage(std::span<const ArrowField> fields) {
  FlatBuffer buffer;
  const auto schema = buffer.AddTable(BeginMessage(buffer, kSchemaHeader, 0), {{0}, {1}});
  const auto places = buffer.AddVector(schema[1], fields.size());
  for (size_t i = 0; i < fields.size(); ++i) AddField(buffer, places[i], fields[i], static_cast<int64_t>(i));
  return Envelope(std::move(buffer));
}

std::string ArrowDictionaryMessage(int64_t id, const ArrowNode& texts) {
  FlatBuffer buffer;
  const std::span<const ArrowNode> nodes(&texts, 1);
  const auto places = buffer.AddTable(BeginMessage(buffer, kDictionaryHeader, BodySize(nodes)), {{0, id}, {1}});
  AddBatch(buffer, places[1], texts.rows, nodes);
  return WithBody(std::move(buffer), nodes);
}

std::string ArrowBatchMessage(int64_t rows, std::span<const ArrowNode> columns) {
  FlatBuffer buffer;
  AddBatch(buffer, BeginMessage(buffer, kBatchHeader, BodySize(columns)), rows, columns);
  return WithBody(std::move(buffer), columns);
}

std::string_view ArrowEnd() { return {"\xFF\xFF\xFF\xFF\0\0\0\0", 8}; }

}  // namespace gapless::internal
