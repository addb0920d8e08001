// SPDX-License-Identifier: Apache-2.0
// The command `gapless kubernetes-job`: a Job of Kubernetes whose pods, numbered from 0 on, summarise recordings.
#include <algorithm>

#include "base/strings.h"
#include "cli/array_job.h"
#include "cli/output.h"
#include "optimize/recipe_yaml.h"

namespace gapless::internal::kubernetes_job_command {
namespace {

constexpr int64_t kMostPods = 10'000, kBeside = 100;
constexpr int64_t kRetries = 3;  // of one pod
constexpr size_t kLongestName = 63;

struct KubernetesJobArguments : ArrayArguments {
  std::string image{}, name = "gapless-summarize", secret{}, claim{}, mount = "/data";
  std::optional<int64_t> parallelism{};
  static constexpr OptionList kOptions{
      Text<&ArrayArguments::output>("FILE", "Write the manifest to FILE").Short('o'),
      kArrayRanksOption,
      kArraySummariesOption,
      Text<&KubernetesJobArguments::image>("IMAGE", "Run the pods from IMAGE, which has the program"),
      Text<&KubernetesJobArguments::name>("NAME", "Call the job NAME (gapless-summarize)"),
      Text<&KubernetesJobArguments::secret>("NAME",
                                            "Take variables of the pods, such as credentials, from this secret"),
      Text<&KubernetesJobArguments::claim>("NAME", "Mount this volume claim"),
      Text<&KubernetesJobArguments::mount>("DIR", "Mount it at DIR (/data)"),
      Number<&KubernetesJobArguments::parallelism>("N", "Run N pods at a time (100)", 1, 100'000),
      Number<&ArrayArguments::per_task>("N", "Give each pod N ranks (as many as 10,000 pods need)", 1, 1'000'000),
      kArrayCpusOption,
      Text<&ArrayArguments::mem>("SIZE", "Ask for SIZE of memory a pod, as Kubernetes takes it: 4Gi"),
  };
  static constexpr WordList kWords{kArrayPathsWord};
};

// A label of DNS, as Kubernetes wants names.
bool IsLabel(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= kLongestName && plain(name.front()) && plain(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return plain(c) || c == '-'; });
}

Result<void> Check(const KubernetesJobArguments& arguments) {
  if (arguments.image.empty())
    return Fail(ErrorCode::kUsage, "no image to run", "", "--image IMAGE, with gapless in it");
  for (const auto& [option, name] : {std::pair("--name", &arguments.name), std::pair("--secret", &arguments.secret),
                                     std::pair("--claim", &arguments.claim)})
    if (!name->empty() && !IsLabel(*name))
      return Fail(ErrorCode::kUsage, StrCat("'", Printable(*name), "' is no name of Kubernetes"), option,
                  "lower-case letters, digits and dashes");
  return {};
}

std::string Indented(std::string_view text, std::string_view indent) {
  std::string lines;
  for (const std::string_view line : Split(text, '\n'))
    if (!line.empty()) lines += StrCat(indent, line, "\n");
  return lines;
}

std::string ManifestOf(const KubernetesJobArguments& arguments, const ArrayJob& job) {
  const int64_t beside = std::min(job.tasks, arguments.parallelism.value_or(kBeside));
  std::string text = StrCat(
      "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ", arguments.name,
      "\nspec:\n  completionMode: Indexed\n  completions: ", job.tasks, "\n  parallelism: ", beside,
      "\n  backoffLimitPerIndex: ", kRetries, "\n  maxFailedIndexes: ", job.tasks,
      "\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n        - name: gapless\n          "
      "image: ",
      YamlQuoted(arguments.image), "\n          command:\n            - sh\n            - -c\n            - |\n",
      Indented(job.script, "              "),
      "          resources:\n            requests:\n              cpu: ", YamlQuoted(StrCat(arguments.cpus)), "\n");
  if (!arguments.mem.empty())
    text += StrCat("              memory: ", YamlQuoted(arguments.mem),
                   "\n            limits:\n              memory: ", YamlQuoted(arguments.mem), "\n");
  if (!arguments.secret.empty())
    text += StrCat("          envFrom:\n            - secretRef:\n                name: ", arguments.secret, "\n");
  if (arguments.claim.empty()) return text;
  return text +
         StrCat(
             "          volumeMounts:\n            - name: recordings\n              mountPath: ",
             YamlQuoted(arguments.mount),
             "\n      volumes:\n        - name: recordings\n          persistentVolumeClaim:\n            claimName: ",
             arguments.claim, "\n");
}

Result<int> Execute(const KubernetesJobArguments& arguments, Session&) {
  GAPLESS_TRY(Check(arguments));
  GAPLESS_ASSIGN(const auto job, ArrayJobOf(arguments, "JOB_COMPLETION_INDEX", kMostPods));
  return PrintArrayScript(arguments, "kubernetes-job", job, ManifestOf(arguments, job));
}

constexpr const TypeInfo* kDocuments[] = {&TypeOf<documents::ArrayScript>::kInfo};
constexpr Example kExamples[] = {
    {"gapless kubernetes-job 's3://runs/42/rank{}.json.gz' --ranks 512 --summaries s3://runs/42/summaries --image "
     "registry.example/gapless --secret s3-access",
     "A pod for each rank; kubectl apply -f - runs them"},
    {"gapless kubernetes-job '/data/42/rank{}.json.gz' --ranks 64 --summaries /data/42/s --image "
     "registry.example/gapless --claim runs -o job.yaml",
     "Recordings in a volume"},
};

}  // namespace

COMMAND(kubernetes_job) = {
    .name = "kubernetes-job",
    .place = {groups::kJobs, 4},
    .help = "Print a Kubernetes Job that summarises a job's ranks",
    .about =
        "Prints a manifest of batch/v1: an indexed Job whose pods summarise the recordings, in a volume or an object "
        "store. When it is complete, `gapless analyze` reads the summaries. A pod that fails is run again, up to three "
        "times, without the others (backoffLimitPerIndex: Kubernetes 1.29 and later). The image needs the program, for "
        "URLs the Python package, too.",
    .examples = kExamples,
    .only_reads = true,
    .documents = kDocuments,
    .call = kCall<Execute>};

}  // namespace gapless::internal::kubernetes_job_command
