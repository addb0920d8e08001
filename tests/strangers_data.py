#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes data for tests/strangers.toml in the format of a data set that would be downloaded: the right shapes, random content.

usage: strangers_data.py cora FOLDER | images FOLDER | model FOLDER

It needs what the scripts need anyway: numpy, and PIL or transformers where their files are written.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Callable

import numpy

RANDOM = numpy.random.default_rng(1)
WORDS = 200


def cora(folder: str) -> None:
    """A citation network: papers with words and a class, and who cites whom."""
    papers, features = 2708, 1433
    Path(folder).mkdir(parents=True, exist_ok=True)
    rows = RANDOM.random((papers, features)) < 0.0127
    with (Path(folder) / "cora.content").open("w") as file:
        for paper, row in enumerate(rows):
            file.write(f"{paper}\t" + "\t".join("1" if word else "0" for word in row) + f"\tclass{paper % 7}\n")
    edges = RANDOM.integers(0, papers, (5429, 2))
    (Path(folder) / "cora.cites").write_text("".join(f"{first}\t{second}\n" for first, second in edges))


def images(folder: str) -> None:
    """JPEG pictures in a folder per class, to train and to validate with."""
    from PIL import Image

    side, count = 96, 480
    for part, share in (("train", 1), ("val", 4)):
        for index in range(count // share):
            place = Path(folder) / part / f"class{index % 4}"
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(RANDOM.integers(0, 256, (side, side, 3), "uint8")).save(place / f"{index}.jpg")


def model(folder: str) -> None:
    """A language model with its tokenizer, both from nothing, and a data set of text beside it."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    names = ["<pad>", "<eos>", "<unk>", *(f"w{number}" for number in range(WORDS))]
    inner = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>")
    ends = {"bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0}
    config = GPT2Config(n_layer=2, n_head=4, n_embd=128, vocab_size=len(names), n_positions=128, **ends)
    GPT2LMHeadModel(config).save_pretrained(Path(folder) / "model")
    tokenizer.save_pretrained(Path(folder) / "model")
    data, draw = Path(folder) / "data", random.Random(1)
    data.mkdir(exist_ok=True)
    text = (" ".join(f"w{draw.randrange(WORDS)}" for _ in range(80)) for _ in range(800))
    (data / "train.jsonl").write_text("".join(f'{{"text": "{line}"}}\n' for line in text))


KINDS: dict[str, Callable[[str], None]] = {"cora": cora, "images": images, "model": model}

if __name__ == "__main__":
    KINDS[sys.argv[1]](sys.argv[2])
