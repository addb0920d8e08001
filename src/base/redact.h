// SPDX-License-Identifier: Apache-2.0
// Secrets out of commands and texts, before they are written or printed. The one door: whatever of a user's command,
// environment or output goes into a file, a report or a message comes through here. What is run is never changed.
//
// A secret is recognised by its name (`--api-key=…`, `HF_TOKEN=…`, `wandb.api_key=…`, `Authorization: …`;
// redact/names.h has the rules) or by its shape (`sk-…`, `ghp_…`, `https://user:…@host`; redact/shapes.h). What is no
// secret stays:
// `--num-tokens 512`, `--tokenizer gpt2`, `--key-dim 64`, `--pad-token '<pad>'`. Redacting twice is redacting once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gapless::internal {

inline constexpr std::string_view kRedacted = "<redacted>";

// Returns true if what this name stands for is a secret, whatever its value is. For options ("--hf-token"),
// variables, and keys ("wandb.api_key").
bool IsSecretName(std::string_view name);
// Returns the command with secrets redacted, word by word; never more or fewer words. Unchanged after
// KeepCommands(true).
std::vector<std::string> RedactCommand(std::span<const std::string> command);
// Its words with spaces between, for messages and reports.
std::string CommandText(std::span<const std::string> command);
// The same of a command that is one text.
std::string RedactCommandLine(std::string_view line);
// A text that may hold command lines, assignments, JSON, headers of HTTP, addresses.
std::string RedactText(std::string_view text);
// The value of a variable of this name.
std::string RedactValue(std::string_view name, std::string_view value);
// Returns true if the text holds the mark of something that was left out.
bool IsRedacted(std::string_view text);

// The user wants commands to be written as they are (--keep-command): for this process, from here on.
void KeepCommands(bool keep);

}  // namespace gapless::internal
