"""The one compiled module. Everything else about the package stands in pyproject.toml."""

import glob
import os

from Cython.Build import cythonize
from setuptools import Extension, setup

core = Extension(
    "rlprof._core",
    ["src/rlprof/_core.pyx"],
    depends=glob.glob("src/rlprof/core/*.pxi"),
    extra_compile_args=["-O2"] if os.name == "posix" else [],  # other compilers are told to optimise by setuptools
)

setup(
    ext_modules=cythonize(
        [core],
        build_dir="build/cython",  # the generated C stays out of src
        compiler_directives={"language_level": 3, "binding": False, "boundscheck": False, "wraparound": False},
    )
)
