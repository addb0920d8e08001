// SPDX-License-Identifier: Apache-2.0
// The files of a kernel: an extension of PyTorch for the host and for CUDA, a Triton kernel, a module that calls them
// with gradients, a test and a benchmark. All are made from the plan.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "forge/plan.h"
#include "forge/schedule.h"

namespace gapless::internal {

struct KernelFile {
  std::string name{};
  std::string text{};
};

// Facts of the chain beside its plan, for the texts.
struct KernelAbout {
  std::string name{};         // of the function and of its files: "fused_add_gelu"
  std::string source_line{};  // "model.py:41"; empty: not recorded
  std::string recording{};    // where the chain was found; empty: not said
  std::string after{};        // the convolution right before the chain, "aten::cudnn_convolution"; empty: none
};

// A name for the kernel of a chain, of its operators: "fused_add_gelu"; at most 48 characters.
std::string KernelNameOf(const KernelPlan& plan);
// All files of a folder.
std::vector<KernelFile> WriteKernel(const KernelPlan& plan, const KernelAbout& about);

// Single files, and parts of them.
std::string ArithmeticHeader(const KernelPlan& plan, const KernelAbout& about);  // <name>.h
std::string HostSource(const KernelPlan& plan, const KernelAbout& about);        // <name>.cpp
std::string CudaSource(const KernelPlan& plan, const KernelAbout& about);        // <name>.cu
std::string TritonSource(const KernelPlan& plan, const KernelAbout& about);      // <name>_triton.py
std::string ModuleSource(const KernelPlan& plan, const KernelAbout& about);      // <name>.py

using TemplateKeys = std::vector<std::pair<std::string, std::string>>;
// `text` with each @KEY@ replaced. A line that begins with @?KEY@ stays, without that, where the key has a text; one
// that begins with @!KEY@ stays where it has none.
std::string WithKeys(std::string_view text, const TemplateKeys& keys);
// Keys that all files have: the figures of the window, and what is there with one alone.
TemplateKeys WindowKeys(const KernelPlan& plan);
// "T", "W" or "bool": the C++ type of a tensor whose kernel works mainly on `main`.
std::string_view StorageOf(ElementType type, ElementType main);

}  // namespace gapless::internal
