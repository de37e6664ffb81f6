"""The rules. Each module has one function that returns findings, or nothing on a healthy program."""
