# SPDX-License-Identifier: Apache-2.0
"""The graph of critical_path_analysis under the name that HTA has for it."""

from ..critical_path import critical_path_analysis
from ..graph import BoundType, CPEdge, CPEdgeType, CPGraph, CPNode, restore_cpgraph

__all__ = ["BoundType", "CPEdge", "CPEdgeType", "CPGraph", "CPNode", "critical_path_analysis", "restore_cpgraph"]
