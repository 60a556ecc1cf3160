#!/bin/bash
# Stands in for the node program where the SSH connection itself is tested: one word says what to do. DIR is this file's own.
dir=${0%/*}
read -ra words <<<"$SSH_ORIGINAL_COMMAND"
case ${words[0]} in
  echo) echo "${words[@]:1}" ;;
  sum) sha256sum ;;
  out) head -c "${words[1]}" /dev/zero | tr '\0' o ;;
  flood) yes ;;
  flood-aside) yes >&2 ;;
  slow)
    echo + >>"$dir/turns"
    sleep "${words[1]}"
    echo - >>"$dir/turns"
    ;;
  hang) exec sleep 30 ;;
  fail) echo "a reason" >&2 && exit 3 ;;
  die) kill -9 $$ ;;
esac
