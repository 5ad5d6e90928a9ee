#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A Messages API that costs nothing, for tests.

It answers POST /v1/messages (events or JSON) and /v1/messages/count_tokens,
plays scripted tool use and failures, and writes each request as one line of
JSON to --log.  What it plays is chosen by a marker in the conversation,
[[scn:NAME]] or [[scn:NAME:ARGUMENT]]; see --help for the names.
"""
import argparse
import json
import os
import re
import socket
import socketserver
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = """\
scenarios:
  success        write program.q and a claim in findings.jsonl, then say so
  plain          answer at once, with no tool
  401 403 429 500 529, each :N for N failures and then success
  hang           never answer          think:S   S seconds of silence first
  slow:S         S seconds between events
  drop           close before the first byte, always (:N times)
  cut            cut a stream in its middle, always (:N times); no JSON either
  cutstream      cut streams only, so that asking for JSON helps
  quit           the API goes away, and its port with it
  refusal        stop_reason refusal   loop      a tool call, again and again
  costly         a turn that used very many tokens, then a tool call
  long           a tool that does not end        bomb    a fork bomb
  oom            a tool that wants all memory    tmpfull a full /tmp
  env            a tool that prints all it can see of keys
  by-run         the first tool call prints FUZZMILL_RUN; --table has "RUN NAME"
                 lines ("*" is any other run)
  seq            each new conversation takes the next NAME of --order; the
                 last one is used again
