"""What several exercises of notebook 12 share."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
