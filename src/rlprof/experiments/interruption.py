"""Being asked to end, remembered.

A KeyboardInterrupt that is raised in a moment in which Python ignores exceptions (a module's lock is let go of, an
object is taken away) is lost. So who asks is noted as well, and looked for before each trial.
"""

from __future__ import annotations


class Interruption:
    def __init__(self) -> None:
        self._asked = False

    def ask(self) -> None:
        """Note that somebody wants the experiment to end."""
        self._asked = True

    def forget(self) -> None:
        """Begin anew."""
        self._asked = False

    def raise_if_asked(self) -> None:
        """The interrupt once more, in a moment in which nobody ignores it."""
        if self._asked:
            raise KeyboardInterrupt


interruption = Interruption()
