# SPDX-License-Identifier: MIT
"""One session by Python's docker library, as sealed as docker run's.

usage: session.py IMAGE LABEL TARGET INIT RUN
"""
import sys

import docker

image, label, target, init, run = sys.argv[1:]


def bind(source, inside, read_only):
    return docker.types.Mount(
        inside, source, type="bind", read_only=read_only)


docker.from_env().containers.run(
    image,
    ["/noop"],
    remove=True,
    labels={label: "1"},
    user="1879048192:1879048192",
    hostname="fuzzmill",
    working_dir="/workspace/fuzz",
    read_only=True,
    cap_drop=["ALL"],
    security_opt=["no-new-privileges:true"],
    network_mode="none",
    ipc_mode="private",
    mem_limit="2g",
    memswap_limit="2g",
    nano_cpus=10**9,
    pids_limit=256,
    shm_size="16m",
    oom_score_adj=500,
    tmpfs={"/tmp": "rw,noexec,nosuid,nodev,size=100m,mode=1777"},
    ulimits=[docker.types.Ulimit(name="core", soft=0, hard=0),
             docker.types.Ulimit(name="nofile", soft=4096, hard=4096)],
    log_config=docker.types.LogConfig(type="none"),
    mounts=[bind(init, "/.fuzzmill/init", True),
            bind(target, "/target", True),
            bind(run + "/report", "/.fuzzmill/report", True),
            bind(run + "/workspace", "/workspace/fuzz", False)],
)
