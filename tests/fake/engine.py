#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A Docker Engine of version 20.10 that runs nothing, for tests.

It answers the calls a session needs on a unix socket, records every request
byte for byte, and misbehaves on demand:  engine.py --help.  Answers were
compared with those of a real 20.10.24.  It also plays fzinit, which would be
PID 1 of the containers, and reports to whoever asked for one.
"""
import argparse
import itertools
import json
import os
import re
import shlex
import signal
import socket
import struct
import sys
import threading
import time
from urllib.parse import parse_qs, unquote

IMAGE_ID = "sha256:" + "0123456789abcdef" * 4
REASONS = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified",
           400: "Bad Request", 404: "Not Found", 409: "Conflict",
           500: "Internal Server Error"}
NEVER = "0001-01-01T00:00:00Z"
HUGE = 5 * 1024 * 1024  # more than any answer needs
FRAME_SIZES = (1, 7, 333, 4097, 32767, 65535)
KILL_DELAY = 0.02  # from a signal to the exit
CUT_DELAY = 0.03   # from the start to a cut in mid-stream
REPORT = "/.fuzzmill/report"  # where a container finds fzinit's socket

# What inspect fills in where the request is silent, by default value.
CONFIG_DEFAULTS = {
    **dict.fromkeys("Hostname Domainname User Image WorkingDir".split(), ""),
    **dict.fromkeys("AttachStdin AttachStdout AttachStderr Tty OpenStdin "
                    "StdinOnce".split(), False),
    **dict.fromkeys("Env Cmd Volumes Entrypoint OnBuild Labels".split())}
HOST_DEFAULTS = {
    **dict.fromkeys(
        "Binds PortBindings VolumesFrom CapAdd CapDrop Dns DnsOptions "
        "DnsSearch ExtraHosts GroupAdd Links SecurityOpt BlkioWeightDevice "
        "BlkioDeviceReadBps BlkioDeviceWriteBps BlkioDeviceReadIOps "
        "BlkioDeviceWriteIOps Devices DeviceCgroupRules DeviceRequests "
        "MemorySwappiness PidsLimit Ulimits".split()),
    **dict.fromkeys("ContainerIDFile VolumeDriver Cgroup PidMode UTSMode "
                    "UsernsMode Isolation CgroupParent CpusetCpus "
                    "CpusetMems".split(), ""),
    **dict.fromkeys("AutoRemove Privileged PublishAllPorts ReadonlyRootfs "
                    "OomKillDisable".split(), False),
    **dict.fromkeys(
        "OomScoreAdj CpuShares Memory NanoCpus BlkioWeight CpuPeriod CpuQuota "
        "CpuRealtimePeriod CpuRealtimeRuntime KernelMemory KernelMemoryTCP "
        "MemoryReservation MemorySwap CpuCount CpuPercent IOMaximumIOps "
        "IOMaximumBandwidth".split(), 0),
    "LogConfig": {"Type": "json-file", "Config": {}},
    "RestartPolicy": {"Name": "", "MaximumRetryCount": 0},
    "NetworkMode": "default", "CgroupnsMode": "host", "IpcMode": "private",
    "ShmSize": 67108864, "Runtime": "runc", "ConsoleSize": [0, 0],
    "MaskedPaths": ["/proc/" + name for name in (
        "asound acpi kcore keys latency_stats timer_list timer_stats "
        "sched_debug scsi").split()] + ["/sys/firmware"],
    "ReadonlyPaths": ["/proc/" + name for name in
                      "bus fs irq sys sysrq-trigger".split()]}
# Left out of the answer when empty.
CONFIG_OMITTED = set("Healthcheck ArgsEscaped ExposedPorts MacAddress "
                     "NetworkDisabled Shell StopSignal StopTimeout".split())
HOST_OMITTED = set("Init Mounts StorageOpt Sysctls Tmpfs".split())


def timestamp(seconds):
    if seconds is None:
        return NEVER
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + \
        ".%09dZ" % int(seconds % 1 * 1e9)


# -- containers ------------------------------------------------------------

class Container:
    """One container; its fields change under Engine.changed only."""

    def __init__(self, number, name, body):
        digit = "abcdef0123456789"[number % 16]
        self.id = digit * 64 if number < 16 else digit * 56 + "%08x" % number
        self.name = name or "fake_%d" % number
        self.body = body
        self.status = "created"
        self.exit_code = 0
        self.runs = self.exits = 0
        self.killed = self.removed = False
        self.created = time.time()
        self.started = self.finished = None
        self.fzinit = None


class Fzinit:
    """What PID 1 says from inside, before anybody sees the container end."""

    def __init__(self, c):
        self.sock = socket.socket(socket.AF_UNIX)
        for m in (c.body.get("HostConfig") or {}).get("Mounts") or []:
            if m.get("Target") == REPORT:
                self.connect(m["Source"])

    def connect(self, directory):
        fd = os.open(directory, os.O_PATH)  # its path may be too long
        try:
            self.sock.connect("/proc/self/fd/%d/s" % fd)
            self.say("ready", 1)
        except OSError:
            pass
        os.close(fd)

    def say(self, key, value):
        try:
            self.sock.send(b"%s %d\n" % (key.encode(), value))
        except OSError:
            pass  # nobody listens: as the real one

    def end(self, key, value):
        self.say("cpu_ms", 5)
        self.say(key, value)
        self.sock.close()


class Engine:
    """All containers, and the two files a test reads: log and state."""

    def __init__(self, options):
        self.options = options
        self.changed = threading.Condition(threading.RLock())
        self.containers = []
        self.created = self.removed = 0
        self.log_fd = os.open(options.log,
                              os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        self.save()

    def log(self, request):
        line = ("%s %s\n" % (request.method, request.target)).encode("latin-1")
        os.write(self.log_fd, line + (request.body + b"\n"
                                      if request.body else b""))

    def save(self):
        """Rewrites the state file and wakes all who wait for a change."""
        with self.changed:
            state = {"containers": [{"id": c.id, "name": c.name,
                                     "status": c.status}
                                    for c in self.containers],
                     "created": self.created, "removed": self.removed}
            with open(self.options.state + ".tmp", "w") as f:
                f.write(json.dumps(state) + "\n")
            os.rename(self.options.state + ".tmp", self.options.state)
            self.changed.notify_all()

    def find(self, ref):
        for c in self.containers:
            if ref.lstrip("/") == c.name or \
                    (len(ref) >= 12 and c.id.startswith(ref)):
                return c
        return None

    def add(self, name, body):
        with self.changed:
            c = Container(self.created, name, body)
            self.containers.append(c)
            self.created += 1
            self.save()
            return c

    def start(self, c):
        with self.changed:
            c.runs += 1
            c.status, c.killed = "running", False
            c.started, c.finished = time.time(), None
            c.fzinit = None if self.options.no_init else Fzinit(c)
            if c.fzinit and self.options.exec_errno:
                c.fzinit.say("exec_errno", self.options.exec_errno)
            if c.fzinit and self.options.relay_errno:
                c.fzinit.say("relay_errno", self.options.relay_errno)
            self.save()
            word = ("signal", 9) if self.options.oom else \
                ("exit", self.options.exit)
            self.end_later(c, self.options.run_ms / 1000, self.options.exit,
                           word)

    def end_later(self, c, delay, code, word):
        timer = threading.Timer(delay, self.end, (c, c.runs, code, word))
        timer.daemon = True
        timer.start()

    def end(self, c, run, code, word):
        """Ends it; word is fzinit's last, None when it has no time for one."""
        with self.changed:
            if c.status != "running" or c.runs != run:
                return
            if c.fzinit and word:
                c.fzinit.end(*word)
            c.status, c.exit_code, c.finished = "exited", code, time.time()
            c.exits += 1
            self.save()

    def remove(self, c):
        with self.changed:
            if c.status == "running":
                c.killed = True
                self.end(c, c.runs, 128 + signal.SIGKILL, None)
            self.containers.remove(c)
            c.removed = True
            self.removed += 1
            self.save()

    def until(self, condition):
        with self.changed:
            self.changed.wait_for(condition)


