#!/bin/sh
# Each mutation of tests/mutate/list can still be made: its line is there, once, and so are its tests.
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
exec python3 "${top_srcdir:-.}/tests/mutate/run.py" --check
