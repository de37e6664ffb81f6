"""The one compiled module, and the rules' pages from docs/. All else about the package stands in pyproject.toml."""

import glob
import os

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_py import build_py

PAGES = "docs/rules"


class BuildWithPages(build_py):
    """`rlprof explain` shows the pages of docs/rules/: they go into the package, which is the only place it has."""

    def run(self):
        super().run()
        if self.editable_mode:
            return  # there the package finds them where they are
        folder = os.path.join(self.build_lib, "rlprof", "advise", "pages")
        self.mkpath(folder)
        for page in glob.glob(f"{PAGES}/*.md"):
            self.copy_file(page, os.path.join(folder, os.path.basename(page)))


core = Extension(
    "rlprof._core",
    ["src/rlprof/_core.pyx"],
    depends=glob.glob("src/rlprof/core/*.pxi"),
    extra_compile_args=["-O2"] if os.name == "posix" else [],  # other compilers are told to optimise by setuptools
)

setup(
    cmdclass={"build_py": BuildWithPages},
    ext_modules=cythonize(
        [core],
        build_dir="build/cython",  # the generated C stays out of src
        compiler_directives={"language_level": 3, "binding": False, "boundscheck": False, "wraparound": False},
    ),
)