"""
ERRORS = {"401": "authentication_error", "403": "permission_error",
          "429": "rate_limit_error", "500": "api_error",
          "529": "overloaded_error"}
CLAIM = json.dumps({"kind": "crash", "title": "division by zero",
                    "repro": "program.q", "command": ["cat", "{repro}"],
                    "expected": "an error", "actual": "signal 8 (SIGFPE)"})


def bash(command, **more):
    return ("Bash", dict(command=command, description="a step", **more))


STILL = bash("echo still-alive >/workspace/fuzz/after.txt; echo still-alive")
SUCCESS = [
    bash("printf 'print 1 / 0\\n' >/workspace/fuzz/program.q;"
         " cat /workspace/fuzz/program.q"),
    bash("printf '%s\\n' '" + CLAIM + "' >>/workspace/fuzz/findings.jsonl;"
         " wc -l </workspace/fuzz/findings.jsonl"),
]
SCRIPTS = {
    "plain": [],
    "refusal": [],
    "long": [bash("tail -f /dev/null")],
    "bomb": [bash("b() { b | b & }; b; tail -f /dev/null", timeout=6000),
             STILL],
    "oom": [bash("head -c 4000000000 /dev/zero | tail -c 3999999999 |"
                 " wc -c; echo rc=$?"), STILL],
    "tmpfull": [bash("head -c 400000000 /dev/zero >/tmp/fill; df /tmp"),
                bash("rm -f /tmp/fill; echo room"), STILL],
    "env": [bash("env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null |"
                 " tr '\\0' '\\n'")],
}


def text_of(block):
    """The text of a tool result, which is a string or a list of blocks."""
    content = block.get("content")
    if isinstance(content, list):
        return " ".join(c.get("text", "") for c in content
                        if isinstance(c, dict))
    return content if isinstance(content, str) else ""


def blocks(messages, role, kind):
    for m in messages:
        if isinstance(m, dict) and m.get("role") == role \
                and isinstance(m.get("content"), list):
            yield from (c for c in m["content"]
                        if isinstance(c, dict) and c.get("type") == kind)


class Book:
    """What is to be played, and how often it was, over all connections."""

    def __init__(self, table, order):
        self.lock = threading.Lock()
        self.counts = {}
        self.given = {}
        self.table = {}
        self.order = []
        if table:
            with open(table, encoding="ascii") as f:
                self.table = dict(line.split()[:2] for line in f
                                  if line.strip() and line[0] != "#")
        if order:
            with open(order, encoding="ascii") as f:
                self.order = f.read().split()

    def count(self, *key):
        """How many times this was asked before."""
        with self.lock:
            self.counts[key] = self.counts.get(key, 0) + 1
            return self.counts[key] - 1

    def next(self, who):
        with self.lock:
            if who not in self.given:
                i = min(len(self.given), len(self.order) - 1)
                self.given[who] = self.order[i] if self.order else "success"
            return self.given[who]

    def choose(self, who, messages):
        """-> scenario, argument, identity, tool calls to leave out, run"""
        m = re.search(r"\[\[scn:([a-z0-9-]+(?::[0-9.]+)?)\]\]",
                      json.dumps(messages))
        name, skip, run = m.group(1) if m else "success", 0, None
        if name == "seq":
            name = self.next(who)
        if name == "by-run":
            said = " ".join(map(text_of, blocks(messages, "user",
                                                "tool_result")))
            m = re.search(r"\brun=([0-9]+)", said)
            if not m:
                return "ask-run", None, who, 0, None
            run, skip = m.group(1), 1
            name, who = self.table.get(run, self.table.get("*", "success")), run
        name, _, arg = name.partition(":")
        return name, float(arg) if arg else None, who, skip, run


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "api"

    def log_message(self, *args):
        pass

    def note(self, **more):
        line = json.dumps(dict(t=round(time.time(), 3), method=self.command,
                               path=self.path,
                               headers=[list(h) for h in self.headers.items()],
                               **more))
        with self.server.book.lock:
            self.server.log.write(line + "\n")
            self.server.log.flush()

    def reply(self, status, what):
        body = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("request-id", "req_%d" % time.monotonic_ns())
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fail(self, status, message):
        kind = ERRORS.get(str(status), "not_found_error")
        self.reply(status, {"type": "error",
                            "error": {"type": kind, "message": message}})

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def do_GET(self):
        self.note(bytes=0)
        self.fail(404, "no such thing")

    do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_TRACE = do_GET

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(parts)

    def do_POST(self):
        body = self.body()
        path = self.path.partition("?")[0]
        try:
            asked = json.loads(body)
        except ValueError:
            asked = None
        if not isinstance(asked, dict):
            asked = {}
        keys = self.headers.get_all("x-api-key", []) + [
            k.removeprefix("Bearer ")
            for k in self.headers.get_all("authorization", [])]
        if path not in ("/v1/messages", "/v1/messages/count_tokens"):
            self.note(bytes=len(body))
            return self.fail(404, "no such thing")
        if self.server.key and keys != [self.server.key]:
            self.note(bytes=len(body), refused="key")
            return self.fail(401, "invalid x-api-key")
        if path.endswith("count_tokens"):
            self.note(bytes=len(body))
            return self.reply(200, {"input_tokens": len(body) // 4})
        return self.message(asked, body)

    def message(self, asked, body):
        said = asked.get("messages")
        said = said if isinstance(said, list) else []
        known = asked.get("metadata")
        who = self.headers.get("x-claude-code-session-id") or str(
            known.get("user_id") if isinstance(known, dict)
            else time.monotonic_ns())
        name, arg, who, skip, run = self.server.book.choose(who, said)
        turn = sum(1 for _ in blocks(said, "assistant", "tool_use")) - skip
        self.note(bytes=len(body), scenario=name,
                  watched=self.server.watch in body, run=run, turn=turn,
                  who=who,
                  model=asked.get("model"), stream=asked.get("stream"),
                  tools=len(asked.get("tools") or []))
        again = self.server.book.count(who, name)
        if name in ERRORS and (arg is None or again < arg):
            return self.fail(int(name), "planned " + name)
        if name == "quit":
            os._exit(0)
        if name == "hang":
            self.server.stop.wait()
            return self.hang_up()
        if name == "think":
            self.server.stop.wait(arg)
        cut = name in ("cut", "cutstream") and (arg is None or again < arg)
        if name == "drop" and (arg is None or again < arg) \
                or name == "cut" and cut and not asked.get("stream"):
            return self.hang_up()
        tool = self.tool(name, turn) if asked.get("tools") else None
        return self.answer(asked, name, tool, arg if name == "slow" else 0, cut)

    @staticmethod
    def tool(name, turn):
        if name == "ask-run":
            return bash('echo "run=$FUZZMILL_RUN"')
        if name == "loop":
            return bash("echo turn %d" % turn)
        script = SCRIPTS.get(name, SUCCESS)
        return script[turn] if turn < len(script) else None

    def answer(self, asked, name, tool, gap, cut):
        used = 3000000 if name == "costly" else 50
        usage = {"input_tokens": 1200, "cache_creation_input_tokens": 0,
                 "cache_read_input_tokens": 0, "output_tokens": 1}
        text = "I shall use %s now." % tool[0] if tool else \
            "This is the end of the scenario %s." % name
        parts = [{"type": "text", "text": text}]
        stop = "end_turn"
        if tool:
            stop = "tool_use"
            parts.append({"type": "tool_use", "name": tool[0], "input": tool[1],
                          "id": "toolu_%d" % time.monotonic_ns()})
        elif name == "refusal":
            stop = "refusal"
        head = {"id": "msg_%d" % time.monotonic_ns(), "type": "message",
                "role": "assistant", "model": asked.get("model", "none"),
                "content": [], "stop_reason": None, "stop_sequence": None,
                "usage": usage}
        if not asked.get("stream"):
            return self.reply(200, dict(head, content=parts, stop_reason=stop,
                                        usage=dict(usage, output_tokens=used)))
        return self.stream(head, parts, stop, used, gap, cut)

    def stream(self, head, parts, stop, used, gap, cut):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i, event in enumerate(events(head, parts, stop, used)):
            text = ("event: %s\ndata: %s\n\n" %
                    (event["type"], json.dumps(event))).encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(text), text))
            self.wfile.flush()
            if cut and i == 3:
                return self.hang_up()
            if gap:
                self.server.stop.wait(gap)
        self.wfile.write(b"0\r\n\r\n")
        return self.wfile.flush()


def events(head, parts, stop, used):
    """The events of one streamed message."""
    yield {"type": "message_start", "message": head}
    yield {"type": "ping"}
    for i, part in enumerate(parts):
        at = {"index": i}
        if part["type"] == "text":
            empty, field, kind = dict(part, text=""), "text", "text_delta"
            pieces = re.findall(r"\S+\s*", part["text"])
        else:
            empty, field, kind = dict(part, input={}), "partial_json", \
                "input_json_delta"
            whole = json.dumps(part["input"])
            pieces = [whole[k:k + 40] for k in range(0, len(whole), 40)]
        yield {"type": "content_block_start", "content_block": empty, **at}
        for piece in pieces:
            yield {"type": "content_block_delta", **at,
                   "delta": {"type": kind, field: piece}}
        yield {"type": "content_block_stop", **at}
    yield {"type": "message_delta", "usage": {"output_tokens": used},
           "delta": {"stop_reason": stop, "stop_sequence": None}}
    yield {"type": "message_stop"}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Not HTTPServer's own, which asks the resolver for a name.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        with self.book.lock:
            self.log.write(json.dumps({"error": repr(sys.exc_info()[1])})
                           + "\n")
            self.log.flush()


def main():
    p = argparse.ArgumentParser(
        description=__doc__, epilog=NAMES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bind", default="127.0.0.1")
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    p.add_argument("--log", help="one JSON line per request (default: stderr)")
    p.add_argument("--expect-key", help="answer 401 to any other key")
    p.add_argument("--watch", default="no such word",
                   help='log "watched" for requests with this word')
    p.add_argument("--table", help='lines "RUN SCENARIO" for by-run')
    p.add_argument("--order", help="scenarios for seq, one per conversation")
    a = p.parse_args()
    s = Server((a.bind, a.port), Handler)
    s.book = Book(a.table, a.order)
    s.key = a.expect_key
    s.watch = a.watch.encode()
    s.stop = threading.Event()
    s.log = open(a.log, "a", encoding="utf-8") if a.log else sys.stderr
    if a.tls:
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(*a.tls)
        c.set_alpn_protocols(["http/1.1"])
        s.socket = c.wrap_socket(s.socket, server_side=True,
                                 do_handshake_on_connect=False)
    print(s.server_address[1], flush=True)
    s.serve_forever()


if __name__ == "__main__":
    main()
