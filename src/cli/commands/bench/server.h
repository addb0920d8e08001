// SPDX-License-Identifier: Apache-2.0
// `bench --inference --url`: the requests to a server that is running, how its options are read and its figures shown.
#pragma once

#include <string>
#include <string_view>

#include "base/describe.h"
#include "cli/benchmark.h"
#include "proof/serving.h"

namespace gapless::internal {

enum class LoadGenerator : uint8_t { kOurs, kGuidellm, kAiperf };
inline constexpr Choosable<LoadGenerator> kLoadGenerators[] = {
    {"own", LoadGenerator::kOurs}, {"guidellm", LoadGenerator::kGuidellm}, {"aiperf", LoadGenerator::kAiperf}};

// The options that may be given for a server.
struct ServerArguments : MeasureArguments {
  std::string url{}, model{}, prompts{};  // empty: not given
  size_t concurrency = 8, output_tokens = 128;
  std::optional<ServingObjectives> slo{};
  double budget = 300;  // seconds
  LoadGenerator generator = LoadGenerator::kOurs;
  std::string api_key_env{};
};

// "ttft=200ms,tpot=50ms,latency=2s"
Result<ServingObjectives> ReadObjectives(const OptionSpec& option, std::string_view text);

inline constexpr OptionList kServerOptions{
    Text<&ServerArguments::url>("URL",
                                "With --inference: measure requests to the server at URL, such as "
                                "http://localhost:8000, instead of a command"),
    Text<&ServerArguments::model>("NAME", "--url: the model to ask (the first that the server names)"),
    Text<&ServerArguments::prompts>("FILE", "--url: send the lines of FILE as prompts (64 words, always others)"),
    Number<&ServerArguments::concurrency>("N", "--url: keep N requests under way (8)", 1, 256),
    Number<&ServerArguments::output_tokens>("N", "--url: ask for at most N tokens a request (128)", 1, 1'000'000),
    Parsed<&ServerArguments::slo, ReadObjectives>(
        "LIST", "--url: count the requests that keep these objectives (goodput): ttft=200ms,tpot=50ms,latency=2s"),
    Parsed<&ServerArguments::budget, ReadTime>("TIME", "--url: stop after this time (5m)"),
    Choice<&ServerArguments::generator, OneOf<kLoadGenerators>>(
        "NAME", "--url: send the requests ourselves (own), or with guidellm or aiperf of the Python in use"),
    Text<&ServerArguments::api_key_env>(
        "NAME", "--url: send the key that this environment variable has (Bearer); it is printed and stored nowhere"),
};

// Measures the requests, and prints them. After an interruption what was measured is printed all the same.
Result<int> ExecuteServer(const ServerArguments& arguments, const Session& session);
extern const TypeInfo kServerDocument;

}  // namespace gapless::internal
