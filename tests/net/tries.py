#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what attack says to the gate and to the proxy, and what must come.

  tries.py gate|connect DIR TOKEN GATE-PORT PROXY-PORT [PREFIX]

DIR/NAME and DIR/NAME.2 are bytes to send; DIR/GROUP.list is for attack, with
PREFIX (default DIR) before the files' names; DIR/GROUP.want has a line
"NAME|WANTED|WHAT" per try, where WANTED is an extended regular expression.
Every request to the gate carries its name in X-Try, so that a server's log
tells which of them went through.
"""
import os
import ssl
import sys

BODY = b'{"messages":[{"role":"user","content":"[[scn:plain]]"}]}'
STOLEN = "sk-stolen-somebody-elses"
NO = "403"
REFUSED = "4[0-9][0-9]|501|closed"
OTHER = "/v1/files"  # what no session may ask for


def hello(name):
    """The first bytes of TLS, with or without a server's name."""
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    try:
        c.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def forged(name):
    """A ClientHello with a server's name that no library would send."""
    plain = ".".join(["a" * 49] * 6)[:len(name)].rstrip(".")
    plain += "a" * (len(name) - len(plain))
    return hello(plain).replace(plain.encode(), name)


def fragments(record):
    """The same ClientHello, in records of 20 bytes."""
    data = record[5:]
    return b"".join(record[:3] + len(part).to_bytes(2, "big") + part
                    for part in (data[i:i + 20]
                                 for i in range(0, len(data), 20)))


class Tries:
    def __init__(self, group, where, token, port, prefix):
        self.token = token
        self.where = where
        self.port = port
        self.prefix = prefix
        self.flips = 0
        self.list = open(os.path.join(where, group + ".list"), "w",
                         encoding="ascii")
        self.wants = open(os.path.join(where, group + ".want"), "w",
                          encoding="ascii", errors="backslashreplace")

    def add(self, name, want, what, *parts, port=None):
        files = []
        for i, part in enumerate(parts):
            files.append(name + (".%d" % (i + 1) if i else ""))
            with open(os.path.join(self.where, files[-1]), "wb") as f:
                f.write(part)
        print(name, "say 127.0.0.1", port or self.port,
              *(os.path.join(self.prefix, f) for f in files), file=self.list)
        print(name, want, what, sep="|", file=self.wants)

    def request(self, name, method="POST", target="/v1/messages",
                version="HTTP/1.1", key=None, host="127.0.0.1:8080", extra=(),
                body=BODY, length=True, close=True):
        if method in ("GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"):
            body, length = b"", False
        lines = ["%s %s %s" % (method, target, version)]
        if host:
            lines.append("Host: " + host)
        lines.append("X-Try: " + name)
        if key is None:
            key = self.token
        if key:
            lines.append("X-Api-Key: " + key)
        lines += extra
        if length:
            lines.append("Content-Length: %d" % len(body))
        if close:
            lines.append("Connection: close")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body

    def gate(self, name, want, what, **how):
        self.add(name, want, what, self.request(name, **how))

    def tunnel(self, name, want, target, then=None, headers=""):
        first = "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (
            target, target, headers)
        parts = [first.encode("latin-1")] + ([then] if then else [])
        self.add(name, want, "CONNECT " + target.replace("|", ""), *parts)


def gate_plain(t):
    t.gate("good", "200", "what a session asks for")
    t.gate("good-beta", "200", "the same, as the agent asks",
           target="/v1/messages?beta=true")
    t.gate("good-count", "200", "counting tokens",
           target="/v1/messages/count_tokens")
    t.gate("token-none", NO, "no token", key="")
    t.gate("token-wrong", NO, "a wrong token", key="0" * 32)
    t.gate("token-longer", NO, "a longer token", key=t.token + "0")
    t.gate("token-shorter", NO, "a shorter token", key=t.token[:-1])
    t.gate("token-bearer", NO, "the token elsewhere", key="",
           extra=["Authorization: Bearer " + t.token])
    t.gate("key-foreign", NO, "a foreign key", key=STOLEN)
    t.gate("key-two", "403|200", "the token and a foreign key",
           extra=["X-Api-Key: " + STOLEN])
    t.gate("key-two-other", "403|200", "a foreign key and the token",
           key=STOLEN, extra=["X-Api-Key: " + t.token])
    t.gate("key-bearer", "200", "the token and foreign credentials",
           extra=["Authorization: Bearer " + STOLEN, "Cookie: k=" + STOLEN,
                  "Proxy-Authorization: Basic " + STOLEN])
    t.gate("key-hop", "200|401|403", "a header that would take the key away",
           extra=["Connection: X-Api-Key, Host"], close=False)
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS",
                   "TRACE", "PURGE", "POSTS", "MKCOL"):
        t.gate("method-" + method, REFUSED, method, method=method)
    t.gate("method-post", "200|" + REFUSED, "small letters", method="post")


