DESCRIPTION := any project, at /target, as it is
