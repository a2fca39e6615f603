#!/bin/sh
# Runs the bundled programs; nothing has to be installed but a GPU driver.
#   run.sh devices                     what is here
#   run.sh validate [--full] ...       compare every device with the CPU and the recorded digests (or those of --digests PATH); exit status 1
#                                      on any difference
#   run.sh record [--out DIR] ...      write the digests of every device (default: digests.new beside this script)
#   run.sh fuzz [--seconds N] ...      try random operators and patterns on every device; exit status 1 on any difference
#   run.sh bench [--json FILE] ...     measure every GPU backend
#   run.sh first [--json FILE] ...     measure first calls, each in a process of its own
#   run.sh image ... | run ...         the isowarp command
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/tmp}"
command=${1:-help}
[ $# -gt 0 ] && shift
case "$command" in
    validate)
        case " $* " in
            *" --digests"*) exec "$here/isowarp-conformance" validate "$@" ;;
            *) exec "$here/isowarp-conformance" validate --digests "$here/digests.json" "$@" ;;
        esac
        ;;
    record)
        case " $* " in
            *" --out"*) exec "$here/isowarp-conformance" record "$@" ;;
            *) exec "$here/isowarp-conformance" record --out "$here/digests.new" "$@" ;;
        esac
        ;;
    fuzz) exec "$here/isowarp-conformance" fuzz "$@" ;;
    bench) exec "$here/isowarp-bench" run "$@" ;;
    first) exec "$here/isowarp-bench" first "$@" ;;
    devices | run | image) exec "$here/isowarp" "$command" "$@" ;;
    *) sed -n '3,10s/^#   //p' "$0" ;;
esac