# -- what inspect shows ----------------------------------------------------

def known_fields(sent, defaults, omitted):
    """Go's reading of JSON: any case of a name, unknown names vanish."""
    names = {name.lower(): name for name in (*defaults, *omitted)}
    out = dict(defaults)
    for key, value in sent.items():
        name = names.get(key.lower())
        if name in omitted and value in (None, "", 0, [], {}) and \
                value is not False:
            continue
        if name and value is not None:
            out[name] = None if value in ([], {}) else value
    return out


def shown_mount(sent):
    """As HostConfig.Mounts repeats it: false and empty are left out."""
    bind = {k: v for k, v in (sent.get("BindOptions") or {}).items() if v}
    out = {k: v for k, v in sent.items() if v and k != "BindOptions"}
    return {**out, "BindOptions": bind} if "BindOptions" in sent else out


def shown_host_config(sent):
    host = known_fields(sent, HOST_DEFAULTS, HOST_OMITTED)
    host["RestartPolicy"] = {**HOST_DEFAULTS["RestartPolicy"],
                             **(host["RestartPolicy"] or {})}
    host["LogConfig"] = {**HOST_DEFAULTS["LogConfig"],
                         **(host["LogConfig"] or {})}
    if host["LogConfig"]["Config"] is None:
        host["LogConfig"]["Config"] = {}
    if host["PidsLimit"] in (0, -1):
        host["PidsLimit"] = None
    if host["Memory"] and not host["MemorySwap"]:
        host["MemorySwap"] = 2 * host["Memory"]
    if "Mounts" in host:
        host["Mounts"] = [shown_mount(m) for m in host["Mounts"]]
    return host


