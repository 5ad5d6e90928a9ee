#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""All the world outside, for tests: every address, in one namespace.

  inet.py internet DIR   names, TLS sites and catch-all listeners; a log of
                         every packet that arrives by the interface "inward"
  inet.py host DIR       listeners on every address of the host's namespace

DIR/names has a line "TYPE NAME" per question, DIR/packets a line
"PROTOCOL ADDRESS PORT" per new kind of packet, DIR/contacts (DIR/host) one
per connection or datagram.  DIR/site.pem is certificate and key of the sites.
"""
import ipaddress
import os
import socket
import ssl
import struct
import sys
import threading

SERVER = "100.200.0.53"
SITE = "100.200.0.21"
INSIDE = "10.20.30.40"  # a machine of the host's own network
NAMES = {
    "api.anthropic.com": ["100.200.0.20"],
    "claude.ai": [SITE],
    "evil.example": ["100.200.0.66", "2600:dead::66"],
    "good.allowed.example": [SITE],
    "private.allowed.example": [INSIDE],
    "meta.allowed.example": ["169.254.169.254"],
    "loop.allowed.example": ["127.0.0.1"],
    "zero.allowed.example": ["0.0.0.0"],
    "carrier.allowed.example": ["100.64.0.1"],
    "mixed.allowed.example": [SITE, INSIDE],
    "six.allowed.example": ["::1"],
    "mapped.allowed.example": ["::ffff:" + INSIDE],
    "unique.allowed.example": ["fd00::1"],
    "66.0.200.100.in-addr.arpa": "claude.ai",
    "21.0.200.100.in-addr.arpa": "claude.ai",
}
FLIP = ([SITE], [INSIDE])  # flip*: now the one, now the other
TYPES = {1: "A", 12: "PTR", 28: "AAAA"}
TCP_PORTS = (22, 25, 80, 443, 2375, 3128, 5432, 8080, 8443, 9999)
UDP_PORTS = (123, 443, 9999)
PATIENCE = 20  # seconds for a silent client


class Log:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.seen = set()

    def add(self, line):
        with self.lock:
            self.file.write(line + "\n")
            self.file.flush()

    def once(self, line):
        if line not in self.seen:
            self.seen.add(line)
            self.add(line)


def spawn(what, *args):
    threading.Thread(target=what, args=args, daemon=True).start()


def wire(name):
    return b"".join(bytes([len(part)]) + part.encode()
                    for part in name.split(".")) + b"\0"


class Names:
    """A name server that answers from NAMES with a life of 0 seconds."""

    def __init__(self, log):
        self.log = log
        self.flips = {}

    def lookup(self, name, kind):
        if name.startswith("flip") and kind == "A":
            self.flips[name] = self.flips.get(name, 1) + 1
            return FLIP[self.flips[name] % 2]
        return NAMES.get(name)

    @staticmethod
    def records(found, kind):
        if isinstance(found, str):
            return [wire(found)] if kind == "PTR" else []
        version = {"A": 4, "AAAA": 6}.get(kind)
        return [a.packed for a in map(ipaddress.ip_address, found or [])
                if a.version == version]

    def answer(self, q):
        at, labels = 12, []
        while q[at]:
            labels.append(q[at + 1:at + 1 + q[at]].decode("latin-1"))
            at += 1 + q[at]
        name = ".".join(labels).lower()
        number = struct.unpack("!H", q[at + 1:at + 3])[0]
        kind = TYPES.get(number, str(number))
        self.log.add("%s %s" % (kind, name))
        found = self.lookup(name, kind)
        data = self.records(found, kind)
        code = 0x8180 if found else 0x8183
        return (q[:2] + struct.pack("!HHHHH", code, 1, len(data), 0, 0)
                + q[12:at + 5]
                + b"".join(b"\xc0\x0c" + struct.pack("!HHIH", number, 1, 0,
                                                     len(d)) + d
                           for d in data))

    def udp(self, s):
        while True:
            q, peer = s.recvfrom(4096)
            try:
                s.sendto(self.answer(q), peer)
            except (IndexError, struct.error, OSError):
                self.log.add("broken question")

    def tcp(self, s):
        while True:
            c, _ = s.accept()
            with c:
                try:
                    c.settimeout(PATIENCE)
                    a = self.answer(c.recv(4096)[2:])
                    c.sendall(struct.pack("!H", len(a)) + a)
                except (IndexError, struct.error, OSError):
                    self.log.add("broken question")


def listen(address, port, kind=socket.SOCK_STREAM):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    s.bind((address, port))
    if kind == socket.SOCK_STREAM:
        s.listen(128)
    return s


def serve_one(c, peer, tls, log):
    where = "tcp %s %d" % c.getsockname()[:2]
    log.add("%s from %s" % (where, peer[0]))
    try:
        c.settimeout(PATIENCE)
        if tls:
            c = tls.wrap_socket(c, server_side=True)
        got = c.recv(65536)
        log.add("%s said %r" % (where, got[:200]))
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n"
                  b"Connection: close\r\n\r\nreached\n")
    except OSError as e:
        log.add("%s broke %s" % (where, type(e).__name__))
    finally:
        c.close()


def serve(s, tls, log):
    while True:
        c, peer = s.accept()
        spawn(serve_one, c, peer, tls, log)


def datagrams(s, log):
    while True:
        data, peer = s.recvfrom(65536)
        log.add("udp %d from %s said %r" % (s.getsockname()[1], peer[0],
                                            data[:200]))


def destination(frame):
    """-> protocol, address and port of a frame, or None"""
    kind = struct.unpack("!H", frame[12:14])[0]
    if kind == 0x0800:
        head, number = 14 + 4 * (frame[14] & 15), frame[23]
        address = socket.inet_ntop(socket.AF_INET, frame[30:34])
    elif kind == 0x86dd:
        head, number = 54, frame[20]
        address = socket.inet_ntop(socket.AF_INET6, frame[38:54])
        if address.startswith("ff02:") or frame[22:24] == b"\xfe\x80":
            return None  # neighbours finding each other
    else:
        return None if kind == 0x0806 else ("ether-%04x" % kind, "-", 0)
    if number == 6 and not frame[head + 13] & 2:
        return None  # only openings
    port = struct.unpack("!H", frame[head + 2:head + 4])[0] \
        if number in (6, 17) else 0
    return ({6: "tcp", 17: "udp", 1: "icmp", 58: "icmp6"}.get(
        number, str(number)), address, port)


def sniff(s, log):
    while True:
        frame, (_, _, kind, *_) = s.recvfrom(2048)
        if kind == socket.PACKET_OUTGOING:
            continue
        try:
            found = destination(frame)
        except (IndexError, struct.error):
            found = ("broken", "-", 0)
        if found:
            log.once("%s %s %d" % found)


def catch_all(log, tls):
    for address in ("0.0.0.0", "::"):
        for port in TCP_PORTS:
            spawn(serve, listen(address, port),
                  tls if port in (443, 8443) else None, log)
        for port in UDP_PORTS:
            spawn(datagrams, listen(address, port, socket.SOCK_DGRAM), log)


def internet(where):
    names = Names(Log(os.path.join(where, "names")))
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                            socket.htons(3))
    packets.bind(("inward", 0))
    spawn(sniff, packets, Log(os.path.join(where, "packets")))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(os.path.join(where, "site.pem"))
    spawn(names.udp, listen(SERVER, 53, socket.SOCK_DGRAM))
    spawn(names.tcp, listen(SERVER, 53))
    catch_all(Log(os.path.join(where, "contacts")), tls)


def host(where):
    log = Log(os.path.join(where, "host"))
    ports = [p for p in TCP_PORTS if p not in (3128, 8080)]
    for address in ("0.0.0.0", "::"):
        for port in ports:
            spawn(serve, listen(address, port), None, log)
        for port in UDP_PORTS + (53,):
            spawn(datagrams, listen(address, port, socket.SOCK_DGRAM), log)


if __name__ == "__main__":
    {"internet": internet, "host": host}[sys.argv[1]](sys.argv[2])
    print("ready", flush=True)
    threading.Event().wait()
