// SPDX-License-Identifier: Apache-2.0
// Adds the GPU operations of a CUPTI stream: kernels with their collectives, copies, memsets and graphs.
#include "base/strings.h"
#include "ingest/readers/cupti/rows.h"
#include "ingest/readers/cupti/values.h"

namespace gapless::internal::cupti {

using wire::FieldReader;
using wire::RecordType;

// Returns the operation without its name. Its start is absent if it has no usable time or its record is too short; both
// are counted.
GpuOpRow Rows::ReadWork(RecordType type, FieldReader& fields) {
  const Span span = ReadSpan(type, fields);
  GpuOpRow row{.name = StringId::kNone, .ts_ns = span.ts_ns, .dur_ns = span.dur_ns};
  const int32_t device = Narrow(fields.Next());
  row.device = device == kAbsent32 ? -1 : device;
  row.context = Narrow(fields.Next());
  row.stream = Wide(fields.Next());
  row.correlation = ReadCorrelation(type, fields);
  if (span.usable() && !fields.missing()) return row;
  if (span.usable()) Tell(Note::kBadRecord);
  row.ts_ns = kAbsent;
  return row;
}

// Adds an operation whose fields have all been read; a record that ended before is counted instead.
void Rows::AddWork(const GpuOpRow& row, const FieldReader& fields) {
  if (fields.missing()) return Tell(Note::kBadRecord);
  ++events_;
  shard_.Add(row);
}

void Rows::AddKernel(FieldReader& fields) {
  GpuOpRow row = ReadWork(RecordType::kKernel, fields);
  if (row.ts_ns == kAbsent) return;
  Name& name = NameOf(fields.Next());
  if (!name.kernel_known) {
    const std::string text(shard_.strings[name.text]);  // a copy: interning below may move the texts' index
    name.kernel = ClassifyKernel(text);
    if (name.kernel.op_class == GpuOpClass::kCommunication) name.collective = shard_.Text(CollectiveKind(text));
    name.kernel_known = true;
  }
  row.name = name.text;
  row.op_class = name.kernel.op_class, row.matrix_unit = name.kernel.matrix_unit;
  row.precision = name.kernel.precision;
  for (int32_t* const size : {&row.grid_x, &row.grid_y, &row.grid_z, &row.block_x, &row.block_y, &row.block_z})
    *size = Narrow(fields.Next());
  row.registers = Narrow(fields.Next());
  const uint64_t fixed_bytes = fields.Next(), given_bytes = fields.Next();
  row.shared_bytes = fixed_bytes > INT32_MAX || given_bytes > INT32_MAX ? kAbsent32 : Narrow(fixed_bytes + given_bytes);
  (void)fields.Next();  // local memory: no column
  row.graph_id = OrNone(fields.Next());
  AddWork(row, fields);
  if (row.op_class == GpuOpClass::kCommunication && !fields.missing()) AddCollective(name, row);
}

void Rows::AddCollective(const Name& name, const GpuOpRow& op) {
  shard_.Add(CollectiveRow{.name = op.name,
                           .kind = name.collective,
                           .device = op.device,
                           .stream = op.stream,
                           .ts_ns = op.ts_ns,
                           .dur_ns = op.dur_ns});
}

void Rows::AddCopy(FieldReader& fields) {
  GpuOpRow row = ReadWork(RecordType::kMemcpy, fields);
  if (row.ts_ns == kAbsent) return;
  row.kind = GpuOpKind::kMemcpy, row.op_class = GpuOpClass::kCopy, row.matrix_unit = MatrixUnit::kNo;
  row.bytes = Wide(fields.Next());
  const uint64_t copy = fields.Next(), source = fields.Next(), destination = fields.Next();
  (void)fields.Next();  // flags
  const std::string name = CopyName(copy, source, destination);
  row.name = shard_.Text(name);
  row.copy_kind = ClassifyCopy(name);
  row.graph_id = OrNone(fields.Next());
  AddWork(row, fields);
}

void Rows::AddMemset(FieldReader& fields) {
  GpuOpRow row = ReadWork(RecordType::kMemset, fields);
  if (row.ts_ns == kAbsent) return;
  row.kind = GpuOpKind::kMemset, row.op_class = GpuOpClass::kCopy, row.matrix_unit = MatrixUnit::kNo;
  row.bytes = Wide(fields.Next());
  (void)fields.Next();  // the value set
  row.name = shard_.Text(MemsetName(fields.Next()));
  (void)fields.Next();  // flags
  row.graph_id = OrNone(fields.Next());
  AddWork(row, fields);
}

// A graph recorded as a whole: one row in place of its kernels, for without it the GPU would seem idle.
void Rows::AddGraph(FieldReader& fields) {
  GpuOpRow row = ReadWork(RecordType::kGraphTrace, fields);
  if (row.ts_ns == kAbsent) return;
  const uint64_t graph = fields.Next();
  row.name = shard_.Text(StrCat("CUDA graph ", graph));
  row.graph_id = OrNone(graph);
  AddWork(row, fields);
}

}  // namespace gapless::internal::cupti