def image_config(options):
    return {**CONFIG_DEFAULTS, "Env": ["PATH=/usr/bin:/bin"],
            "Cmd": ["/agent"], "Healthcheck": None,
            "Volumes": {"/data": {}} if options.image_volume else None,
            "Entrypoint": ["/ep"] if options.image_entrypoint else None}


def shown_config(c, options):
    """The request's fields, completed from the image as 20.10 does it."""
    image = image_config(options)
    sent = {k: v for k, v in c.body.items() if k.lower() != "hostconfig"}
    config = known_fields(sent, CONFIG_DEFAULTS, CONFIG_OMITTED)
    config["Hostname"] = config["Hostname"] or c.id[:12]
    env = list(config["Env"] or [])
    if not any(e.startswith("PATH=") for e in env):
        env += image["Env"]
    config["Env"] = env
    config["Labels"] = {**(image["Labels"] or {}), **(config["Labels"] or {})}
    config["Volumes"] = image["Volumes"] or config["Volumes"]
    if not config["Entrypoint"]:
        config["Cmd"] = config["Cmd"] or image["Cmd"]
        # An empty list is an answer: it takes the image's entrypoint away.
        if sent.get("Entrypoint") is None:
            config["Entrypoint"] = image["Entrypoint"]
    return config


def volume_mount(destination, name):
    return {"Type": "volume", "Name": name * 64,
            "Source": "/var/lib/docker/volumes/%s/_data" % (name * 64),
            "Destination": destination, "Driver": "local", "Mode": "",
            "RW": True, "Propagation": ""}


def shown_mounts(c, options):
    mounts = []
    for m in (c.body.get("HostConfig") or {}).get("Mounts") or []:
        bind = m.get("Type") == "bind"
        mounts.append({"Type": m.get("Type"), "Source": m.get("Source", ""),
                       "Destination": m.get("Target"), "Mode": "",
                       "RW": not m.get("ReadOnly"),
                       "Propagation": "rprivate" if bind else ""})
    if options.image_volume:
        mounts.append(volume_mount("/data", "d"))
    if options.add_mount:
        mounts.append(volume_mount("/foreign", "f"))
    # The real engine gives them in the random order of a Go map.
    return mounts[::-1]


def shown_state(c, options):
    return {"Status": c.status, "Running": c.status == "running",
            "Paused": False, "Restarting": False,
            "OOMKilled": options.oom and c.status == "exited", "Dead": False,
            "Pid": 4242 if c.status == "running" else 0,
            "ExitCode": c.exit_code, "Error": "",
            "StartedAt": timestamp(c.started),
            "FinishedAt": timestamp(c.finished)}


def parse_field(text):
    """FIELD of HostConfig, or Config.FIELD -> (part, field)."""
    part, _, name = text.rpartition(".")
    fields = {"": {*HOST_DEFAULTS, *HOST_OMITTED},
              "HostConfig": {*HOST_DEFAULTS, *HOST_OMITTED},
              "Config": {*CONFIG_DEFAULTS, *CONFIG_OMITTED}}
    if name not in fields.get(part, ()):
        raise argparse.ArgumentTypeError("no such field: %r" % text)
    return part or "HostConfig", name


def drop(shown, part, name):
    """Forgets a field, as an engine does that ignored it at create."""
    table = shown[part]
    value = table.get(name)
    if name in HOST_OMITTED or name in CONFIG_OMITTED:
        table.pop(name, None)
    elif isinstance(value, (bool, int, str)):
        table[name] = type(value)()
    else:
        table[name] = None


