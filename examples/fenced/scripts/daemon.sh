#!/bin/sh
# A session of its own, two parents away, with nothing of ours open.
setsid sh -c "(sleep 2; echo late >'$1') </dev/null >/dev/null 2>&1 &" &
echo "left something behind"
