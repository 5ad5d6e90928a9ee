DESCRIPTION := the Quest language: parser, type checker, runtime
MOUNT	:= /quest
