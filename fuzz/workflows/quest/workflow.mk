DESCRIPTION := the Quest language: parser, type checker, runtime
MOUNT	:= /quest
# What a session runs; "make target" builds it where TARGET has none.
ARTIFACTS ?= target/release/quest
TARGET_BUILD ?= cargo build --release
