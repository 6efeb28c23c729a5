#!/bin/sh
# A separate session, two parents away, without any of our descriptors.
setsid sh -c "(sleep 2; echo late >'$1') </dev/null >/dev/null 2>&1 &" &
echo "left something behind"
