# SPDX-License-Identifier: Apache-2.0
"""Preference optimisation with TRL: the same model is called with and without gradients in each step."""

from __future__ import annotations

import tempfile

from datasets import Dataset
from tiny_model import make
from trl import DPOConfig, DPOTrainer

if __name__ == "__main__":
    model, tokenizer = make()
    rows = {"prompt": ["the cat"] * 32, "chosen": [" sat on a mat"] * 32, "rejected": [" ran far"] * 32}
    with tempfile.TemporaryDirectory() as folder:
        given = DPOConfig(
            output_dir=folder, max_steps=15, per_device_train_batch_size=2, use_cpu=True, bf16=False, report_to=[],
            disable_tqdm=True, save_strategy="no", gradient_checkpointing=False, gradient_accumulation_steps=1,
        )  # fmt: skip
        reference, _ = make()
        trainer = DPOTrainer(
            model=model,
            ref_model=reference,
            args=given,
            train_dataset=Dataset.from_dict(rows),
            processing_class=tokenizer,
        )
        trainer.train()
        print("steps", trainer.state.global_step)
