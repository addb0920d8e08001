# SPDX-License-Identifier: Apache-2.0
"""Files of the run, for their owner only: nobody else on the machine reads them, or has us write where they want it.

A folder is made for its owner, and one that is a link or belongs to somebody else is not used. A file is made anew, never opened
through what lies there already. What is written under another name first goes when the disk has no room for it.
"""

from __future__ import annotations

import errno
import os
import stat

FOLDER, FILE = 0o700, 0o600
ENOUGH_BYTES = 1 << 20  # a disk with less left is the reason why a file ends too early


def make_folder(path: str) -> str:
    above = os.path.dirname(path)
    os.makedirs(above, FOLDER, exist_ok=True)
    try:
        os.mkdir(path, FOLDER)
    except FileExistsError:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), os.stat(above).st_uid):
            raise
    return path


def make_file(path: str) -> int:
    """The descriptor of a new file."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE)


def remove(*paths: str) -> None:
    """Returns the files that exist."""
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            continue


def check_json(path: str) -> None:
    """An OSError where the file does not end as JSON does: its writer said nothing of a disk that was full."""
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - 64))
        if file.read().rstrip().endswith((b"}", b"]")):
            return
    disk = os.statvfs(path)
    code = errno.ENOSPC if disk.f_bavail * disk.f_frsize < ENOUGH_BYTES else errno.EIO
    raise OSError(code, os.strerror(code))
