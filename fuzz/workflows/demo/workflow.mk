DESCRIPTION := a small interpreter with two planted bugs, for make demo
MOUNT	:= /quest
