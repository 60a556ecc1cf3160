#!/usr/bin/env bash
# Stands in for systemctl where no systemd runs: in a chroot or a network namespace. It knows what our own units use.
# A unit's ExecStart runs under a supervisor (this file again) that starts it anew as Restart= says. Put it on PATH as
# `systemctl`; a wrapper may set STAND_IN_UNITS and STAND_IN_STATE to keep several "machines" apart.
set -uo pipefail
readonly UNITS=${STAND_IN_UNITS:-/etc/systemd/system} STATE=${STAND_IN_STATE:-/run/systemctl-stand-in}
SELF=$(readlink -f "${BASH_SOURCE[0]}")
mkdir -p "$STATE"

unit_name() { case $1 in *.service | *.socket | *.timer | *.target) printf %s "$1" ;; *) printf '%s.service' "$1" ;; esac; }

# UNIT KEY: every value of the key, a line each.
values() { { cat "$UNITS/$1" "$UNITS/$1.d"/*.conf 2>/dev/null || true; } | sed -n "s/^$2=//p"; }
# UNIT KEY [DEFAULT]: the last one.
value() {
  local text
  text=$(values "$1" "$2" | tail -n 1)
  printf %s "${text:-${3:-}}"
}

# Whether a pid is there and no zombie.
alive() { [ -n "$1" ] && [ -e "/proc/$1/status" ] && ! grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status"; }
supervisor() { cat "$STATE/$1.supervisor" 2>/dev/null; }
main_pid() { cat "$STATE/$1.main" 2>/dev/null; }
active() { alive "$(supervisor "$1")" && alive "$(main_pid "$1")"; }

# UNIT COMMAND…: as the unit's user, with its capabilities, unless the command begins with +.
run_as() {
  local unit=$1 user caps='' word
  shift
  user=$(value "$unit" User)
  if [ "$user" = root ]; then user=''; fi
  if [[ $1 == +* ]]; then
    "${1#+}" "${@:2}"
  elif [ -z "$user" ]; then
    exec "$@"
  else
    for word in $(values "$unit" AmbientCapabilities); do
      word=${word,,}
      caps+="${caps:+,}+${word#cap_}"
    done
    exec setpriv --reuid "$user" --regid "$(value "$unit" Group "$(id -gn "$user")")" --init-groups \
      ${caps:+--inh-caps "$caps" --ambient-caps "$caps"} ${caps:+--bounding-set "-all,$caps"} --no-new-privs "$@"
  fi
}

# UNIT: what systemd does before ExecStart. Status 1: the unit cannot start.
prepare() {
  local unit=$1 line name user lenient words
  user=$(value "$unit" User)
  [ -z "$user" ] || id "$user" >/dev/null 2>&1 || { echo "$unit: there is no user $user" >&2; return 1; }
  for name in $(values "$unit" RuntimeDirectory); do
    mkdir -p "/run/$name" && chown "${user:-root}:" "/run/$name"
    chmod "$(value "$unit" RuntimeDirectoryMode 755)" "/run/$name"
  done
  while IFS= read -r line; do
    lenient=false
    if [[ $line == -* ]]; then lenient=true line=${line#-}; fi
    read -ra words <<<"$line"
    (run_as "$unit" "${words[@]}") || $lenient || return 1
  done < <(values "$unit" ExecStartPre)
}

# UNIT: lives as long as the unit is active.
supervise() {
  local unit=$1 line words restart pause prevent code stopping='' main=''
  while IFS= read -r line; do
    read -ra words <<<"$line"
    export "${words[@]//\"/}"
  done < <(values "$unit" Environment)
  read -ra words <<<"$(value "$unit" ExecStart)"
  restart=$(value "$unit" Restart) pause=$(value "$unit" RestartSec)
  prevent=" $(value "$unit" RestartPreventExitStatus) "
  umask "$(value "$unit" UMask 0022)"
  cd "$(value "$unit" WorkingDirectory /)" || exit 1
  ulimit -n "$(value "$unit" LimitNOFILE "$(ulimit -n)")" 2>/dev/null
  trap 'stopping=1; [ -z "$main" ] || kill -TERM "$main" 2>/dev/null' TERM
  while [ -z "$stopping" ]; do
    code=1
    if prepare "$unit"; then
      (run_as "$unit" "${words[@]}") &
      main=$!
      echo "$main" >"$STATE/$unit.main"
      [ -z "$stopping" ] || kill -TERM "$main"
      until wait "$main"; code=$?; ! alive "$main"; do :; done
      main=''
    fi
    rm -f "$STATE/$unit.main"
    echo "$code" >"$STATE/$unit.result"
    [[ $prevent != *" $code "* ]] || break
    case $restart in
      always) ;;
      on-failure) [ "$code" -ne 0 ] || break ;;
      *) break ;;
    esac
    [ -n "$stopping" ] || { sleep "${pause:-0.1}" & wait $!; }
  done
  rm -f "$STATE/$unit.supervisor"
}

start() {
  local unit=$1 path tries
  [ -e "$UNITS/$unit" ] || { echo "Unit $unit not found." >&2; return 5; }
  ! active "$unit" || return 0
  stop "$unit"
  while read -r path; do
    [ -e "$path" ] || return 0
  done < <(values "$unit" ConditionPathExists)
  setsid bash "$SELF" --supervise "$unit" </dev/null >>"$STATE/$unit.log" 2>&1 \
    3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
  echo $! >"$STATE/$unit.supervisor"
  disown
  for ((tries = 0; tries < 100; tries++)); do
    ! active "$unit" || return 0
    alive "$(supervisor "$unit")" || break
    sleep 0.02
  done
  echo "Job for $unit failed: see $STATE/$unit.log" >&2
  return 1
}

stop() {
  local unit=$1 pid main tries
  pid=$(supervisor "$unit") main=$(main_pid "$unit")
  ! alive "$pid" || kill -TERM "$pid" 2>/dev/null
  for ((tries = 0; tries < 500; tries++)); do
    alive "$pid" || alive "$main" || break
    sleep 0.02
  done
  ! alive "$main" || kill -KILL "$main" 2>/dev/null
  ! alive "$pid" || kill -KILL "$pid" 2>/dev/null
  rm -f "$STATE/$unit.supervisor" "$STATE/$unit.main"
}

if [ "${1:-}" = --supervise ]; then
  supervise "$2"
  exit 0
fi

verb='' units=() now='' quiet=''
for word; do
  case $word in
    --now) now=1 ;;
    -q | --quiet) quiet=1 ;;
    -*) ;;
    *) if [ -z "$verb" ]; then verb=$word; else units+=("$(unit_name "$word")"); fi ;;
  esac
done
echo "$verb ${units[*]-}" >>"$STATE/calls"
status=0
for unit in "${units[@]}"; do
  case $verb in
    start) start "$unit" || status=$? ;;
    stop) stop "$unit" ;;
    restart | reload-or-restart) { stop "$unit"; start "$unit"; } || status=$? ;;
    try-restart) ! active "$unit" || { stop "$unit"; start "$unit"; } || status=$? ;;
    kill) kill -TERM "$(main_pid "$unit")" ;;
    enable)
      [ -e "$UNITS/$unit" ] || { echo "Unit file $unit does not exist." >&2; status=1; continue; }
      : >"$STATE/$unit.enabled"
      [ -z "$now" ] || start "$unit" || status=$?
      ;;
    disable)
      rm -f "$STATE/$unit.enabled"
      [ -z "$now" ] || stop "$unit"
      ;;
    is-active)
      if active "$unit"; then said=active; else said=inactive status=3; fi
      [ -n "$quiet" ] || echo "$said"
      ;;
    is-enabled)
      if [ -e "$STATE/$unit.enabled" ]; then said=enabled; else said=disabled status=1; fi
      [ -n "$quiet" ] || echo "$said"
      ;;
    show) printf 'MainPID=%s\nActiveState=%s\n' "$(main_pid "$unit" || echo 0)" "$(active "$unit" && echo active || echo inactive)" ;;
    reset-failed | mask | unmask) ;;
    *) echo "systemctl stand-in: no verb $verb" >&2; status=1 ;;
  esac
done
case $verb:${#units[@]} in
  # A machine that boots: every enabled unit starts. One that goes down: all stop.
  boot:0) for file in "$STATE"/*.enabled; do [ ! -e "$file" ] || start "$(basename "$file" .enabled)" || status=1; done ;;
  halt:0) for file in "$STATE"/*.supervisor; do [ ! -e "$file" ] || stop "$(basename "$file" .supervisor)"; done ;;
esac
exit "$status"
