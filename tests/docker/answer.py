#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host's end of the relay tests, which tests/docker/dial.c talks to.

answer.py PORTFILE [PATH]: serves on a free port of 127.0.0.1, whose number it
writes to PORTFILE, and on the unix socket PATH.  "put" takes bytes to their
end and tells their number, their sum and where they came from; "get N" sends
N bytes.
"""
import os
import socketserver
import sys
import threading
import zlib

BLOCK = os.urandom(1 << 20)


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline(100).split()
        if words[:1] == [b"put"]:
            self.take()
        elif words[:1] == [b"get"]:
            self.send(int(words[1]))

    def take(self):
        count = total = 0
        while piece := self.rfile.read1(1 << 16):
            count += len(piece)
            total = zlib.crc32(piece, total)
        peer = self.client_address[0] if self.client_address else "unix"
        self.wfile.write(f"{total:08x} {count} from {peer}\n".encode())

    def send(self, left):
        total = 0
        count = left
        while left > 0:
            piece = BLOCK[: min(left, len(BLOCK) - left % 4099)]
            self.wfile.write(piece)
            total = zlib.crc32(piece, total)
            left -= len(piece)
        print(f"sent {count} {total:08x}", flush=True)


class Tcp(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Unix(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def main():
    tcp = Tcp(("127.0.0.1", 0), Answer)
    if len(sys.argv) > 2:
        unix = Unix(sys.argv[2], Answer)
        threading.Thread(target=unix.serve_forever, daemon=True).start()
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as f:
        f.write(f"{tcp.server_address[1]}\n")
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    tcp.serve_forever()


if __name__ == "__main__":
    main()
