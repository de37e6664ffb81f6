"""The version, in the one place that the build, `rlprof.__version__` and recordings read it from."""

__version__ = "0.1.0"
