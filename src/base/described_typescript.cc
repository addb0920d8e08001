// SPDX-License-Identifier: Apache-2.0
// Writes the TypeScript of described types: an interface for each object, those it needs before it. Fields that
// may be missing are optional, and enums are unions of their words.
#include <algorithm>

#include "base/described_json.h"
#include "base/strings.h"

namespace gapless::internal {
namespace {

class TypeScriptWriter {
 public:
  void Declare(const TypeInfo& type, bool is_document) {
    if (std::find(declared_.begin(), declared_.end(), &type) != declared_.end()) return;
    declared_.push_back(&type);
    DeclareNeeded(type);
    out_ += StrCat(out_.empty() ? "" : "\n", "export interface ", type.name, " {\n");
    if (is_document) out_ += "  gapless: {version: string; schema: number; schema_version: number; command: string};\n";
    AppendMembers(type);
    if (is_document) out_ += "  warnings: string[];\n";
    out_ += "}\n";
  }
  std::string Take() { return std::move(out_); }

 private:
  void DeclareNeeded(const TypeInfo& type) {
    for (const FieldInfo& field : type.fields) {
      if (field.use == FieldUse::kHidden) continue;
      const TypeInfo* inner = field.type;
      while (inner->item != nullptr) inner = inner->item;
      if (inner->kind != Kind::kObject) continue;
      if (field.use == FieldUse::kSpliced)
        DeclareNeeded(*inner);
      else
        Declare(*inner, false);
    }
  }

  void AppendMembers(const TypeInfo& type) {
    for (const FieldInfo& field : type.fields) {
      if (field.use == FieldUse::kHidden) continue;
      if (field.use == FieldUse::kSpliced) {
        AppendMembers(*field.type);
        continue;
      }
      const std::string unit = field.unit.empty() ? "" : StrCat(field.help.empty() ? "[" : " [", field.unit, "]");
      if (const std::string help = StrCat(field.help, unit); !help.empty()) out_ += StrCat("  /** ", help, " */\n");
      out_ +=
          StrCat("  ", field.name, field.MayBeMissing() ? "?: " : ": ", NameOf(*field.type, field.HasNulls()), ";\n");
    }
  }

  static std::string NameOf(const TypeInfo& type, bool is_nullable) {
    switch (type.kind) {
      case Kind::kBool: return "boolean";
      case Kind::kInt: return "number";
      case Kind::kReal: return is_nullable ? "number | null" : "number";
      case Kind::kText: return "string";
      case Kind::kScalar: return "number | string | null";
      case Kind::kObject: return std::string(type.name);
      case Kind::kMap: return StrCat("Record<string, ", NameOf(*type.item, is_nullable), ">");
      case Kind::kList: break;
      case Kind::kEnum: {
        std::string words;
        for (int64_t i = 0; i < type.values; ++i) words += StrCat(i == 0 ? "\"" : " | \"", type.name_of(i), "\"");
        return words;
      }
    }
    const std::string item = NameOf(*type.item, is_nullable);
    return item.find(' ') == std::string::npos ? item + "[]" : StrCat("(", item, ")[]");
  }

  std::string out_;
  std::vector<const TypeInfo*> declared_;
};

}  // namespace

std::string TypeScriptOf(const TypeInfo& document) {
  TypeScriptWriter writer;
  writer.Declare(document, true);
  return writer.Take();
}

std::string TypeScriptOf(std::span<const TypeInfo* const> types) {
  TypeScriptWriter writer;
  for (const TypeInfo* type : types) writer.Declare(*type, false);
  return writer.Take();
}

}  // namespace gapless::internal
