# SPDX-License-Identifier: MIT
"""Turns dockrun's request into one that starts without a dockrun.

usage: dockrun --print-request ... | request.py COMMAND
"""
import json
import os
import sys

body = json.load(sys.stdin)
# fzinit would wait for a dockrun to report to.
body["Entrypoint"] = [sys.argv[1]]
body["Cmd"] = []
for mount in body["HostConfig"]["Mounts"]:
    if not os.path.exists(mount["Source"]):
        os.makedirs(mount["Source"])
json.dump(body, sys.stdout)
