#!/bin/sh
# With permission for a host, a proxy is available and nothing else.
python3 - "$1" <<'PY'
import os, socket, sys, urllib.request
host, port = sys.argv[1].rsplit(":", 1)
try:
    page = urllib.request.urlopen(f"http://{host}:{port}/", timeout=10).read()
    print("through the proxy:", page.decode().strip())
except Exception as error:
    print("through the proxy: refused,", error)
try:
    socket.create_connection((host, int(port)), timeout=3)
    print("directly: connected")
    sys.exit(0)
except OSError as error:
    print("directly: refused,", error)
sys.exit(0 if "page" in globals() else 1)
PY
