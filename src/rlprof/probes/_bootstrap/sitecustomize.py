"""Read by every Python that starts below `rlprof run`: turns recording on, then makes way for the user's own file.

Nothing here may fail or print: it runs in every Python of the run, also in those that have no rlprof.
"""

import os
import sys


def _begin():
    session = os.environ.get("RLPROF_SESSION")
    if not session:
        return
    try:
        from rlprof.probes.bootstrap import begin_recording
    except Exception:  # another interpreter, without rlprof or with one that does not load there
        return
    begin_recording(session)


def _make_way():
    """Load the sitecustomize that would have been found without this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != here]
    this = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if this is not None:  # the import system looks for what it has just loaded
            sys.modules.setdefault("sitecustomize", this)


try:
    _make_way()
finally:  # also where the user's own file fails
    _begin()