def shown_container(c, options):
    config = shown_config(c, options)
    command = (config["Entrypoint"] or []) + (config["Cmd"] or [])
    shown = {
        "Id": c.id, "Created": timestamp(c.created), "Path": command[0],
        "Args": command[1:], "State": shown_state(c, options),
        "Image": IMAGE_ID, "Name": "/" + c.name, "RestartCount": 0,
        "Driver": "overlay2", "Platform": "linux", "MountLabel": "",
        "ProcessLabel": "", "AppArmorProfile": "", "ExecIDs": None,
        "HostConfig": shown_host_config(c.body.get("HostConfig") or {}),
        "Mounts": shown_mounts(c, options), "Config": config,
        "NetworkSettings": {"Ports": {}, "Networks": {}}}
    for part, name in options.drop:
        drop(shown, part, name)
    return shown


# -- HTTP ------------------------------------------------------------------

class Request:
    call = ""
    container = None

    def __init__(self, method, target, headers, body):
        self.method, self.target = method, target
        self.headers, self.body = headers, body
        path, _, query = target.partition("?")
        self.path = unquote(path)
        self.query = {k: v[-1] for k, v in parse_qs(query).items()}

    def flag(self, name):
        return self.query.get(name, "").lower() in ("1", "true")


class Connection:
    def __init__(self, sock, api):
        self.sock, self.api, self.buffer = sock, api, b""
        self.head = False

    def fill(self):
        data = self.sock.recv(65536)
        if not data:
            raise EOFError
        self.buffer += data

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def take_line(self):
        while b"\r\n" not in self.buffer:
            self.fill()
        line, _, self.buffer = self.buffer.partition(b"\r\n")
        return line

    def take_chunks(self):
        out = b""
        while size := int(self.take_line().split(b";")[0], 16):
            out += self.take(size)
            self.take_line()
        while self.take_line():
            pass
        return out

    def read_request(self):
        method, target, _ = self.take_line().decode("latin-1").split(" ", 2)
        headers = {}
        while line := self.take_line().decode("latin-1"):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = self.take_chunks()
        else:
            body = self.take(int(headers.get("content-length", 0)))
        self.head = method == "HEAD"
        return Request(method, target, headers, body)

    def send(self, data):
        self.sock.sendall(data)

    def send_head(self, status, **fields):
        lines = {"Api-Version": self.api, "Docker-Experimental": "false",
                 "Ostype": "linux", "Server": "Docker/20.10.24 (fake)"}
        lines.update((k.replace("_", "-"), v) for k, v in fields.items())
        text = "HTTP/1.1 %d %s\r\n" % (status, REASONS[status])
        text += "".join("%s: %s\r\n" % line for line in lines.items())
        self.send(text.encode() + b"\r\n")

    def reply(self, status, body=b"", kind="application/json", **fields):
        if status in (204, 304):
            return self.send_head(status, **fields)
        self.send_head(status, Content_Type=kind, Content_Length=len(body),
                       **fields)
        if not self.head:
            self.send(body)

    def reply_json(self, status, value):
        text = json.dumps(value, separators=(",", ":")) + "\n"
        self.reply(status, text.encode())


# -- the calls: each acts, then returns the function that answers ----------

def answer(status, value=None):
    if value is None:
        return lambda conn: conn.reply(status)
    return lambda conn: conn.reply_json(status, value)


def error(status, message):
    return answer(status, {"message": message})


def do_ping(engine, request):
    return lambda conn: conn.reply(200, b"OK", "text/plain; charset=utf-8")


def no_image(name):
    tagged = name if ":" in name else name + ":latest"
    return error(404, "No such image: " + tagged)


def do_image(engine, request, name):
    if "missing" in name:
        return no_image(name)
    config = image_config(engine.options)
    return answer(200, {
        "Id": IMAGE_ID, "RepoTags": ["fake:1"], "RepoDigests": [],
        "Parent": "", "Created": timestamp(0), "Config": config,
        "Architecture": "amd64", "Os": "linux", "Size": 1048576})


def do_create(engine, request):
    if request.headers.get("content-type", "").split(";")[0] != \
            "application/json":
        return error(400, "Content-Type specified (%s) must be "
                     "'application/json'" % request.headers.get("content-type"))
    try:
        body = json.loads(request.body)
    except ValueError as e:
        return error(400, str(e))
    if not isinstance(body, dict) or not body.get("Image"):
        return error(400, "config cannot be empty")
    if "missing" in body["Image"]:
        return no_image(body["Image"])
    name = request.query.get("name", "")
    other = name and engine.find(name)
    if other:
        return error(409, 'Conflict. The container name "/%s" is already in '
                     'use by container "%s". You have to remove (or rename) '
                     'that container to be able to reuse that name.'
                     % (name, other.id))
    c = engine.add(name, body)
    return answer(201, {"Id": c.id, "Warnings": []})


