// SPDX-License-Identifier: Apache-2.0
// The arguments of events that become columns, found by their keys.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "ingest/readers/kineto/fields.h"

namespace gapless::internal::kineto {

// An Arg is the way in which an argument is read.
enum class Arg : uint8_t { kInt, kReal, kToken, kTriple };

// An ArgTarget says where the argument of a key is stored.
struct ArgTarget {
  std::string_view key;
  Arg kind;
  int64_t EventFields::*integer = nullptr;
  double EventFields::*real = nullptr;
  std::string_view EventFields::*token = nullptr;
  std::array<int32_t, 3> EventFields::*triple = nullptr;
};
constexpr ArgTarget Int(std::string_view key, int64_t EventFields::*to) { return {key, Arg::kInt, to}; }
constexpr ArgTarget Real(std::string_view key, double EventFields::*to) { return {key, Arg::kReal, nullptr, to}; }
constexpr ArgTarget Token(std::string_view key, std::string_view EventFields::*to) {
  return {key, Arg::kToken, nullptr, nullptr, to};
}
constexpr ArgTarget Triple(std::string_view key, std::array<int32_t, 3> EventFields::*to) {
  return {key, Arg::kTriple, nullptr, nullptr, nullptr, to};
}

// Old recorders wrote some of the keys otherwise.
inline constexpr ArgTarget kArgTargets[] = {Int("External id", &EventFields::external_id),
                                            Int("external id", &EventFields::external_id),
                                            Int("correlation", &EventFields::correlation),
                                            Int("Sequence number", &EventFields::sequence),
                                            Int("device", &EventFields::device),
                                            Int("Device Id", &EventFields::device),
                                            Int("stream", &EventFields::stream),
                                            Int("context", &EventFields::context),
                                            Int("bytes", &EventFields::bytes),
                                            Int("Bytes", &EventFields::bytes),
                                            Int("graph id", &EventFields::graph_id),
                                            Int("graph node id", &EventFields::graph_node_id),
                                            Int("channel", &EventFields::channel),
                                            Int("priority", &EventFields::priority),
                                            Int("Seq", &EventFields::seq),
                                            Int("BeginNs", &EventFields::begin_ns),
                                            Int("Src Rank", &EventFields::src_rank),
                                            Int("Dst Rank", &EventFields::dst_rank),
                                            Token("Process Group Ranks", &EventFields::group_ranks),
                                            Token("Task Type", &EventFields::task_type),
                                            Int("registers per thread", &EventFields::registers),
                                            Int("shared memory", &EventFields::shared_bytes),
                                            Int("Group size", &EventFields::group_size),
                                            Int("In msg nelems", &EventFields::in_elements),
                                            Int("Out msg nelems", &EventFields::out_elements),
                                            Int("wait_on_cuda_event_id", &EventFields::wait_on_event),
                                            Int("wait_on_stream", &EventFields::wait_on_stream),
                                            Int("wait_on_cuda_event_record_corr_id", &EventFields::wait_on_record),
                                            Int("Device Type", &EventFields::device_type),
                                            Int("Addr", &EventFields::address),
                                            Int("Total Allocated", &EventFields::total_allocated),
                                            Int("Total Reserved", &EventFields::total_reserved),
                                            Real("memory bandwidth (GB/s)", &EventFields::bandwidth_gbps),
                                            Real("blocks per SM", &EventFields::blocks_per_sm),
                                            Real("warps per SM", &EventFields::warps_per_sm),
                                            Real("est. achieved occupancy %", &EventFields::occupancy_pct),
                                            Token("Input Dims", &EventFields::input_dims),
                                            Token("Input dims", &EventFields::input_dims),
                                            Token("Input type", &EventFields::input_types),
                                            Token("Concrete Inputs", &EventFields::concrete_inputs),
                                            Token("Call stack", &EventFields::call_stack),
                                            Token("CallFrom", &EventFields::call_from),
                                            Token("source line", &EventFields::source_line),
                                            Token("name", &EventFields::args_name),
                                            Token("Collective name", &EventFields::collective),
                                            Token("dtype", &EventFields::dtype),
                                            Token("Process Group Name", &EventFields::group_name),
                                            Token("cuda_sync_kind", &EventFields::sync_kind),
                                            Triple("grid", &EventFields::grid),
                                            Triple("block", &EventFields::block)};

// An ArgIndex finds the target of a key by a small hash of its length and three of its characters. It is built at
// compile time; keys with the same hash take the next free slots.
class ArgIndex {
 public:
  constexpr ArgIndex() {
    for (size_t i = 0; i < std::size(kArgTargets); ++i) {
      size_t at = Hash(kArgTargets[i].key);
      while (slots_[at] != 0) at = (at + 1) % kSlots;
      slots_[at] = static_cast<uint8_t>(i + 1);
    }
  }
  const ArgTarget* Find(std::string_view key) const {
    if (key.empty()) return nullptr;
    for (size_t at = Hash(key); slots_[at] != 0; at = (at + 1) % kSlots)
      if (kArgTargets[slots_[at] - 1].key == key) return &kArgTargets[slots_[at] - 1];
    return nullptr;
  }

 private:
  static constexpr size_t kSlots = 256;
  static constexpr size_t Hash(std::string_view key) {
    const auto at = [key](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(key[i])); };
    return (key.size() * 31 + at(0) * 7 + at(key.size() / 2) * 3 + at(key.size() - 1)) % kSlots;
  }
  std::array<uint8_t, kSlots> slots_{};
};
inline constexpr ArgIndex kArgIndex;

}  // namespace gapless::internal::kineto
