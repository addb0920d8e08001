// SPDX-License-Identifier: Apache-2.0
// Nodes are parsed one by one, so that a file that was cut off gives those before. Two layouts are known: attributes in
// a list, and inputs as an object (schema 1.0.2 and later); and all of them members of the node (1.0.1).
#include "ingest/readers/kineto/execution_trace.h"

#include <charconv>

#include "base/json_value.h"
#include "base/strings.h"
#include "ingest/json_objects.h"

namespace gapless::internal::kineto {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

// "1, 2" of [1, 2], and so on for what lies in it; quotes nothing.
std::string Plain(const JsonValue& value) {
  if (!value.is_array()) {
    if (const auto flag = value.Bool()) return *flag ? "True" : "False";
    if (const std::string* text = value.Text()) return *text;
    return value.kind() == JsonValue::Kind::kNull ? "" : ToJson(value);
  }
  std::string out = "[";
  for (const JsonValue& item : value.items()) out += StrCat(out.size() > 1 ? ", " : "", Plain(item));
  return out + "]";
}

bool IsTensor(std::string_view type) { return type.starts_with("Tensor("); }
bool IsTensorList(std::string_view type) { return type.starts_with("GenericList[Tensor("); }
bool IsScalar(std::string_view type) { return type == "Int" || type == "Double" || type == "Bool"; }
bool IsScalarList(std::string_view type) {
  return type.starts_with("GenericList[Int") || type.starts_with("GenericList[Double") ||
         type.starts_with("GenericList[Bool");
}

// The name that Kineto gives a type.
std::string KinetoType(std::string_view type) {
  if (IsTensor(type)) return std::string(type.substr(7, type.size() - 8));
  if (IsTensorList(type)) return "TensorList";
  return IsScalar(type) ? "Scalar" : IsScalarList(type) ? "ScalarList" : "";
}

struct Inputs {
  std::string shapes = "[", types = "[", values = "[";
};

Inputs InputsOf(const JsonValue& values, const JsonValue& shapes, const JsonValue& types) {
  Inputs inputs;
  for (size_t i = 0; i < types.items().size(); ++i) {
    const std::string* type = types.items()[i].Text();
    const std::string_view of = type == nullptr ? std::string_view() : *type;
    const std::string_view comma = i > 0 ? ", " : "";
    const bool sized = (IsTensor(of) || IsTensorList(of)) && i < shapes.items().size();
    const bool plain = (IsScalar(of) || IsScalarList(of)) && i < values.items().size();
    inputs.shapes += StrCat(comma, sized ? Plain(shapes.items()[i]) : "[]");
    inputs.types += StrCat(comma, "\"", KinetoType(of), "\"");
    inputs.values += StrCat(comma, "\"", plain ? Plain(values.items()[i]) : "", "\"");
  }
  inputs.shapes += "]", inputs.types += "]", inputs.values += "]";
  return inputs;
}

std::optional<int64_t> RecordFunctionOf(const JsonValue& node) {
  if (const auto id = node.Get("rf_id").Int()) return id;
  for (const JsonValue& attribute : node.Get("attrs").items())
    if (attribute.TextOf("name") == "rf_id") return attribute.Get("value").Int();
  return std::nullopt;
}

// The number behind "pid" in what stands before the nodes.
int64_t PidIn(std::string_view head) {
  const size_t at = head.find("\"pid\"");
  if (at == head.npos) return kAbsent;
  const size_t digit = head.find_first_of("0123456789", at);
  int64_t pid = kAbsent;
  if (digit == head.npos || std::from_chars(head.data() + digit, head.data() + head.size(), pid).ec != std::errc())
    return kAbsent;
  return pid;
}

}  // namespace

bool ExecutionTrace::Take(std::string_view text) {
  const auto node = JsonValue::Parse(text);
  if (!node || !node->is_object()) return false;
  const auto id = RecordFunctionOf(*node);
  if (!id || *id <= 0) return true;  // a thread or the process, or a node of an old form
  const JsonValue& inputs = node->Get("inputs");
  const Inputs known = inputs.is_object() ? InputsOf(inputs.Get("values"), inputs.Get("shapes"), inputs.Get("types"))
                                          : InputsOf(inputs, node->Get("input_shapes"), node->Get("input_types"));
  operators_.try_emplace(*id, Operator{.name = strings_.Intern(node->TextOf("name")),
                                       .shapes = strings_.Intern(known.shapes),
                                       .types = strings_.Intern(known.types),
                                       .values = strings_.Intern(known.values)});
  return true;
}

Result<ExecutionTrace> ExecutionTrace::Read(Source& source) {
  GAPLESS_ASSIGN(auto stream, source.Open());
  std::string text;
  for (size_t got = 1; got > 0 && text.size() < kMaxBytes;) {
    const size_t before = text.size();
    text.resize(before + (size_t{4} << 20));
    const auto read = stream->Read(text.data() + before, text.size() - before);
    got = read ? *read : 0;  // what came before the damage is good
    text.resize(before + got);
  }
  const size_t nodes = text.find("\"nodes\""), from = text.find('[', nodes);
  if (nodes == text.npos || from == text.npos)
    return Fail(ErrorCode::kInput, "this is no execution trace", source.path(),
                "record it with ExecutionTraceObserver");
  ExecutionTrace trace;
  trace.pid_ = PidIn(std::string_view(text).substr(0, nodes));
  JsonObjects objects(std::string_view(text).substr(from + 1));
  for (std::string_view node; !(node = objects.Next()).empty();) trace.bad_nodes_ += trace.Take(node) ? 0 : 1;
  trace.bad_nodes_ += objects.is_cut() ? 1 : 0;
  return trace;
}

const ExecutionTrace::Operator* ExecutionTrace::Find(int64_t record_function) const {
  const auto found = operators_.find(record_function);
  return found == operators_.end() ? nullptr : &found->second;
}

void Meeting::Add(const Meeting& other) {
  joined += other.joined, renamed += other.renamed, missing += other.missing;
  of_others += other.of_others, without_id += other.without_id;
}

void CountMeeting(const Meeting& meeting, const ExecutionTrace& trace, std::string_view name, TraceBuilder& builder) {
  builder.Count("execution_trace_cut", Severity::kLoss, trace.bad_nodes(), kAbsent,
                StrCat("operators of the execution trace ", name, " cannot be read"));
  if (meeting.IsOfTheSameRun()) {
    builder.Count("execution_trace", Severity::kInfo, meeting.joined, kAbsent,
                  StrCat("operators were found in the execution trace ", name,
                         ", which gave those without shapes and types theirs"));
    builder.Count("execution_trace_without", Severity::kInfo, meeting.missing + meeting.renamed, kAbsent,
                  StrCat("operators are not in the execution trace ", name));
    return;
  }
  const int64_t met = meeting.joined + meeting.renamed;
  const std::string why =
      met > 0
          ? StrCat(meeting.renamed, " of ", FormatCounted(met, "operator"), " with a number of it have another name")
      : meeting.missing > 0 ? "none of its operators is in this recording"
      : meeting.of_others > 0
          ? StrCat("it is of process ", trace.pid(), ", which is not in this recording")
          : "operators of this recording have no record function id, which newer versions of PyTorch write";
  builder.Count("other_execution_trace", Severity::kLoss, 1, kAbsent,
                StrCat("the execution trace ", name, " was not used: ", why,
                       met > 0 || meeting.missing > 0 || meeting.of_others > 0 ? "; it is of another run" : ""));
}

}  // namespace gapless::internal::kineto