def do_inspect(engine, request, ref):
    return answer(200, shown_container(request.container, engine.options))


def frames(options):
    """Both outputs in turn, in frames of odd sizes; files may be endless."""
    files = [(n, open(path, "rb")) for n, path in
             ((1, options.out_file), (2, options.err_file)) if path]
    for size in itertools.cycle(FRAME_SIZES):
        if not files:
            return
        for stream, f in list(files):
            data = f.read(size)
            if data:
                yield struct.pack(">BxxxL", stream, len(data)), data
            else:
                files.remove((stream, f))
                f.close()


def send_attach_head(conn):
    conn.send(b"HTTP/1.1 200 OK\r\n"
              b"Content-Type: application/vnd.docker.raw-stream\r\n\r\n")


def do_attach(engine, request, ref):
    c = request.container
    seen, was_running = c.runs, c.status == "running"

    def stream(conn):
        send_attach_head(conn)
        # Removed before it was started: the real engine hangs here as well.
        engine.until(lambda: was_running or c.runs > seen)
        run = c.runs
        for head, data in () if was_running else frames(engine.options):
            if c.killed or c.runs != run:
                break
            conn.send(head[:3])
            conn.send(head[3:] + data)
        engine.until(lambda: c.status != "running" or c.runs != run)
        raise EOFError
    return stream


def send_wait_head(conn):
    conn.send_head(200, Content_Type="application/json",
                   Transfer_Encoding="chunked")


def do_wait(engine, request, ref):
    c = request.container
    condition = request.query.get("condition", "not-running")
    seen = c.exits
    tests = {"not-running": lambda: c.status != "running",
             "next-exit": lambda: c.exits > seen or c.removed,
             "removed": lambda: c.removed}
    if condition not in tests:
        return error(400, 'invalid condition: "%s"' % condition)

    def stream(conn):
        send_wait_head(conn)
        engine.until(tests[condition])
        text = '{"Error":null,"StatusCode":%d}\n' % c.exit_code
        conn.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text.encode()))
    return stream


def do_start(engine, request, ref):
    if request.container.status == "running":
        return answer(304)
    engine.start(request.container)
    return answer(204)


def signal_number(text):
    if text.isdigit():
        return int(text)
    name = text.upper() if text.upper().startswith("SIG") else \
        "SIG" + text.upper()
    return int(getattr(signal, name, 0)) if name.isalnum() else 0


def do_kill(engine, request, ref):
    c = request.container
    text = request.query.get("signal", "KILL")
    number = signal_number(text)
    if number == 0:
        return error(400, "Invalid signal: " + text)
    if c.status != "running":
        return error(409, "Cannot kill container: %s: Container %s is not "
                     "running" % (ref, c.id))
    last = number == signal.SIGKILL
    if c.fzinit and not last:
        c.fzinit.say("outside_signal", number)
    if last or not engine.options.ignore_signals:
        c.killed = True
        engine.end_later(c, KILL_DELAY, 128 + number,
                         None if last else ("signal", number))
    return answer(204)


def do_remove(engine, request, ref):
    c = request.container
    if c.status == "running" and not request.flag("force"):
        return error(409, "You cannot remove a running container %s. Stop "
                     "the container before attempting removal or force remove"
                     % c.id)
    engine.remove(c)
    return answer(204)


def has_label(labels, wanted):
    key, equals, value = wanted.partition("=")
    return key in labels and (not equals or labels[key] == value)


def listed(c, options):
    shown = shown_container(c, options)
    status = {"created": "Created", "running": "Up Less than a second"}
    return {"Id": c.id, "Names": ["/" + c.name],
            "Image": c.body["Image"], "ImageID": IMAGE_ID,
            "Command": " ".join([shown["Path"], *shown["Args"]]),
            "Created": int(c.created), "Ports": [],
            "Labels": shown["Config"]["Labels"] or {}, "State": c.status,
            "Status": status.get(c.status, "Exited (%d) 1 second ago"
                                 % c.exit_code),
            "HostConfig": {"NetworkMode": shown["HostConfig"]["NetworkMode"]},
            "NetworkSettings": {"Networks": {}}, "Mounts": shown["Mounts"]}


def do_list(engine, request):
    try:
        filters = json.loads(request.query.get("filters") or "{}")
    except ValueError as e:
        return error(400, str(e))
    for name in filters:
        if name not in ("label", "status"):
            return error(400, "Invalid filter '%s'" % name)
    found = [listed(c, engine.options) for c in engine.containers[::-1]
             if request.flag("all") or "status" in filters
             or c.status == "running"]
    return answer(200, [
        c for c in found
        if all(has_label(c["Labels"], w) for w in filters.get("label", ()))
        and c["State"] in filters.get("status", (c["State"],))])


