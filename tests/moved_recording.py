# SPDX-License-Identifier: Apache-2.0
"""The sample, as if it had been recorded elsewhere: its script lies at another path, on another machine, in somebody's folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from corpus import ROOT

SAMPLE = next((ROOT / "samples").glob("resnet50*.json.gz"))
HOME = "/" + "home"  # made, so that no path of a machine is in the source
SCRIPT = "resnet50_profiler_api.py"  # its name in the sample
LIBRARY = HOME + "/yangu/anaconda3/envs/kineto/lib/python3.7/site-packages"

LINUX = f"{HOME}/zorblax/quuxproject/src/trainer.py"
MAC = "/" + "Users/Zorb Lax/quux project/trainer.py"
WINDOWS = "C:\\Users\\Zorb Lax\\quuxproject\\src\\trainer.py"
WINDOWS_LIBRARY = "C:\\Users\\Zorb Lax\\anaconda3\\lib\\site-packages"
HOST = "quuxnode-7.cluster.example"
DATA = "/" + "mnt/quuxstore/imagenet"


def recording(file: Path, script: str, library: str = LIBRARY, host: str | None = None) -> Path:
    """Writes the recording, with a range that names a folder; with a host, also settings that name it and a user."""

    def escaped(path: str) -> str:
        return json.dumps(path)[1:-1]

    text = gzip.decompress(SAMPLE.read_bytes()).decode()
    # Frames of Windows have backslashes alone within the recorded text, as Kineto writes them.
    text = text.replace(f"{SCRIPT}(", f"{escaped(script)}(").replace(
        LIBRARY + "/", escaped(library + ("\\" if "\\" in library else "/"))
    )
    document = json.loads(text)
    for event in document["traceEvents"]:
        if event.get("name", "").startswith("enumerate(DataLoader)"):
            event["name"] += f" of {DATA}/train"
            break
    if host is not None:
        document["hostname"] = host
        document["USER"] = "zorblax"
        document["traceName"] = f"{HOME}/zorblax/runs/{host}_977.1718000100000.pt.trace.json"
        document["command"] = f"python {script} --data {DATA} --host {host}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")
    return file