def gate_paths(t):
    paths = {
        "files": OTHER, "models": "/v1/models", "root": "/",
        "batches": "/v1/messages/batches", "slashes": "//v1/messages",
        "slashes-in": "/v1//messages", "slash-end": "/v1/messages/",
        "up": "/v1/messages/../files", "up-coded": "/v1/messages/%2e%2e/files",
        "up-half": "/v1/messages/.%2e/files",
        "up-slash": "/v1/messages/..%2ffiles",
        "up-twice": "/v1/messages/%252e%252e/files",
        "up-same": "/v1/files/../messages", "dot": "/v1/./messages",
        "backslash": "/v1/messages\\..\\files", "semicolon": "/v1/messages;x",
        "case": "/V1/Messages", "query": "/v1/messages?beta=true&x=1",
        "query-data": "/v1/messages?secret=text", "empty-query":
        "/v1/messages?", "query-two": "/v1/messages?beta=true?beta=true",
        "query-up": "/v1/messages?beta=true/../../files",
        "query-inner": OTHER + "?/v1/messages", "hash": OTHER +
        "#/v1/messages", "nul": "/v1/messages%00/../files",
        "line": "/v1/messages%0d%0aX-Evil:%201", "space":
        "/v1/messages%20/../files", "prefix": "/x/v1/messages",
        "long": "/v1/messages?" + "a" * 20000, "long-log":
        OTHER + "?" + "a" * 8000,
        "letter": "/v1/%6dessages", "question": "/v1/messages%3fbeta=true",
    }
    for name, path in paths.items():
        t.gate("path-" + name, REFUSED, path[:40], target=path)


def gate_elsewhere(t):
    to = {
        "evil": "http://evil.example/v1/messages",
        "evil-tls": "https://evil.example/v1/messages",
        "address": "http://100.200.0.66/v1/messages",
        "host": "http://127.0.0.1:9999/v1/messages",
        "metadata": "http://169.254.169.254/v1/messages",
        "user": "http://api.anthropic.com@evil.example/v1/messages",
        "ftp": "ftp://evil.example/v1/messages",
    }
    # The gate has one peer: what it does pass goes there.
    for name, url in to.items():
        t.gate("url-" + name, "200|" + REFUSED, url, target=url)
    t.gate("url-manager", REFUSED, "cache_object", method="GET",
           target="cache_object://127.0.0.1/info")
    t.gate("url-manager-http", REFUSED, "squid-internal-mgr", method="GET",
           target="/squid-internal-mgr/info")
    t.gate("host-evil", "200|" + REFUSED, "Host: evil.example",
           host="evil.example")
    t.gate("host-two", "200|" + REFUSED, "two Hosts",
           extra=["Host: evil.example"])
    t.gate("host-none", "200|" + REFUSED, "no Host", host="")
    t.gate("host-forwarded", "200", "X-Forwarded-Host, Forwarded",
           extra=["X-Forwarded-Host: evil.example",
                  "Forwarded: host=evil.example", "X-Host: evil.example"])
    t.gate("connect", REFUSED, "CONNECT at the gate", method="CONNECT",
           target="evil.example:443")
    t.gate("connect-api", REFUSED, "CONNECT to the API", method="CONNECT",
           target="api.anthropic.com:443")
    t.gate("upgrade", "200|" + REFUSED, "Upgrade: h2c",
           extra=["Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"])