def cpu_stats(total, system):
    return {"cpu_usage": {"total_usage": total, "usage_in_kernelmode": 0,
                          "usage_in_usermode": total},
            "system_cpu_usage": system, "online_cpus": 2,
            "throttling_data": {"periods": 2, "throttled_periods": 1,
                                "throttled_time": 1000000}}


def do_stats(engine, request, ref):
    c = request.container
    running = c.status == "running"
    limit = (c.body.get("HostConfig") or {}).get("Memory", 0)
    used = [{"major": 8, "minor": 0, "op": "Read", "value": 4096},
            {"major": 8, "minor": 0, "op": "Write", "value": 8192}]
    return answer(200, {
        "read": timestamp(time.time() if running else None), "preread": NEVER,
        "pids_stats": {"current": 1} if running else {},
        "blkio_stats": {"io_service_bytes_recursive":
                        used if running else None},
        "num_procs": 0, "storage_stats": {},
        "cpu_stats": cpu_stats(22855750, 967950000000) if running
        else cpu_stats(0, 0),
        "precpu_stats": cpu_stats(12855750, 966950000000) if running
        else cpu_stats(0, 0),
        "memory_stats": {"usage": 675840, "max_usage": 3821568,
                         "stats": {"cache": 12288, "total_inactive_file": 0},
                         "limit": limit} if running else {},
        "name": "/" + c.name, "id": c.id})


def do_info(engine, request):
    return answer(200, {
        "ID": "FAKE", "Containers": len(engine.containers), "Images": 1,
        "Driver": "overlay2", "MemoryLimit": True, "SwapLimit": True,
        "PidsLimit": True, "CpuCfsQuota": True, "CgroupDriver": "cgroupfs",
        "CgroupVersion": "1", "OSType": "linux", "Architecture": "x86_64",
        "NCPU": 2, "MemTotal": 8589934592, "DefaultRuntime": "runc",
        "SecurityOptions": ["name=seccomp,profile=default"],
        "ServerVersion": "20.10.24"})


def do_version(engine, request):
    return answer(200, {
        "Version": "20.10.24", "ApiVersion": engine.options.api,
        "MinAPIVersion": minimum_api(engine.options.api), "Os": "linux",
        "Arch": "amd64", "Components": [
            {"Name": "Engine", "Version": "20.10.24"},
            {"Name": "containerd", "Version": "1.6.20"},
            {"Name": "runc", "Version": "1.1.5"}]})


CONTAINER = r"/containers/([^/]+)"
ROUTES = [(method, re.compile(pattern), call, handler)
          for method, pattern, call, handler in (
    ("GET", r"/images/(.+)/json", "image", do_image),
    ("POST", r"/containers/create", "create", do_create),
    ("GET", r"/containers/json", "list", do_list),
    ("GET", CONTAINER + "/json", "inspect", do_inspect),
    ("POST", CONTAINER + "/attach", "attach", do_attach),
    ("POST", CONTAINER + "/wait", "wait", do_wait),
    ("POST", CONTAINER + "/start", "start", do_start),
    ("POST", CONTAINER + "/kill", "kill", do_kill),
    ("GET", CONTAINER + "/stats", "stats", do_stats),
    ("DELETE", CONTAINER, "remove", do_remove),
    ("GET", r"/info", "info", do_info),
    ("GET", r"/version", "version", do_version),
)]


# -- misbehaviour: what is sent in place of the answer ---------------------

def good_status(request):
    return 201 if request.call == "create" else 200


def instead(status, head, filler=b"", tail=b""):
    """Sends this in place of the answer; status None is the call's own."""
    def send(engine, conn, request):
        body = head + filler * HUGE + tail
        conn.reply(status or good_status(request), body)
    return send


trouble = instead(500, b'{"message":"fake trouble"}\n')


def half(engine, conn, request):
    part = b'{"Id":"aaaaaaaaaaaaa'
    if request.call == "attach":
        part = struct.pack(">BxxxL", 1, 992) + b"half a frame"
    conn.send_head(good_status(request), Content_Type="application/json",
                   Content_Length=1000)
    conn.send(part)
    raise EOFError


def cut(engine, conn, request):
    raise EOFError


def silence(engine, conn, request):
    while True:
        conn.fill()
        conn.buffer = b""


