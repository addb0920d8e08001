# SPDX-License-Identifier: Apache-2.0
"""Supervised fine-tuning with TRL."""

from __future__ import annotations

import tempfile

from datasets import Dataset
from tiny_model import make
from trl import SFTConfig, SFTTrainer

if __name__ == "__main__":
    model, tokenizer = make()
    data = Dataset.from_dict({"text": ["the cat sat on a mat", "a dog ran far"] * 16})
    with tempfile.TemporaryDirectory() as folder:
        given = SFTConfig(
            output_dir=folder, max_steps=15, per_device_train_batch_size=2, use_cpu=True, bf16=False, report_to=[],
            disable_tqdm=True, save_strategy="no", max_length=32, gradient_checkpointing=False,
        )  # fmt: skip
        trainer = SFTTrainer(model=model, args=given, train_dataset=data, processing_class=tokenizer)
        trainer.train()
        print("steps", trainer.state.global_step)
