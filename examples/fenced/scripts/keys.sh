#!/bin/sh
# A script sees an empty home; the password file contains the path of the real one.
home=$(getent passwd "$(id -un)" 2>/dev/null | cut -d: -f6)
ls -a "${home:-/root}/.ssh" && echo "read the keys"