def old_version(engine, conn, request):
    if request.call != "ping":
        return trouble(engine, conn, request)
    conn.reply(200, b"OK", "text/plain; charset=utf-8", Api_Version="1.30")


def bad_http(engine, conn, request):
    conn.send(b"\x00\x01SSH-2.0-this is not HTTP\r\n\r\n")
    raise EOFError


def after_start(engine, conn, request):
    """Sends the head, then returns when the container was just started."""
    c, seen = request.container, request.container.runs
    (send_wait_head if request.call == "wait" else send_attach_head)(conn)
    engine.until(lambda: c.runs > seen or c.status == "running")
    time.sleep(CUT_DELAY)


def mid_cut(engine, conn, request):
    after_start(engine, conn, request)
    conn.send(b'1e\r\n{"Error":null,' if request.call == "wait" else
              struct.pack(">BxxxL", 1, 100) + b"cut in mid")
    raise EOFError


def bad_frame(engine, conn, request):
    after_start(engine, conn, request)
    conn.send(struct.pack(">BxxxL", 7, 0xffffffff) + b"no such stream")
    engine.until(lambda: request.container.status != "running")
    raise EOFError


# kind: (acts first, what it sends, the calls it is for: None means all).
# What looks like success is a damaged answer to an action that was done.
MISBEHAVIOURS = {
    "500": (False, trouble, None),
    "404": (False, instead(404, b'{"message":"fake: not found"}\n'), None),
    "half": (True, half, None),
    "cut": (False, cut, None),
    "cutafter": (True, cut, None),
    "huge": (False, instead(500, b"fake trouble: ", b"x"), None),
    "hugeok": (True, instead(None, b'{"x":"', b"x", b'"}'), None),
    "silence": (False, silence, None),
    "garbage": (True, instead(None, b"not json"), None),
    "notjsonobj": (True, instead(None, b"[]"), None),
    "version": (False, old_version, None),
    "badhttp": (False, bad_http, None),
    "midcut": (False, mid_cut, ("attach", "wait")),
    "badframe": (False, bad_frame, ("attach",)),
}
CALLS = {"ping", "inspect1", "inspect2", *(route[2] for route in ROUTES)}


def parse_misbehaviour(text):
    """CALL=KIND[:TIMES] -> [call, kind, times left]; -1 is for ever."""
    call, _, rest = text.partition("=")
    kind, _, times = rest.partition(":")
    if call not in CALLS:
        raise argparse.ArgumentTypeError("no such call: %r" % call)
    if kind not in MISBEHAVIOURS:
        raise argparse.ArgumentTypeError("no such misbehaviour: %r" % kind)
    calls = MISBEHAVIOURS[kind][2]
    if calls and call not in calls:
        raise argparse.ArgumentTypeError("%s is not for %s" % (kind, call))
    if times and not times.isdigit():
        raise argparse.ArgumentTypeError("not a number: %r" % times)
    return [call, kind, int(times) if times else -1]


def take_misbehaviour(engine, call):
    with engine.changed:
        for entry in engine.options.misbehave:
            if entry[0] == call and entry[2] != 0:
                entry[2] -= 1
                return MISBEHAVIOURS[entry[1]]
    return None


# -- dispatch --------------------------------------------------------------

def version_tuple(text):
    return tuple(int(n) for n in text.split("."))


def minimum_api(api):
    return "1.44" if version_tuple(api) >= (1, 44) else "1.12"


def check_version(asked, api):
    """Returns the refusal of a client's API version, or None."""
    if version_tuple(asked) > version_tuple(api):
        return error(400, "client version %s is too new. Maximum supported "
                     "API version is %s" % (asked, api))
    if version_tuple(asked) < version_tuple(minimum_api(api)):
        return error(400, "client version %s is too old. Minimum supported "
                     "API version is %s, please upgrade your client to a "
                     "newer version" % (asked, minimum_api(api)))
    return None


def call_name(call, container):
    if call != "inspect":
        return call
    return {"created": "inspect1", "exited": "inspect2"}.get(
        container.status, call)


def route(engine, request):
    """Returns the action for a request: a function without arguments.

    Sets request.call, unless the request is refused before it is a call.
    """
    if request.path == "/_ping" and request.method in ("GET", "HEAD"):
        request.call = "ping"
        return lambda: do_ping(engine, request)
    prefix = re.match(r"/v(\d+\.\d+)(/.*)", request.path)
    refusal = prefix and check_version(prefix[1], engine.options.api)
    if refusal:
        return lambda: refusal
    for method, pattern, call, handler in ROUTES:
        match = prefix and method == request.method and \
            pattern.fullmatch(prefix[2])
        if not match:
            continue
        if pattern.pattern.startswith(CONTAINER):
            request.container = engine.find(match[1])
            if request.container is None:
                return lambda: error(404, "No such container: " + match[1])
        request.call = call_name(call, request.container)
        return lambda: handler(engine, request, *match.groups())
    return lambda: error(404, "page not found")


