// SPDX-License-Identifier: Apache-2.0
// Recordings that lie on other machines or in object stores: the module gapless.cluster of the Python package has them
// summarised where they lie, and the verb goes on with their summaries.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/describe.h"
#include "cli/loading.h"

namespace gapless::internal {
namespace documents {

struct WrittenSummary {
  std::string path{}, recording{};
  std::optional<int64_t> rank{};
  int64_t bytes = 0;
  static constexpr FieldInfo kFields[] = {
      Field<&WrittenSummary::path>("path", "", "file that was written"),
      Field<&WrittenSummary::recording>("recording", "", "recording it stands for"),
      Field<&WrittenSummary::rank>("rank", "", "rank; absent: none is known of the recording alone"),
      Field<&WrittenSummary::bytes>("bytes", "bytes", "its size"),
  };
};

struct LostRecording {
  std::string path{}, reason{}, hint{};
  static constexpr FieldInfo kFields[] = {
      Field<&LostRecording::path>("path", "", "recording that could not be read"),
      Field<&LostRecording::reason>("reason", "", "what is wrong with it"),
      Field<&LostRecording::hint>("hint", "", "what to do about it; may be empty"),
  };
};

struct Summarize {
  std::string folder{};
  std::vector<WrittenSummary> summaries{};
  std::vector<LostRecording> lost{};
  static constexpr FieldInfo kFields[] = {
      Field<&Summarize::folder>("folder", "", "folder that holds them"),
      Field<&Summarize::summaries>("summaries", "", "summaries that were written"),
      Field<&Summarize::lost>("lost", "", "recordings without one"),
  };
};

}  // namespace documents

enum class ClusterEngine : uint8_t { kProcesses, kRay };
inline constexpr Choosable<ClusterEngine> kClusterEngines[] = {{"processes", ClusterEngine::kProcesses},
                                                               {"ray", ClusterEngine::kRay}};

// All that verbs with recordings elsewhere have in common.
struct ElsewhereArguments : ReadArguments {
  std::optional<ClusterEngine> on{};
  std::string summaries{};   // folder or URL that keeps them; empty: none does
  std::string summarized{};  // hidden: file with the document of `summarize`, made by the Python package
};
inline constexpr auto kOnOption = Choice<&ElsewhereArguments::on, OneOf<kClusterEngines>>(
    "ENGINE", "Summarise each recording as a task of ENGINE (URLs: processes)");

// "s3://…"; a file of that name is none.
bool IsUrl(const std::string& path);
// Does a path need the Python package, or was it asked for?
bool IsElsewhere(const ElsewhereArguments& arguments);

// The things that are asked of the Python package.
struct ElsewhereRequest {
  std::vector<std::string> paths{};
  std::string summaries{};  // folder or URL that keeps them; empty: none does
  std::optional<ClusterEngine> on{};
  std::optional<int64_t> memory{};
  bool here = false;  // the paths of the result are files of this machine, which go when the program ends
};
ElsewhereRequest RequestFrom(const ElsewhereArguments& arguments);

// An error if no summary could be made.
Result<documents::Summarize> SummarizeElsewhere(const ElsewhereRequest& request);
// Reads such a document from a file.
Result<documents::Summarize> ReadSummarized(const std::string& file);

// The files of the summaries, and the lost recordings as failures of reading.
std::vector<std::string> FilesOf(const documents::Summarize& done);
std::vector<Error> LostOf(const documents::Summarize& done);

}  // namespace gapless::internal
