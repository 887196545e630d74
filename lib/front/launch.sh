#!/usr/bin/env bash
# Starts the service in place of this shell. The log gets what standard error was; standard error itself becomes a pipe
# on which Node and V8 say what no code of ours can: that the heap is full, or that a file is missing. Each line of
# that comes to the log as JSON.
: 2>/dev/null >&2 || exec 2>/dev/null
LOG_DESCRIPTOR=3 exec node --enable-source-maps dist/front/main.js 3>&2 2> >(
  trap "" HUP INT TERM
  LC_ALL=C sed -un 's/[^ -~]//g; s/[\\"]/\\&/g; /./p' | while IFS= read -r said; do
    printf '{"level":"error","time":%s000,"from":"node","msg":"%s"}\n' "$(date +%s)" "$said"
  done >&2
)