def serve_request(engine, conn, request):
    with engine.changed:
        engine.log(request)
        action = route(engine, request)
        bad = take_misbehaviour(engine, request.call)
        send = action() if not bad or bad[0] else None
    if bad:
        bad[1](engine, conn, request)
    else:
        send(conn)


def serve_connection(engine, sock):
    conn = Connection(sock, engine.options.api)
    try:
        while True:
            request = conn.read_request()
            serve_request(engine, conn, request)
            if request.headers.get("connection", "").lower() == "close":
                break
    except (EOFError, ConnectionError):
        pass
    finally:
        sock.close()


def option_parser():
    p = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="With --many FILE alone: one engine for each line of FILE, "
        "which holds its options.  \"ready\" is printed when all listen.")
    p.add_argument("--sock", required=True, help="unix socket to listen on")
    p.add_argument("--log", required=True, help="requests are appended here")
    p.add_argument("--state", required=True, help="JSON, rewritten on change")
    p.add_argument("--api", default="1.41", help="highest API version")
    p.add_argument("--out-file", help="what containers write to stdout")
    p.add_argument("--err-file", help="what containers write to stderr")
    p.add_argument("--exit", type=int, help="their exit code (0; 137 if oom)")
    p.add_argument("--run-ms", type=int, default=50, help="how long they run")
    p.add_argument("--oom", action="store_true", help="report OOMKilled")
    p.add_argument("--ignore-signals", action="store_true",
                   help="only SIGKILL ends a container")
    p.add_argument("--no-init", action="store_true",
                   help="nobody reports from inside")
    p.add_argument("--exec-errno", type=int, metavar="N",
                   help="report that the command could not be run")
    p.add_argument("--relay-errno", type=int, metavar="N",
                   help="report that a relay could not listen")
    p.add_argument("--drop", metavar="FIELD", type=parse_field,
                   action="append", default=[],
                   help="inspect forgets HostConfig.FIELD or Config.FIELD")
    p.add_argument("--add-mount", action="store_true",
                   help="inspect shows a volume nobody asked for")
    p.add_argument("--image-volume", action="store_true",
                   help="the image has a VOLUME")
    p.add_argument("--image-entrypoint", action="store_true",
                   help="the image has an ENTRYPOINT")
    p.add_argument("--misbehave", metavar="CALL=KIND[:TIMES]",
                   type=parse_misbehaviour, action="append", default=[],
                   help="calls: %s; kinds: %s" % (
                       " ".join(sorted(CALLS)), " ".join(MISBEHAVIOURS)))
    return p


def parse_options(p, words=None):
    options = p.parse_args(words)
    if options.exit is None:
        options.exit = 137 if options.oom else 0
    for path in (options.out_file, options.err_file):
        if path and not os.path.exists(path):
            p.error("no such file: " + path)
    return options


def listen(options):
    server = socket.socket(socket.AF_UNIX)
    if os.path.exists(options.sock):
        os.unlink(options.sock)  # of one that was killed
    server.bind(options.sock)
    server.listen(128)
    return server


def serve(engine, server):
    def stop(*_):
        os.unlink(engine.options.sock)
        os._exit(0)  # threads may be in the middle of a silence
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while True:
        sock, _ = server.accept()
        threading.Thread(target=serve_connection, args=(engine, sock),
                         daemon=True).start()


def serve_many(path):
    """A process for each line of the file; all end with this one."""
    children, parent = [], os.getppid()

    def stop(*_):
        for pid in children:
            os.kill(pid, signal.SIGTERM)
        os._exit(0)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    p = option_parser()
    with open(path) as f:
        cases = [parse_options(p, shlex.split(line)) for line in f]
    for options in cases:
        engine, server = Engine(options), listen(options)
        pid = os.fork()
        if pid == 0:
            serve(engine, server)
        children.append(pid)
        os.close(engine.log_fd)
        server.close()
    print("ready", flush=True)
    while os.getppid() == parent:
        time.sleep(1)
    stop()  # the test that wanted us is gone


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--many":
        serve_many(sys.argv[2])
    options = parse_options(option_parser())
    engine, server = Engine(options), listen(options)
    print("ready", flush=True)
    serve(engine, server)


if __name__ == "__main__":
    sys.exit(main())
