# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The adapters: plugin, model, history and ids, over public ADK hooks only."""
