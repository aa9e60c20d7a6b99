#!/bin/sh
# Stands for the unit and component tests where configure did not find what they are linked with.
echo "unit and component tests: libcmocka-dev is not installed; install it and configure again"
exit 77
