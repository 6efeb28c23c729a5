#!/bin/sh
echo "I was here" >"$1" && echo "wrote $1"
