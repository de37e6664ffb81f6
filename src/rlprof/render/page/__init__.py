"""The report, or a comparison, as one page for a browser: everything in one file, and nothing asked of the network."""

from __future__ import annotations

from rlprof.render.page.comparison import comparison_payload
from rlprof.render.page.document import document
from rlprof.render.page.report import report_payload

__all__ = ["comparison_payload", "document", "report_payload"]
