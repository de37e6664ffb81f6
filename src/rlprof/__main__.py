"""`python -m rlprof` is `rlprof`."""

from rlprof.cli.main import main

if __name__ == "__main__":
    main(prog_name="rlprof")
