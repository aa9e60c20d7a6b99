#!/bin/sh
# Make ./configure from configure.ac.  A dist tarball has it already.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
autoreconf --install --force