def gate_smuggling(t):
    evil = t.request("smuggled", target=OTHER)
    end = b"0\r\n\r\n"
    any_answer = "closed|[245][01][0-9]([+][245][01][0-9])*"

    def raw(name, what, extra, body, **how):
        t.gate("raw-" + name, any_answer, what, extra=extra, body=body,
               length=False, **how)

    n = len(BODY)
    raw("lengths", "two lengths", ["Content-Length: %d" % n,
                                   "Content-Length: %d" % (n + len(evil))],
        BODY + evil, close=False)
    raw("lengths-small", "two lengths, the last is 0",
        ["Content-Length: %d" % len(evil), "Content-Length: 0"], evil,
        close=False)
    raw("length-list", "a list of lengths", ["Content-Length: 0, %d" %
                                             len(evil)], evil, close=False)
    for name, value in (("plus", "+0"), ("hex", "0x0"), ("minus", "-1"),
                        ("huge", "18446744073709551616"), ("word", "zero")):
        raw("length-" + name, "length " + value, ["Content-Length: " + value],
            evil, close=False)
    raw("both", "a length and chunks", ["Content-Length: %d" %
                                        len(end + evil),
                                        "Transfer-Encoding: chunked"],
        end + evil, close=False)
    raw("both-other", "chunks and a short length", [
        "Transfer-Encoding: chunked", "Content-Length: 4"],
        b"%x\r\n%b\r\n" % (len(evil), evil) + end, close=False)
    for name, value in (("x", "xchunked"), ("identity", "chunked, identity"),
                        ("gzip", "gzip, chunked"), ("tab", "\tchunked"),
                        ("quoted", '"chunked"'), ("case", "CHUNKED")):
        raw("coding-" + name, "coding " + value.strip(),
            ["Transfer-Encoding: " + value, "Content-Length: 5"], end + evil,
            close=False)
    raw("coding-two", "two codings", ["Transfer-Encoding: chunked",
                                      "Transfer-Encoding: x"], end + evil,
        close=False)
    raw("coding-space", "a space before the colon",
        ["Transfer-Encoding : chunked", "Content-Length: 5"], end + evil,
        close=False)
    raw("coding-old", "chunks in HTTP/1.0", ["Transfer-Encoding: chunked"],
        end + evil, version="HTTP/1.0", close=False)
    for name, size in (("overflow", b"10000000000000000"), ("sign", b"-1"),
                       ("hex", b"0x0"), ("space", b" 0"), ("ext", b"0;\n"),
                       ("lf", b"0\n")):
        raw("chunk-" + name, "a chunk's size", ["Transfer-Encoding: chunked"],
            size + b"\r\n\r\n" + evil, close=False)
    raw("trailer", "a trailer with a key", ["Transfer-Encoding: chunked",
                                            "Trailer: X-Api-Key"],
        b"%x\r\n%b\r\n0\r\nX-Api-Key: %b\r\nHost: evil.example\r\n\r\n" % (
            n, BODY, STOLEN.encode()))
    raw("fold", "a folded header", ["X-A: b\r\n Content-Length: %d" % n,
                                    "Content-Length: 0"], evil, close=False)
    raw("fold-key", "a folded key", ["X-Api-Key:\r\n " + STOLEN,
                                     "Content-Length: %d" % n], BODY)
    raw("nul", "a NUL", ["X-A: b\0c", "Content-Length: %d" % n], BODY)
    raw("cr", "a bare CR", ["X-A: b\rX-Api-Key: " + STOLEN,
                            "Content-Length: %d" % n], BODY)
    raw("no-name", "a header with no name", [": x", "Content-Length: %d" % n],
        BODY)
    t.add("raw-lf", any_answer, "bare LF",
          t.request("raw-lf").replace(b"\r\n", b"\n"))
    t.add("raw-pipeline", any_answer, "one after the other",
          t.request("raw-pipeline", close=False) + evil)
    t.add("raw-09", any_answer, "HTTP/0.9", b"GET /v1/files\r\n\r\n")
    t.add("raw-h2", any_answer, "HTTP/2",
          b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
    t.add("raw-tls", "closed|bytes|silent|" + any_answer, "TLS at the gate",
          hello("api.anthropic.com"))
    for i, line in enumerate((
            "PO\x01ST /v1/messages HTTP/1.1", "P\"OST /v1/messages HTTP/1.1",
            "POST /v1/\x01\x7f\x80 HTTP/1.1", "POST /v1/\x0bx HTTP/1.1",
            "POST /v1/messages\tx client=127.64.9.9 HTTP/1.1",
            "A" * 8000 + " /v1/messages HTTP/1.1",
            "POST\x0b/v1/messages HTTP/1.1", "POST /v1/a\rb HTTP/1.1")):
        t.add("raw-line-%d" % i, any_answer, "odd bytes in the first line",
              t.request("raw-line-%d" % i).replace(
                  b"POST /v1/messages HTTP/1.1", line.encode("latin-1"), 1))
    t.gate("raw-source", "200", "somebody else's address",
           extra=["X-Forwarded-For: 127.64.9.9", "X-Real-IP: 127.64.9.9",
                  "Forwarded: for=127.64.9.9", "Client-IP: 127.64.9.9"])
    t.add("raw-header", REFUSED, "200 KB of header", t.request(
        "raw-header", extra=["X-A: " + "a" * 200000]))
    t.add("raw-headers", "200|" + REFUSED, "3000 headers", t.request(
        "raw-headers", extra=["X-%d: a" % i for i in range(3000)]))


def connect_names(t):
    ok, ch = "200/tls", hello("claude.ai")
    t.tunnel("site", ok, "claude.ai:443", ch)
    t.tunnel("site-upper", ok, "CLAUDE.AI:443", ch)
    t.tunnel("site-below", ok, "good.allowed.example:443",
             hello("good.allowed.example"))
    for name, target in {
            "evil": "evil.example:443", "suffix": "claude.ai.evil.example:443",
            "prefix": "notclaude.ai:443", "below": "x.claude.ai:443",
            "path": "evil.example/claude.ai:443", "user":
            "claude.ai@evil.example:443", "user-other":
            "evil.example@claude.ai:443", "hash":
            "evil.example#claude.ai:443",
            "nul": "claude.ai%00.evil.example:443",
            "space": "claude.ai%20.evil.example:443",
            "unicode": "cl\xe4ude.ai:443", "dots": "claude..ai:443",
            "dot-first": ".claude.ai:443",
            "port-80": "claude.ai:80", "port-22": "claude.ai:22", "port-other":
            "claude.ai:8443", "port-0": "claude.ai:0", "port-big":
            "claude.ai:65979", "port-minus": "claude.ai:-443",
            "api": "api.anthropic.com:443", "api-upper":
            "API.Anthropic.com:443", "localhost": "localhost:443",
            "local-proxy": "localhost:3128", "self": "quest-proxy:3128",
            "secret": "c2VjcmV0.evil.example:443", "empty": ":443"}.items():
        t.tunnel("name-" + name, REFUSED, target, ch)
    # Other spellings of what is allowed: that is where they lead, or nowhere.
    for name, target in {"dot": "claude.ai.:443", "two-dots":
                         "claude.ai..:443", "port-none": "claude.ai",
                         "port-two": "claude.ai:443:443"}.items():
        t.tunnel("name-" + name, "200/(tls|closed)|" + REFUSED, target, ch)


def connect_addresses(t):
    ch = hello("claude.ai")
    for i, target in enumerate((
            "100.200.0.66", "100.200.0.21", "100.200.0.21.", "1690828866",
            "0x64c80042", "0x64.0xc8.0.0x42", "0144.0310.0.0102",
            "100.200.66", "100.13107266", "127.0.0.1", "127.1", "0", "0.0.0.0",
            "2130706433", "0x7f.1", "0x7f000001", "017700000001",
            "169.254.169.254", "0xa9fea9fe", "10.20.30.40", "100.200.0.1",
            "[2600:dead::66]", "2600:dead::66", "[::1]", "[::]",
            "[::ffff:100.200.0.66]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
            "[64:ff9b::64c8:42]", "[fe80::1%25lo]", "[fe80::1]", "[fd00::1]",
            "[v1.x]", "%31%32%37.0.0.1", "127。0。0。1".encode().decode(
                "latin-1"), "66.0.200.100.in-addr.arpa",
            "100.200.0.66.nip.evil.example")):
        t.tunnel("address-%02d" % i, REFUSED, target + ":443", ch)
    t.tunnel("address-inner", REFUSED, "127.0.0.1:%d" % (t.port + 1), ch)
    t.tunnel("address-gate", REFUSED, "127.0.0.1:8080", ch)
    for name in ("private", "meta", "loop", "zero", "carrier", "mixed", "six",
                 "mapped", "unique"):
        host = name + ".allowed.example"
        t.tunnel("resolves-" + name, "[45][0-9][0-9]|closed", host + ":443",
                 hello(host))


def connect_flips(t):
    """Names whose address is another one when they are asked for again."""
    for letter in "abcd":
        host = "flip%s.allowed.example" % letter
        t.flips += 1
        t.tunnel("flip-%s-%d" % (letter, t.flips),
                 "403|50[0-9]|200/(tls|closed)", host + ":443", hello(host))


def connect_tunnels(t):
    site = "claude.ai:443"
    shut = "200/(closed|alert|4[0-9][0-9])"
    t.tunnel("sni-evil", shut, site, hello("evil.example"))
    t.tunnel("sni-none", shut, site, hello(None))
    t.tunnel("sni-api", shut, site, hello("api.anthropic.com"))
    t.tunnel("sni-below", shut, site, hello("x.claude.ai"))
    t.tunnel("sni-pieces", shut, site, fragments(hello("evil.example")))
    t.tunnel("sni-other", shut, site, hello("good.allowed.example"))
    t.tunnel("sni-address", shut, site, hello("100.200.0.66"))
    t.tunnel("sni-line", shut, site, forged(
        b"claude.ai\n1.000 port=3128 client=127.64.9.9 method=CONNECT target="
        b"forged.example:443 status=200 result=TCP_TUNNEL rule=- sni=- bump=-"
        b" ms=0 up=0 down=0\nx"))
    t.tunnel("sni-words", shut, site, forged(
        b"claude.ai client=127.64.9.9 rule=forged status=200"))
    t.tunnel("sni-nul", shut, site, forged(b"claude.ai\0.evil.example"))
    t.tunnel("sni-bytes", shut, site, forged(bytes(range(128, 190))))
    t.tunnel("plain-http", shut, site, b"GET / HTTP/1.1\r\nHost: evil.example"
             b"\r\n\r\n")
    t.tunnel("plain-ssh", shut, site, b"SSH-2.0-OpenSSH_9.2\r\n")
    t.tunnel("plain-zero", shut, site, b"\0" * 600)
    t.tunnel("plain-socks", shut, site, b"\x05\x01\x00")
    t.tunnel("host-other", "200/tls|" + REFUSED, site, hello("claude.ai"),
             headers="X-Forwarded-For: 127.64.9.9\r\nHost: evil.example\r\n")
    for name, method, url in (
            ("get", "GET", "http://claude.ai/"),
            ("get-443", "GET", "http://claude.ai:443/"),
            ("get-tls", "GET", "https://claude.ai/"),
            ("get-evil", "GET", "http://evil.example/"),
            ("post-evil", "POST", "http://evil.example:443/"),
            ("get-host", "GET", "http://127.0.0.1:9999/"),
            ("get-meta", "GET", "http://169.254.169.254/latest/meta-data/"),
            ("get-gate", "POST", "http://127.0.0.1:8080/v1/messages"),
            ("get-api", "POST", "https://api.anthropic.com/v1/messages"),
            ("get-path", "POST", "/v1/messages"),
            ("get-ftp", "GET", "ftp://evil.example/"),
            ("get-urn", "GET", "urn:evil:example"),
            ("get-manager", "GET", "cache_object://localhost/info"),
            ("get-manager-http", "GET",
             "http://localhost:3128/squid-internal-mgr/info"),
            ("get-manager-path", "GET", "/squid-internal-mgr/info"),
            ("trace", "TRACE", "http://claude.ai/"),
            ("options", "OPTIONS", "*"), ("purge", "PURGE",
                                          "http://claude.ai/")):
        t.add(name, REFUSED, method + " " + url, t.request(
            name, method=method, target=url, host="evil.example"))


def main():
    group, where, token, gate, proxy = sys.argv[1:6]
    prefix = sys.argv[6] if len(sys.argv) > 6 else where
    os.makedirs(where, exist_ok=True)
    t = Tries(group, where, token, int(gate if group == "gate" else proxy),
              prefix)
    for write in {"gate": (gate_plain, gate_paths, gate_elsewhere,
                           gate_smuggling),
                  "connect": (connect_flips, connect_names, connect_flips,
                              connect_addresses, connect_flips,
                              connect_tunnels, connect_flips)}[group]:
        write(t)


if __name__ == "__main__":
    main()
