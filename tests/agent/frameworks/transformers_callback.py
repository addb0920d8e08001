# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers with the callback of gapless; gradients are accumulated over two batches."""

from __future__ import annotations

import tempfile

from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
from transformers_trainer import Texts
from watched import OPTIONS, report  # which puts gapless on the path

# isort: split
from gapless.integrations.transformers import GaplessCallback

if __name__ == "__main__":
    model = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=64, n_positions=16))
    callback = GaplessCallback(**OPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        given = TrainingArguments(
            output_dir=folder, max_steps=24, per_device_train_batch_size=2, gradient_accumulation_steps=2, use_cpu=True,
            report_to=[], disable_tqdm=True, save_strategy="no", eval_strategy="steps", eval_steps=8, logging_steps=3,
        )  # fmt: skip
        trainer = Trainer(model=model, args=given, train_dataset=Texts(), eval_dataset=Texts(), callbacks=[callback])
        trainer.train()
        report(callback.watch, trainer.state.global_step)
