"""What a faster part brings the whole, at most."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gain:
    """`share` of the time is the part's; alone it became `faster` times as fast."""

    share: float
    faster: float

    @property
    def expected(self) -> float:
        """How many times as fast the whole is with the faster part."""
        return 1.0 / (1.0 - self.share + self.share / self.faster)

    @property
    def bound(self) -> float | None:
        """The same if the part took no time at all; None where it is all there is."""
        return 1.0 / (1.0 - self.share) if self.share < 1.0 else None
