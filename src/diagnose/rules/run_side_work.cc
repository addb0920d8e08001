// SPDX-License-Identifier: Apache-2.0
// Logging, writing images or computing metrics takes a noticeable share of the whole run.
//
// The loop waits for each of them, and no step needs them: done less often or elsewhere, most of the time goes. How
// often they happen is known from all steps of a run. The gain: half at least (every second time), nine tenths expected
// (every tenth time), at most all (another thread or process). Assumptions.
#include "diagnose/run_pause.h"

namespace gapless::internal::run_side_work_rule {
namespace {

constexpr std::string_view kNeeds[] = {"whole_run"};

// Ours: as for checkpoints, which are work of the same kind.
constexpr double kSideWorkShare = 0.03;

struct SideWork {
  std::string_view kind, what, once, often;
  std::string_view rarely_code;
  std::string_view elsewhere, elsewhere_code;
};

constexpr SideWork kSideWorks[] = {
    {"logging", "logging for a dashboard", "logging call", "logging calls",
     "if step % 100 == 0: writer.add_histogram(name, tensor, step)",
     "keep what is logged on its device and log it together at the end of the epoch, or log numbers instead of "
     "histograms",
     "kept.append(loss.detach())  # once an epoch: writer.add_scalar(name, torch.stack(kept).mean(), epoch)"},
    {"images", "writing images", "image", "images", "if step % 500 == 0: save_image(images, path)",
     "write them in another thread or process: the step then waits only until the pixels are copied to the host",
     "pool = ThreadPoolExecutor(1)  # once\npool.submit(save_image, images.detach().cpu(), path)"},
    {"metrics", "computing metrics", "metric", "metrics", "if step % 100 == 0: score = metric(predictions, targets)",
     "keep predictions and targets, and compute the metric once at the end of the epoch",
     "kept.append((output.detach(), target))  # once an epoch: metric(...)"},
};

std::vector<Bottleneck> CheckOne(const WholeRunView& run, const SideWork& work) {
  std::vector<Bottleneck> found =
      CheckRunPause(run, {.kind = work.kind,
                          .least_share = kSideWorkShare,
                          .what = work.what,
                          .once = work.once,
                          .often = work.often,
                          .recommendation = {"do it less often", "", std::string(work.rarely_code), "minutes"}});
  for (Bottleneck& bottleneck : found)
    bottleneck.recommendations.push_back({std::string(work.elsewhere), "", std::string(work.elsewhere_code), "hours"});
  return found;
}

Result<std::vector<Bottleneck>> Check(Tables& tables) {
  const WholeRunView run(tables);
  std::vector<Bottleneck> all;
  for (const SideWork& work : kSideWorks)
    for (Bottleneck& found : CheckOne(run, work)) all.push_back(std::move(found));
  return all;
}

}  // namespace

RULE(run_side_work) = {
    .id = "run_side_work",
    .type = BottleneckType::kHostBound,
    .title = "Over the whole run, steps wait for logging, images or metrics",
    .why =
        "Calls that the agent timed in every step: of SummaryWriter's add_… methods (TensorBoard, tensorboardX), "
        "wandb's "
        "log and MLflow's log_… functions; of what writes images (PIL, OpenCV, imageio, Matplotlib, torchvision); of "
        "the metrics of scikit-learn and torchmetrics. Of calls inside of calls the outermost counts, what an "
        "evaluation "
        "calls is part of the evaluation, and what another thread does is not counted. Reported, each kind by itself, "
        "at "
        "3 % of the steps' time or more.",
    .saves = "½, 9/10, all of it",
    .needs = kNeeds,
    .check = Check};

}  // namespace gapless::internal::run_side_work_rule
