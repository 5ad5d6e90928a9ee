#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a command on a terminal of its own and presses keys at it.

usage: pty.py [--on REGEX KEYS | --when FILE KEYS]... [--limit SECONDS]
              COMMAND...

In the order given: waits until REGEX is in what was printed after the one
before it, or until FILE exists, and types KEYS ("^C" is Ctrl-C).  Prints what the terminal showed and returns
when the command itself has ended, as a shell would show its prompt, with
the command's status (128 and the signal that ended it; 99 after --limit).
"""

import os
import re
import select
import signal
import sys
import time


def parse(argv):
    steps, limit = [], 60.0
    while argv and argv[0].startswith("--"):
        if argv[0] in ("--on", "--when") and len(argv) > 2:
            steps.append(argv[:3])
            argv = argv[3:]
        elif argv[0] == "--limit" and len(argv) > 1:
            limit = float(argv[1])
            argv = argv[2:]
        else:
            break
    if not argv or argv[0].startswith("--"):
        sys.exit(__doc__)
    return steps, limit, argv


def keys(text):
    return re.sub(r"\^([A-Z])", lambda m: chr(ord(m[1]) - 64), text).encode()


def has_come(step, unseen):
    """Returns what is left of the output after the event, or None."""
    kind, what, _ = step
    if kind == "--when":
        return unseen if os.path.exists(what) else None
    found = re.search(what.encode(), unseen)
    return unseen[found.end():] if found else None


def read_some(fd, seconds):
    if not select.select([fd], [], [], seconds)[0]:
        return b""
    try:
        return os.read(fd, 65536)
    except OSError:  # the last process has left the terminal
        return b""


def drive(pid, fd, steps, limit):
    """Returns the wait status of pid, or None when time is up."""
    unseen = b""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        got = read_some(fd, 0.05)
        os.write(1, got)
        unseen += got
        while steps and (left := has_come(steps[0], unseen)) is not None:
            unseen = left
            os.write(fd, keys(steps.pop(0)[2]))
        if not got:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                os.write(1, read_some(fd, 0))
                return status
    return None


def main():
    steps, limit, command = parse(sys.argv[1:])
    pid, fd = os.forkpty()
    if pid == 0:
        os.execvp(command[0], command)
    status = drive(pid, fd, steps, limit)
    if status is None:
        os.kill(pid, signal.SIGKILL)
        sys.exit(99)
    sys.exit(os.waitstatus_to_exitcode(status) % 256
             if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))


main()
