# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers: accumulated gradients, clipping, a schedule and evaluation."""

from __future__ import annotations

import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        tokens = torch.full((12,), index % 50)
        return {"input_ids": tokens, "labels": tokens}


if __name__ == "__main__":
    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=64, n_positions=16))
    with tempfile.TemporaryDirectory() as folder:
        given = TrainingArguments(
            output_dir=folder, max_steps=24, per_device_train_batch_size=2, gradient_accumulation_steps=2, use_cpu=True,
            report_to=[], disable_tqdm=True, save_strategy="no", eval_strategy="steps", eval_steps=8, logging_steps=1000,
        )  # fmt: skip
        trainer = Trainer(model=model, args=given, train_dataset=Texts(), eval_dataset=Texts())
        trainer.train()
        print("steps", trainer.state.global_step)
