# SPDX-License-Identifier: Apache-2.0
"""Four nodes over sockets, because no plugin was found; or InfiniBand with GPUDirect RDMA."""

from comm_recording import log
from recording import Run


def fires(run: Run) -> None:
    text = log(
        "NCCL version 2.27.7+cuda12.9",
        "NET/Plugin: Could not find: libnccl-net.so.",
        "NET/IB : No device found.",
        "Using network Socket",
        "comm 0x55b6aa64a990 rank 0 nRanks 4 nNodes 4 localRanks 1 localRank 0 MNNVL 0",
        "Channel 00/0 : 3[0] -> 0[0] [receive] via NET/Socket/0",
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0",
    )
    text += "\nnode1:4711:4720 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.0.0.2<45763> failed\n"
    run.file("nccl.log", text.encode())


def silent(run: Run) -> None:
    text = log(
        "NCCL version 2.27.7+cuda12.9",
        "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>",
        "Using network IB",
        "comm 0x55b6aa64a990 rank 0 nRanks 4 nNodes 4 localRanks 1 localRank 0 MNNVL 0",
        "Channel 00/0 : 3[0] -> 0[0] [receive] via NET/IB/0/GDRDMA",
        "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA",
    )
    run.file("nccl.log", text.encode())
