# SPDX-License-Identifier: Apache-2.0
"""Callbacks for training frameworks, one module each: `transformers`, `lightning`, `accelerate`.

They say where steps end, may record some steps, and may log steps, losses and findings to W&B, MLflow or TensorBoard. Importing this
package imports no framework; importing one of its modules imports that framework.
"""
