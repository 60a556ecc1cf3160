#!/usr/bin/env bash
# The node program, the only thing that touches the proxy cores. Its verbs, files and answers: docs/node-program.md.
set -Eeuo pipefail
export LC_ALL=C PATH="$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin"
umask 077
readonly DIR=${SUBPANEL_NODE_DIR:-/var/lib/subpanel-node}
readonly WORD='[A-Za-z0-9._:-]{1,200}' SHA='[0-9a-f]{64}' UUID='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' LINES='"lines":([0-9]{1,7})'
readonly PLAIN='^/[A-Za-z0-9._/@-]+$'
readonly CONFIGURE_HEADER="^\\{\"owner\":\"($WORD)\",\"config\":\"($SHA)\",$LINES\\}$"
readonly APPLY_HEADER="^\\{\"owner\":\"($WORD)\",\"from\":\"(any|none|$SHA)\",\"to\":\"($SHA|)\",\"force\":(true|false),$LINES\\}$"
# Up to so many lines or clients are looked at here, one by one; what is more is worth a program of its own.
readonly FEW=50
WORK='' ANSWERED='' FAULT='' OWNER='' COMPLAINT=/dev/null

# FORMAT [VALUE]…
reply() {
  ANSWERED=1
  # shellcheck disable=SC2059
  printf "$1\n" "${@:2}"
}

# CODE MESSAGE [,"more":"members"]. Bytes outside printable ASCII become spaces in the message.
fail() {
  local text=${2//[^[:print:]]/ }
  text=${text//\\/\\\\}
  reply '{"ok":false,"error":"%s","message":"%s"%s}' "$1" "${text//\"/\\\"}" "${3:-}"
  exit 0
}

disk_is_full() {
  local free
  free=$(stat -f -c %f "$DIR" 2>/dev/null) && ((free < 16))
}

finish() {
  local why="the node program failed${FAULT:+ at line $FAULT}"
  [ -n "$ANSWERED" ] || ! disk_is_full || why='the disk is full'
  [ -z "$WORK" ] || rm -rf "$WORK"
  [ -n "$ANSWERED" ] || fail fault "$why"
}

load_conf() {
  local line keys='XRAY_BIN|API_SOCK|CORE_RESTART|CORE_STOP|CONFIG_GROUP|HYSTERIA_(BIN|RESTART|STOP|API|SECRET|AUTH)'
  XRAY_BIN=xray API_SOCK=$DIR/api.sock CORE_RESTART='' CORE_STOP='' CONFIG_GROUP=''
  HYSTERIA_BIN=hysteria HYSTERIA_RESTART='' HYSTERIA_STOP='' HYSTERIA_API=127.0.0.1:9999 HYSTERIA_SECRET='' HYSTERIA_AUTH=''
  if [ -r "$DIR/node.conf" ]; then
    while IFS= read -r line || [ -n "$line" ]; do
      [[ ! $line =~ ^($keys)=(.+)$ ]] || printf -v "${BASH_REMATCH[1]}" %s "${BASH_REMATCH[3]}"
    done <"$DIR/node.conf"
  fi
  [[ $API_SOCK =~ $PLAIN ]] || fail fault 'API_SOCK is not a plain absolute path'
  [[ $HYSTERIA_API =~ ^127\.0\.0\.1:[1-9][0-9]{0,4}$ ]] || fail fault 'HYSTERIA_API is not a port of 127.0.0.1'
  [[ $HYSTERIA_SECRET =~ ^([A-Za-z0-9_-]{16,200})?$ ]] || fail fault 'HYSTERIA_SECRET is malformed'
}

# A directory for this call's files, beside the state so that `mv` is atomic.
prepare() {
  WORK=$DIR/.call.$$
  [ ! -e "$WORK" ] || rm -rf "$WORK"
  mkdir -p "$WORK"
}

lock() {
  local left
  exec 9>"$DIR/lock"
  flock -w 20 9 || { (($? > 1)) || fail busy 'another call holds the lock'; fail fault 'flock does not work'; }
  for left in "$DIR"/.call.*; do [ -e "/proc/${left##*.}" ] || rm -rf "$left"; done
  [ -e "$DIR/clients" ] || : >"$DIR/clients"
  [ ! -e "$DIR/owner" ] || read -r OWNER <"$DIR/owner" || true
}

# REGEX NAME: reads the header into FIELDS and as many lines as its last field says into WORK/NAME, then takes the lock.
# Not awk and not "to the end": the writer may wait for the answer with its side of a socket still open.
read_request() {
  local header='' lines line count text=()
  IFS= read -r -t 30 -n 1000 header || true
  [[ $header =~ $1 ]] || fail bad-input 'the header is malformed'
  FIELDS=("${BASH_REMATCH[@]:1}")
  lines=$((10#${FIELDS[-1]}))
  if ((lines <= FEW)); then
    while ((${#text[@]} < lines)) && IFS= read -r -t 30 line; do text+=("$line"); done
    count=${#text[@]}
    { ((count == 0)) || printf '%s\n' "${text[@]}"; } >"$WORK/$2" 2>/dev/null || count=-1
  else
    timeout 120 head -n "$lines" >"$WORK/$2" 2>/dev/null || true
    count=$(wc -l <"$WORK/$2")
  fi
  ((count == lines)) || { ! disk_is_full || fail fault 'the disk is full'; fail bad-input 'the input ended early'; }
  lock
}

# FILE…: sets SUMS to their SHA-256, and REVISION to that of the first.
revisions() {
  sha256sum -- "$@" >"$WORK/sums"
  mapfile -t SUMS <"$WORK/sums"
  # A path with a backslash has its line marked by one.
  SUMS=("${SUMS[@]#\\}")
  SUMS=("${SUMS[@]%% *}")
  REVISION=${SUMS[0]}
}

# Sets NOW, hundredths of a second since the machine was started: no clock that is set can make a wait longer.
look_at_clock() {
  read -r NOW _ </proc/uptime
  NOW=$((10#${NOW/./}))
}

# COMMAND of node.conf. Nothing of ours may be inherited: a core started by it would hold the lock and the caller's pipe.
run_command() { timeout 30 sh -c "$1" </dev/null >/dev/null 2>&1 9>&-; }

# NAME…: replaces state files by those made in WORK, in this order.
install_state() {
  local name shared=() made=()
  for name; do
    made+=("$WORK/$name")
    case $name in config.json | hysteria.yaml | hy2-users) shared+=("$WORK/$name") ;; esac
  done
  if [ -n "$CONFIG_GROUP" ] && ((${#shared[@]} > 0)); then
    { chgrp -- "$CONFIG_GROUP" "${shared[@]}" && chmod 640 -- "${shared[@]}"; } || return 1
  fi
  ((${#made[@]} > 0)) || return 0
  sync -- "${made[@]}" 2>/dev/null || true
  # The last, which tells what the others hold, only behind all of them: `mv` goes on after one that fails.
  ((${#made[@]} == 1)) || mv -f -- "${made[@]:0:${#made[@]}-1}" "$DIR/" || return 1
  mv -f -- "${made[-1]}" "$DIR/"
}

# OWNER: makes the caller the owner.
install_owner() {
  [ "$OWNER" != "$1" ] || return 0
  printf '%s\n' "$1" >"$WORK/owner"
  install_state owner
}

# TEMPLATE CLIENTS count|USERS: prints the template with the clients filled in, writes "AUTH UUID" of those with an AUTH to
# the file USERS, and sets what is known of the inbounds: TAGS, GROUPED, HELD (how many clients), FLOWS; TOTAL are all
# clients. With `count` the latter only. Status 1 for a malformed placeholder.
fill() {
  local dir='' tag group held flow
  [[ ! $DIR =~ $PLAIN ]] || dir=$DIR
  awk -v list="$2" -v users="$3" -v inbounds="$WORK/inbounds" -v api="$API_SOCK,0660" -v dir="$dir" '
    BEGIN {
      quiet = users == "count"
      if (!quiet) printf "" > users
      while ((getline line < list) > 0) {
        parts = split(line, field, " ")
        held[field[2]]++
        total++
        if (quiet) continue
        uuid[total] = field[1]
        group[total] = field[2]
        if (parts == 3) print field[3], field[1] > users
      }
      print total + 0 > inbounds
    }
    match($0, /"tag":[ ]*"[A-Za-z0-9._-]+"/) { split(substr($0, RSTART, RLENGTH), part, "\""); tag = part[4] }
    $1 == "@clients" {
      if (tag == "" || $0 !~ /^[ \t]*@clients [A-Za-z0-9._-]+( [a-z0-9-]+)?@$/) { failed = 1; exit }
      sub(/@$/, "")
      print tag, $2, held[$2] + 0, $3 > inbounds
      if (quiet) next
      flow = NF == 3 ? ",\"flow\":\"" $3 "\"" : ""
      comma = ""
      for (i = 1; i <= total; i++) {
        if (group[i] != $2) continue
        printf "%s{\"id\":\"%s\",\"email\":\"%s\"%s}", comma, uuid[i], uuid[i], flow
        comma = ",\n"
      }
      print ""
      next
    }
    quiet { next }
    /@dir@/ { if (dir == "") { failed = 1; exit } gsub(/@dir@/, dir) }
    { gsub(/@api@/, api); print }
    # What cannot be written is noticed by gawk and mawk only when the file is closed.
    END { if (failed || close(inbounds) || (!quiet && close(users))) exit 1 }' "$1" || return 1
  TAGS=() GROUPED=() HELD=() FLOWS=()
  {
    read -r TOTAL
    while read -r tag group held flow; do TAGS+=("$tag") GROUPED+=("$group") HELD+=("$held") FLOWS+=("$flow"); done
  } <"$WORK/inbounds"
}

# Sets what is known of the inbounds (fill) by what is in place.
look_at_inbounds() {
  local base=$DIR/base.json
  [ -e "$base" ] || base=/dev/null
  fill "$base" "$DIR/clients" count
}

# TEMPLATE: Hysteria's template filled in; status 1 when node.conf has not what it takes.
render_hysteria() {
  local auth=${HYSTERIA_AUTH:-$(realpath "${BASH_SOURCE[0]%/*}")/hy2-auth}
  [[ -n $HYSTERIA_SECRET && $DIR =~ $PLAIN && $auth =~ $PLAIN ]] || return 1
  # Arguments can be read by every user of the machine, the environment can not.
  SECRET=$HYSTERIA_SECRET awk -v dir="$DIR" -v auth="$auth" -v api="$HYSTERIA_API" '{
    gsub(/@dir@/, dir); gsub(/@auth@/, auth); gsub(/@api@/, api); gsub(/@secret@/, ENVIRON["SECRET"]); print
  }' "$1"
}

# CLIENTS: makes what the cores read of their clients in WORK: config.json, once there is a base.json, and hy2-users.
make_files() {
  local base=$DIR/base.json config=$WORK/config.json
  [ -e "$base" ] || base=/dev/null config=/dev/null
  fill "$base" "$1" "$WORK/hy2-users" >"$config"
}

# [NAME]…: puts in place what make_files made, then these. A node that never had a user of Hysteria gets no file of them.
install_files() {
  local names=()
  [ ! -e "$WORK/config.json" ] || names+=(config.json)
  { [ ! -s "$WORK/hy2-users" ] && [ ! -e "$DIR/hy2-users" ]; } || names+=(hy2-users)
  install_state "${names[@]}" "$@"
}

# SECONDS COMMAND [ARG]…: becomes the core's client, so it stands in a subshell.
ask() {
  [ -S "$API_SOCK" ] || exit 1
  exec 2>"$COMPLAINT" 9>&-
  exec timeout -k 1 $(($1 + 1)) "$XRAY_BIN" api "$2" -t "$1" -s "unix://$API_SOCK" "${@:3}"
}

api() { (ask "$@"); }

# Sets UPTIME, empty when the core does not answer. The core leaves zeros out of its JSON.
ask_core() {
  local text
  UPTIME=''
  text=$(api 2 statssys) || return 1
  UPTIME=0
  [[ ! $text =~ \"Uptime\":\ *([0-9]+) ]] || UPTIME=${BASH_REMATCH[1]}
}

# BINARY: its version as JSON, null without one.
version_of() {
  local text
  text=$(timeout 2 "$1" version 2>/dev/null 9>&-) || true
  if [[ $text =~ (^|$'\n')(Xray|Version:)[[:space:]]+v?([^[:space:]]+) && ${BASH_REMATCH[3]} =~ ^$WORD$ ]]; then
    printf '"%s"' "${BASH_REMATCH[0]}"
  else
    printf null
  fi
}

# Sets CORE_RUN, which names one run of the core, and CORE_BINARY, which names its program; empty where there is none.
# The core binds its API socket once, so the socket's inode and birth tell runs apart, also two whose starts lie within a
# second, and stay the same when the machine's clocks drift or it was suspended.
look_at_core() {
  local boot kind inode modified size changed binary=$XRAY_BIN
  CORE_RUN='' CORE_BINARY=''
  read -r boot </proc/sys/kernel/random/boot_id
  [[ $binary == */* ]] || binary=$(type -P "$binary") || binary=/dev/null
  while IFS='|' read -r kind inode modified size changed; do
    case $kind in
      socket) CORE_RUN=$boot.$inode.$modified ;;
      regular*) CORE_BINARY=$inode.$size.$changed ;;
    esac
  done < <(exec stat -L -c '%F|%i|%.9Y|%s|%.9Z' -- "$API_SOCK" "$binary" 2>/dev/null)
}

# FUNCTION: runs it as FUNCTION TAG GROUP FLOW for all inbounds at once; status 1 when one of them failed.
each_inbound() {
  local i pid pids=() failed=0
  for i in "${!TAGS[@]}"; do
    "$1" "${TAGS[i]}" "${GROUPED[i]}" "${FLOWS[i]}" </dev/null & pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# Whether every inbound holds as many users as the file says. ANSWERS: how many inbounds told.
count_users() {
  local i users pids=() differ=0
  ANSWERS=0
  for i in "${!TAGS[@]}"; do
    ask 2 inboundusercount "-tag=${TAGS[i]}" </dev/null >"$WORK/users.$i" & pids+=($!)
  done
  for i in "${!TAGS[@]}"; do
    wait "${pids[i]}" || { differ=1; continue; }
    ANSWERS=$((ANSWERS + 1))
    IFS= read -r -d '' users <"$WORK/users.$i" || true
    users=${users//[!0-9]/}
    ((${users:-0} == HELD[i])) || differ=1
  done
  return "$differ"
}

# SECONDS TAG UUID…: status 1 unless the core removed all of them: its command exits with 0 whatever happened, so only the
# sum that it prints counts.
remove_users() {
  local text
  text=$(api "$1" rmu "-tag=$2" "${@:3}") || return 1
  [[ $text =~ (^|$'\n')"Removed "([0-9]+) ]] && ((BASH_REMATCH[2] == $# - 2))
}

# Takes a few differences between the old and the new file to the core in as few calls as it knows: one adds to all
# inbounds, one for each inbound removes. Status 1 unless it did all of it.
push_few() {
  local added removed i line gone users inbounds='' wanted=0 pid pids=() failed=0 text
  mapfile -t added <"$WORK/added"
  mapfile -t removed <"$WORK/removed"
  for i in "${!TAGS[@]}"; do
    gone=() users=''
    for line in "${removed[@]}"; do [ "${line#* }" != "${GROUPED[i]}" ] || gone+=("${line%% *}"); done
    ((${#gone[@]} == 0)) || { remove_users 2 "${TAGS[i]}" "${gone[@]}" </dev/null & pids+=($!); }
    for line in "${added[@]}"; do
      [ "${line#* }" = "${GROUPED[i]}" ] || continue
      line=${line%% *} wanted=$((wanted + 1))
      users+="${users:+,}{\"id\":\"$line\",\"email\":\"$line\"${FLOWS[i]:+,\"flow\":\"${FLOWS[i]}\"}}"
    done
    [ -z "$users" ] || inbounds+="${inbounds:+,}{\"port\":1,\"protocol\":\"vless\",\"tag\":\"${TAGS[i]}\",\"settings\":{\"decryption\":\"none\",\"clients\":[$users]}}"
  done
  if ((wanted > 0)); then
    printf '{"inbounds":[%s]}\n' "$inbounds" >"$WORK/adu.json"
    text=$(api 2 adu "$WORK/adu.json") || failed=1
    [[ $text =~ (^|$'\n')"Added "([0-9]+) ]] && ((BASH_REMATCH[2] == wanted)) || failed=1
  elif ((${#pids[@]} == 0)); then
    # Nothing concerned it, so nothing was heard from it.
    ask_core || failed=1
  fi
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# TAG GROUP FLOW: removes the users of WORK/remove.TAG, adds those of WORK/add.TAG. Status 1 unless the core did all of it.
push_users() {
  local lines count size
  size=$(wc -l <"$WORK/add.$1")
  while mapfile -t -n 1000 lines && ((${#lines[@]} > 0)); do
    remove_users 20 "$1" "${lines[@]%% *}" || return 1
  done <"$WORK/remove.$1"
  ((size > 0)) || return 0
  count=$(awk -v tag="$1" -v flow="$3" '
    BEGIN {
      printf "{\"inbounds\":[{\"port\":1,\"protocol\":\"vless\",\"tag\":\"%s\",\"settings\":{\"decryption\":\"none\",\"clients\":[", tag
      if (flow != "") flow = ",\"flow\":\"" flow "\""
    }
    { printf "%s{\"id\":\"%s\",\"email\":\"%s\"%s}", comma, $1, $1, flow; comma = ",\n" }
    END { print "]}}]}" }' "$WORK/add.$1" | api $((size / 100 + 20)) adu stdin: | awk '/^Added [0-9]/ { print $2 + 0 }') || return 1
  ((${count:-0} == size))
}

# Takes the differences between the old and the new file to an inbound.
push_difference() {
  awk -v group="$2" '$2 == group' "$WORK/removed" >"$WORK/remove.$1"
  awk -v group="$2" '$2 == group' "$WORK/added" >"$WORK/add.$1"
  push_users "$@"
}

# Compares the users of an inbound one by one with the file and takes the differences to it.
reconcile() {
  api 10 inbounduser "-tag=$1" | awk -F'"' -v group="$2" '$2 == "email" { print $4, group }' | sort >"$WORK/running.$1" || return 1
  awk -v group="$2" '$2 == group { print $1, $2 }' "$DIR/clients" >"$WORK/wanted.$1"
  comm -23 "$WORK/running.$1" "$WORK/wanted.$1" >"$WORK/remove.$1"
  comm -13 "$WORK/running.$1" "$WORK/wanted.$1" >"$WORK/add.$1"
  push_users "$@"
}

# Brings files and core together after an interrupted call or a drift. Status 1: they may still differ.
repair() {
  : >"$DIR/dirty"
  { make_files "$DIR/clients" && install_files && each_inbound reconcile; } || return 1
  cut_connections others "$DIR/clients" >/dev/null
  rm "$DIR/dirty"
}

# COMMAND CHECK…: runs a core's restart command and waits for CHECK; sets RESTARTED and LIVE.
restart() {
  local deadline
  RESTARTED=false LIVE=false
  # A command that failed found no core to restart: whoever starts one reads the new files.
  { [ -n "$1" ] && run_command "$1"; } || return 0
  RESTARTED=true
  look_at_clock
  deadline=$((NOW + 1000))
  until { "${@:2}" && LIVE=true; } || ((NOW > deadline)); do
    sleep 0.1
    look_at_clock
  done
}

# FORMER_RUN
core_is_new() {
  look_at_core
  [ "$CORE_RUN" != "$1" ] && ask_core && count_users
}

# FILTER [OPTION]: "LOCAL PEER" of the matching TCP sockets
list_sockets() {
  timeout 10 ss -Htn "${@:2}" state connected exclude time-wait "$1" 2>/dev/null | awk '{ print $(NF - 1), $NF }' | sort || true
}

# these|others FILE: ends the connections of the clients whose UUID opens a line of FILE, or of everyone else, and prints
# how many. The core itself closes nothing when it forgets a client. Neighbours behind the same address connect again.
cut_connections() {
  local closed=0 ports addresses filter
  ports=$(awk -v RS='[,{}\n]' '/^ *"port": *[0-9]+ *$/ { sub(/.*:/, ""); printf "%ssport = :%d", joint, $0; joint = " or " }' \
    "$DIR/base.json" 2>/dev/null) || ports='sport = :0'
  { api 5 statsonlineiplist -all || true; } | awk -F'"' -v which="$1" -v list="$2" '
    BEGIN { while ((getline line < list) > 0) { split(line, field, " "); listed[field[1]] = 1 } }
    $2 == "email" { chosen = ($4 in listed) == (which == "these") }
    $2 == "ip" && chosen && $4 ~ /^(\[[0-9a-fA-F:.]+\]|[0-9.]+)$/ && !seen[$4]++ { print $4 }
  ' >"$WORK/addresses"
  while mapfile -t -n 50 addresses && ((${#addresses[@]} > 0)); do
    printf -v filter ' or dst %s' "${addresses[@]}"
    filter="( $ports ) and ( ${filter# or } )"
    # Without the right to close sockets ss prints them all the same: only those that are gone count.
    list_sockets "$filter" -K >"$WORK/chosen"
    closed=$((closed + $(list_sockets "$filter" | comm -23 "$WORK/chosen" - | wc -l)))
  done <"$WORK/addresses"
  printf '%s' "$closed"
}

# METHOD PATH [BODY]: asks Hysteria's API and prints the body of its answer; BODY is a file. bash itself talks, because not
# every server has curl; HTTP/1.0, because then the answer ends with the connection.
# shellcheck disable=SC2016
readonly HYSTERIA_CALL='set -e
  length=0; [ -z "$3" ] || length=$(wc -c <"$3")
  exec 3<>"/dev/tcp/127.0.0.1/$PORT"
  printf "%s %s HTTP/1.0\r\nAuthorization: %s\r\nContent-Length: %d\r\n\r\n" "$1" "$2" "$SECRET" "$length" >&3
  [ -z "$3" ] || cat "$3" >&3
  read -r line <&3; [[ $line == "HTTP/1."?" 200 "* ]]
  while [ "$line" != $'"'\r'"' ]; do IFS= read -r line <&3; done
  exec cat <&3'

hysteria_api() {
  [ -e "$DIR/hysteria.yaml" ] || return 1
  PORT=${HYSTERIA_API#*:} SECRET=$HYSTERIA_SECRET timeout -k 1 3 bash -c "$HYSTERIA_CALL" hysteria "$1" "$2" "${3:-}" 2>/dev/null 9>&-
}

# Names one run of Hysteria by the inode of the socket on which its API listens (proc(5), /proc/net/tcp; 0A is LISTEN).
hysteria_run() {
  local address inode
  printf -v address '0100007F:%04X' "${HYSTERIA_API#*:}"
  inode=$(awk -v address="$address" '$2 == address && $4 == "0A" { print $10; exit }' /proc/net/tcp) || inode=''
  [ -z "$inode" ] || printf '%s.%s' "$(</proc/sys/kernel/random/boot_id)" "$inode"
}

# FORMER_RUN
hysteria_is_new() {
  local run
  run=$(hysteria_run)
  [ -n "$run" ] && [ "$run" != "$1" ] && hysteria_api GET /online >/dev/null
}

# The SHA-256 of hysteria.base, empty unless Hysteria was started with what it makes.
hysteria_config() {
  [ ! -e "$DIR/unread.hysteria" ] && [ -e "$DIR/hysteria.base" ] || return 0
  if render_hysteria "$DIR/hysteria.base" | cmp -s - "$DIR/hysteria.yaml"; then
    revisions "$DIR/hysteria.base"
    printf %s "$REVISION"
  fi
}

# these|others FILE TIME: kicks the clients whose UUID opens a line of FILE, or those that no line of FILE gives an AUTH,
# and prints how many of their connections ended. One kick ends one connection of a client, when it next carries a byte
# (Hysteria, extras/trafficlogger), so what is online is kicked again until TIME hundredths of a second bring no end of one.
kick() {
  local begin deadline first='' online=0 before=0
  look_at_clock
  begin=$NOW deadline=$((NOW + $3))
  while hysteria_api GET /online >"$WORK/online"; do
    before=$online
    online=$(awk -F'"' -v which="$1" -v list="$2" -v kicked="$WORK/kicked" '
      BEGIN {
        while ((getline line < list) > 0) if (split(line, field, " ") == 3 || which == "these") listed[field[1]] = 1
        RS = ","
      }
      length($2) == 36 && ($2 in listed) == (which == "these") {
        printf "%s\"%s\"", comma ? "," : "[", $2 > kicked
        comma = 1; gsub(/[^0-9]/, "", $3); n += $3
      }
      END { if (comma) print "]" > kicked; print n + 0 }' "$WORK/online")
    : "${first:=$online}"
    if ((online == 0)) || ! hysteria_api POST /kick "$WORK/kicked" >/dev/null; then break; fi
    look_at_clock
    ((online >= before)) || deadline=$((NOW + $3))
    ((NOW < deadline && NOW < begin + 1000)) || break
    sleep 0.03
  done
  printf '%d' $((${first:-0} > online ? first - online : 0))
}

verb_version() {
  reply '{"ok":true,"program":1,"core_version":%s,"hysteria_version":%s}' "$(version_of "$XRAY_BIN")" "$(version_of "$HYSTERIA_BIN")"
}

verb_list() {
  lock
  revisions "$DIR/clients"
  reply '{"ok":true,"clients":"%s","lines":[%s]}' "$REVISION" \
    "$(awk '{ printf "%s[\"%s\",\"%s\"%s]", comma, $1, $2, NF == 3 ? ",\"" $3 "\"" : ""; comma = "," }' "$DIR/clients")"
}

verb_status() {
  lock
  local ack=${1:-} reading=0 acked=$DIR/acked epoch run='' id='' live=false up=false counted=false config='' hysteria=null
  local core='"uptime_s":null,"epoch":null' hysteria_up=false stats traffic='' source=/dev/null news made=()
  local version='' seen_run='' seen_binary='' born=''
  look_at_inbounds
  look_at_core
  epoch=$CORE_RUN
  COMPLAINT=$WORK/complaint ask 3 statsquery -pattern '>>>traffic>>>' </dev/null >"$WORK/stats" & stats=$!
  if [ -e "$DIR/hysteria.yaml" ]; then
    run=$(hysteria_run)
    { hysteria_api GET /traffic >"$WORK/traffic" || rm "$WORK/traffic"; } & traffic=$!
  fi
  ANSWERS=0
  [ -e "$DIR/dirty" ] || ! count_users || counted=true
  if wait "$stats"; then
    up=true source=$WORK/stats
  elif [ -s "$WORK/complaint" ] && grep -q 'larger than max' "$WORK/complaint"; then
    # The reply to one query passes the 4 MiB limit of the core's client at some 26,000 clients.
    up=true
    ! { api 3 statsquery -pattern '>>>traffic>>>uplink' && api 3 statsquery -pattern '>>>traffic>>>downlink'; } >"$WORK/stats" ||
      source=$WORK/stats
  elif ((ANSWERS > 0)); then
    up=true
  elif ((${#TAGS[@]} == 0)) || [ -e "$DIR/dirty" ]; then
    # Nobody else was asked.
    ! ask_core || up=true
  fi
  [ ! -e "$DIR/seen" ] || read -r seen_run born seen_binary version <"$DIR/seen" || true
  if $up && { [ "$seen_run" != "$epoch" ] || [[ ! $born =~ ^-?[0-9]{1,15}$ ]]; }; then
    seen_run=''
    if ask_core; then
      look_at_clock
      born=$((NOW - 100 * UPTIME))
    else
      up=false
    fi
  fi
  if $up; then
    if $counted || repair; then live=true; fi
  elif [ -e "$DIR/dirty" ]; then
    make_files "$DIR/clients"
    install_files
  fi
  [ -z "$traffic" ] || wait "$traffic"
  if [ -z "$CORE_BINARY" ] || [ "$seen_binary" != "$CORE_BINARY" ] || [[ ! $version =~ ^$WORD$ ]]; then
    seen_binary=''
    version=$(version_of "$XRAY_BIN")
    version=${version//\"/}
  fi
  # Written when something of it is new and all of it is known.
  if $up && [[ -z $seen_run || -z $seen_binary ]] && [[ -n $CORE_BINARY && $version != null ]]; then
    printf '%s %s %s %s\n' "$epoch" "$born" "$CORE_BINARY" "$version" >"$WORK/seen"
    made+=("$WORK/seen")
  fi
  [ "$version" = null ] || version="\"$version\""
  # A core that started anew meanwhile may have answered in part: it counts from the next call on.
  look_at_core
  if $up && [ "$CORE_RUN" = "$epoch" ]; then
    look_at_clock
    core="\"uptime_s\":$(((NOW - born) / 100)),\"epoch\":\"$epoch\""
  else
    up=false live=false source=/dev/null made=()
  fi
  if [ -n "$run" ] && [ -e "$WORK/traffic" ] && [ "$(hysteria_run)" = "$run" ]; then hysteria_up=true; fi
  # "# ID EPOCH HYSTERIA_EPOCH" opens the file of a reading.
  [ ! -e "$DIR/pending" ] || read -r _ id _ <"$DIR/pending" || true
  [ -z "$ack" ] || [ "$ack" != "$id" ] || mv -f "$DIR/pending" "$DIR/acked"
  [ ! -e "$DIR/acked" ] || read -r _ reading _ <"$DIR/acked" || true
  [ "$ack" = "$reading" ] || reading=0 acked=''
  [ "$source" != /dev/null ] || epoch=''
  $hysteria_up || run=''
  traffic=/dev/null
  [ -z "$run" ] || traffic=$WORK/traffic
  read -r id </proc/sys/kernel/random/uuid
  list_news "$acked" "$id" "$epoch" "$run" "$source" "$traffic" >"$WORK/news"
  mapfile -t news <"$WORK/news"
  if [ -n "${news[0]}${news[1]}" ]; then
    made+=("$WORK/pending")
    reading=$id
  fi
  ((${#made[@]} == 0)) || mv -f -- "${made[@]}" "$DIR/"
  made=("$DIR/clients")
  [ ! -e "$DIR/base.json" ] || made+=("$DIR/base.json")
  revisions "${made[@]}"
  config=${SUMS[1]:-}
  if [ -e "$DIR/hysteria.yaml" ]; then
    kick others "$DIR/clients" 30 >/dev/null
    hysteria="{\"config\":\"$(hysteria_config)\",\"up\":$hysteria_up,\"epoch\":$([ -z "$run" ] && echo null || echo "\"$run\""),\"counters\":[${news[1]}]}"
  fi
  reply '{"ok":true,"owner":"%s","config":"%s","clients":"%s","count":%d,"live":%s,"core":{"up":%s,"version":%s,%s},"reading":"%s","counters":[%s],"hysteria":%s}' \
    "$OWNER" "$config" "$REVISION" "$TOTAL" "$live" "$up" "$version" "$core" "$reading" "${news[0]}" "$hysteria"
}

# ACKED ID EPOCH HYSTERIA_EPOCH STATS TRAFFIC: writes the reading ID to WORK/pending, "UUID UP DOWN" of Xray's counters and
# "~UUID UP DOWN" of Hysteria's, and prints what the file ACKED has not of the same runs of the cores, Xray's in a line and
# Hysteria's in one. Numbers stay text: an awk with 32-bit formats must not touch them.
list_news() {
  awk -F'>>>' -v acked="$1" -v id="$2" -v epoch="$3" -v run="$4" -v traffic="$6" -v pending="$WORK/pending" '
    function tell(mark, uuid, up, down, line) {
      line = mark uuid " " up " " down
      print line > pending
      if (line in known) return
      printf "%s[\"%s\",%s,%s]", comma, uuid, up, down
      comma = ","
    }
    function is_uuid(text) { return length(text) == 36 && text ~ /^[0-9a-f-]+$/ }
    BEGIN {
      if (acked != "" && (getline line < acked) > 0) {
        split(line, head, " ")
        while ((getline line < acked) > 0) if (line ~ /^~/ ? (head[4] == run) : (head[3] == epoch)) known[line] = 1
      }
      print "#", id, (epoch == "" ? "-" : epoch), (run == "" ? "-" : run) > pending
    }
    NF == 4 { uuid = $2; upward = $4 ~ /^up/ }
    /"value":/ && is_uuid(uuid) {
      if (!(uuid in up)) up[uuid] = down[uuid] = "0"
      gsub(/[^0-9]/, "")
      if (upward) up[uuid] = $0; else down[uuid] = $0
    }
    END {
      for (uuid in up) tell("", uuid, up[uuid], down[uuid])
      print ""
      comma = ""
      # {"UUID":{"tx":1,"rx":2},…}: tx is what came from the client (Hysteria, core/server/copy.go).
      RS = "}"
      while ((getline line < traffic) > 0) {
        split(line, part, "\"")
        if (!is_uuid(part[2]) || part[4] != "tx" || part[6] != "rx") continue
        gsub(/[^0-9]/, "", part[5]); gsub(/[^0-9]/, "", part[7])
        tell("~", part[2], part[5], part[7])
      }
      print ""
      if (close(pending)) exit 1
    }' "$5"
}

# WHOLE BODY: the list that the operations make of the old one, or of none with WHOLE. What Xray must learn, which knows
# nothing of an AUTH, goes to WORK/added and WORK/removed, "UUID GROUP" each; "ADDED REMOVED COUNT CHANGES" to WORK/counts,
# lines of the list and how many of Xray's users change. Status 1 and the line number in WORK/malformed for a bad operation.
operate() {
  awk -F'"' -v whole="$1" -v list="$DIR/clients" -v work="$WORK/" '
    function first(text) { sub(/ .*/, "", text); return text }
    BEGIN {
      x = "[0-9a-f]"; q = x x x x; uuid = "^" q q "-" q "-" q "-" q "-" q q q "$"
      while ((getline line < list) > 0) {
        old[substr(line, 1, 36)] = substr(line, 38)
        if (!whole) group[substr(line, 1, 36)] = substr(line, 38)
      }
    }
    $1 == "[" && $3 == "," && $4 ~ uuid {
      if (NF == 5 && $2 == "-" && $5 == "]") { delete group[$4]; next }
      if (NF >= 7 && $2 == "+" && $5 == "," && $6 ~ /^[A-Za-z0-9._-]+$/ && length($6) <= 64) {
        if (NF == 7 && $7 == "]") { group[$4] = $6; next }
        if (NF == 9 && $7 == "," && $8 ~ /^[A-Za-z0-9_-]+$/ && length($8) >= 16 && length($8) <= 64 && $9 == "]") { group[$4] = $6 " " $8; next }
      }
    }
    { printf "%d", NR > (work "malformed"); failed = 1; exit }
    END {
      if (failed) exit 1
      gained = work "added"; lost = work "removed"; counts = work "counts"
      printf "" > gained
      printf "" > lost
      for (id in group) {
        print id, group[id]
        count++
        if (id in old && old[id] "" == group[id] "") continue
        added++
        if (id in old && first(old[id]) == first(group[id])) continue
        print id, first(group[id]) > gained
        changes++
      }
      for (id in old) {
        if (id in group && old[id] "" == group[id] "") continue
        removed++
        if (id in group && first(old[id]) == first(group[id])) continue
        print id, first(old[id]) > lost
        changes++
      }
      print added + 0, removed + 0, count + 0, changes + 0 > counts
      if (close(gained) || close(lost) || close(counts)) exit 1
    }
  ' "$2"
}

verb_apply() {
  read_request "$APPLY_HEADER" body
  local owner=${FIELDS[0]} from=${FIELDS[1]} to=${FIELDS[2]} force=${FIELDS[3]}
  local current wanted whole='' is_made=true added removed count changes live=false reached=true dropped=0 was_dirty=false kicking=''
  [ "$from" != none ] || whole=1
  operate "$whole" "$WORK/body" | sort >"$WORK/clients" || is_made=false
  revisions "$DIR/clients" "$WORK/clients"
  current=${SUMS[0]} wanted=${SUMS[1]}
  [[ $from == any || $from == none || $from == "$current" ]] || fail stale 'the clients have changed' ",\"clients\":\"$current\""
  if ! $is_made; then
    [ -s "$WORK/malformed" ] || return 1
    fail bad-input "operation $(<"$WORK/malformed") is malformed"
  fi
  [ -z "$to" ] || [ "$to" = "$wanted" ] || fail bad-input 'the operations do not result in the revision "to"'
  read -r added removed count changes <"$WORK/counts"
  if [ -n "$OWNER" ] && [ "$OWNER" != "$owner" ] && ! $force; then
    ((removed == 0)) || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
    owner=$OWNER
  fi
  [ ! -e "$DIR/dirty" ] || was_dirty=true
  # All that may need room on the disk comes before the first change.
  make_files "$WORK/clients"
  install_owner "$owner"
  if [ "$wanted" != "$current" ]; then
    : >"$DIR/dirty"
    install_files clients
  fi
  # Meanwhile, because Xray takes its time.
  if ((removed > 0)) && [ -e "$DIR/hysteria.yaml" ]; then
    kick others "$DIR/clients" 100 >"$WORK/ended" & kicking=$!
  fi
  if ! $was_dirty && ((changes > 0 && changes <= FEW)); then
    if push_few; then live=true; elif ! ask_core; then reached=false; fi
  elif ! ask_core; then
    reached=false
  elif ! $was_dirty && each_inbound push_difference && count_users; then
    live=true
  fi
  if $reached; then
    [ ! -s "$WORK/removed" ] || dropped=$(cut_connections these "$WORK/removed")
    if $live; then rm -f "$DIR/dirty"; elif repair; then live=true; fi
  fi
  if [ -n "$kicking" ]; then
    wait "$kicking"
    dropped=$((dropped + $(<"$WORK/ended")))
  fi
  reply '{"ok":true,"clients":"%s","count":%d,"added":%d,"removed":%d,"live":%s,"dropped":%d}' \
    "$wanted" "$count" "$added" "$removed" "$live" "$dropped"
}

# NAME: reads a request with a configuration, which it leaves in WORK/NAME, and sets NEW_OWNER and CONFIG.
read_configuration() {
  read_request "$CONFIGURE_HEADER" "$1"
  NEW_OWNER=${FIELDS[0]} CONFIG=${FIELDS[1]}
  revisions "$WORK/$1"
  [ "$REVISION" = "$CONFIG" ] || fail bad-input 'the text does not have the SHA-256 "config"'
  [ -z "$OWNER" ] || [ "$OWNER" = "$NEW_OWNER" ] || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
}

# Whether base.json is the text of this request.
is_installed() {
  [ -e "$DIR/base.json" ] || return 1
  revisions "$DIR/base.json"
  [ "$REVISION" = "$CONFIG" ]
}

verb_configure() {
  read_configuration base.json
  local live=false
  command -v "$XRAY_BIN" >/dev/null || fail no-core 'there is no core binary'
  # Nothing to do for the same text, unless a core runs that was started before it.
  if [ -e "$DIR/config.json" ] && is_installed && { [ ! -e "$DIR/unread" ] || ! ask_core; }; then
    look_at_inbounds
    ! { ask_core && count_users; } || live=true
    reply '{"ok":true,"config":"%s","restarted":false,"live":%s}' "$CONFIG" "$live"
    return
  fi
  fill "$WORK/base.json" "$DIR/clients" "$WORK/hy2-users" >"$WORK/config.json" || fail bad-config 'a placeholder is malformed'
  timeout 10 "$XRAY_BIN" run -test -c "$WORK/config.json" >"$WORK/test" 2>&1 9>&- ||
    fail bad-config "$({ grep -m 1 -i failed "$WORK/test" || tail -n 1 "$WORK/test"; } | head -c 500)"
  : >"$DIR/dirty"
  : >"$DIR/unread"
  install_owner "$NEW_OWNER"
  install_state base.json config.json
  look_at_core
  restart "$CORE_RESTART" core_is_new "$CORE_RUN"
  ! $LIVE || rm -f "$DIR/dirty" "$DIR/unread"
  reply '{"ok":true,"config":"%s","restarted":%s,"live":%s}' "$CONFIG" "$RESTARTED" "$LIVE"
}

verb_hysteria() {
  read_configuration hysteria.base
  RESTARTED=false LIVE=false
  if [ ! -s "$WORK/hysteria.base" ]; then
    [ ! -e "$DIR/hysteria.base" ] || stop_core "$HYSTERIA_STOP"
    rm -f "$DIR"/{hysteria.yaml,hysteria.base,unread.hysteria}
  elif [ -z "$HYSTERIA_SECRET" ] || ! command -v "$HYSTERIA_BIN" >/dev/null; then
    fail no-core 'there is no Hysteria'
  elif [ "$(hysteria_config)" = "$CONFIG" ]; then
    ! hysteria_api GET /online >/dev/null || LIVE=true
  else
    render_hysteria "$WORK/hysteria.base" >"$WORK/hysteria.yaml" || fail bad-config 'DIR or HYSTERIA_AUTH is not a plain absolute path'
    awk 'NF == 3 { print $3, $1 }' "$DIR/clients" >"$WORK/hy2-users"
    [ -z "$HYSTERIA_RESTART" ] || : >"$DIR/unread.hysteria"
    install_owner "$NEW_OWNER"
    install_state hy2-users hysteria.base hysteria.yaml
    restart "$HYSTERIA_RESTART" hysteria_is_new "$(hysteria_run)"
    ! $LIVE || rm -f "$DIR/unread.hysteria"
  fi
  reply '{"ok":true,"config":"%s","restarted":%s,"live":%s}' "$CONFIG" "$RESTARTED" "$LIVE"
}

# COMMAND
stop_core() { [ -z "$1" ] || run_command "$1" || fail fault 'a core could not be stopped'; }

verb_retire() {
  lock
  local removed
  [ -z "$OWNER" ] || [ "$OWNER" = "$1" ] || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
  removed=$(wc -l <"$DIR/clients")
  : >"$DIR/dirty"
  : >"$WORK/clients"
  : >"$WORK/added"
  awk '{ print $1, $2 }' "$DIR/clients" >"$WORK/removed"
  make_files "$WORK/clients"
  install_files clients
  if ask_core; then
    each_inbound push_difference || each_inbound reconcile || true
    cut_connections others "$DIR/clients" >/dev/null
  fi
  kick others "$DIR/clients" 100 >/dev/null
  stop_core "$CORE_STOP"
  stop_core "$HYSTERIA_STOP"
  rm -f "$DIR"/{base.json,config.json,hysteria.base,hysteria.yaml,hy2-users,acked,pending,seen,unread,unread.hysteria,dirty,owner}
  reply '{"ok":true,"removed":%d}' "$removed"
}

verb_drop() {
  local uuid dropped
  for uuid; do [[ $uuid =~ ^$UUID$ ]] || fail bad-input 'not a UUID'; done
  printf '%s\n' "$@" >"$WORK/drop"
  dropped=$(cut_connections these "$WORK/drop")
  reply '{"ok":true,"dropped":%d}' $((dropped + $(kick these "$WORK/drop" 20)))
}

verb_metrics() {
  local memory load up=false clients=0 format='"mem_total_mb":%d,"mem_used_mb":%d' hysteria='"hysteria_version":null,"hysteria_up":null'
  memory=$(awk -v f="$format" '{ mb[$1] = $2 / 1024 } END { printf f, mb["MemTotal:"], mb["MemTotal:"] - mb["MemAvailable:"] }' /proc/meminfo)
  look_at_clock
  read -r load _ </proc/loadavg
  ! ask_core || up=true
  if [ -e "$DIR/hysteria.yaml" ]; then
    hysteria="\"hysteria_version\":$(version_of "$HYSTERIA_BIN"),\"hysteria_up\":$(hysteria_api GET /online >/dev/null && echo true || echo false)"
  fi
  [ ! -e "$DIR/clients" ] || clients=$(wc -l <"$DIR/clients")
  reply '{"ok":true,%s,"uptime_s":%d,"load1":%s,"cpu_count":%d,"core_version":%s,"core_up":%s,%s,"clients":%d}' \
    "$memory" $((NOW / 100)) "$load" "$(nproc)" "$(version_of "$XRAY_BIN")" "$up" "$hysteria" "$clients"
}

# HOST PORT [OPTION]…: what openssl says of a handshake with TLS 1.3.
shake_hands() { timeout 4 openssl s_client -connect "$1:$2" -servername "$1" -tls1_3 "${@:3}" </dev/null 2>&1 || true; }

verb_probe_sni() {
  [[ $1 =~ ^([A-Za-z0-9][A-Za-z0-9._-]*)(:([1-9][0-9]{0,4}))?$ ]] || fail bad-input 'neither HOST nor HOST:PORT'
  command -v openssl >/dev/null || fail fault 'openssl is missing'
  local host=${BASH_REMATCH[1]} port=${BASH_REMATCH[3]:-443} text tls13=false x25519=false flight=0 reason='' limit=8192
  # Only X25519 is offered: a site that wants another key share, and so a second hello, does not get through.
  text=$(shake_hands "$host" "$port" -groups X25519)
  if [[ $text == *'New, TLSv1.3'* ]]; then
    tls13=true x25519=true
    # Counted when the handshake ends: the session tickets come later.
    [[ ! $text =~ SSL\ handshake\ has\ read\ ([0-9]+)\ bytes ]] || flight=${BASH_REMATCH[1]}
    # XTLS/REALITY, tls.go: the record buffer of the target's first flight.
    ((flight <= limit)) || reason="its first flight has $flight bytes, more than $limit"
  elif [[ $text != *CONNECTED* ]]; then
    reason='no connection'
  elif [[ $(shake_hands "$host" "$port") == *'New, TLSv1.3'* ]]; then
    tls13=true reason='no X25519 key share'
  else
    reason='no TLS 1.3'
  fi
  reply '{"ok":true,"suits":%s,"tls13":%s,"x25519":%s,"first_flight":%d,"reason":"%s"}' \
    "$([ -z "$reason" ] && echo true || echo false)" "$tls13" "$x25519" "$flight" "$reason"
}

# Takes no lock: `configure` holds it while the core that it restarts calls this.
verb_prestart() {
  local live=true
  ask_core || { live=false; rm -f "$DIR/unread"; [ ! -S "$API_SOCK" ] || rm -f "$API_SOCK"; }
  reply '{"ok":true,"live":%s}' "$live"
}

main() {
  trap finish EXIT
  trap 'FAULT=$LINENO' ERR
  local words=("$@") line word
  if (($# == 0)); then
    line=${SSH_ORIGINAL_COMMAND:-}
    [ -n "$line" ] || IFS= read -r -t 30 -n 100000 line || true
    read -ra words <<<"$line"
  fi
  for word in "${words[@]}"; do [[ $word =~ ^$WORD$ ]] || fail bad-input 'a word is malformed'; done
  load_conf
  case ${words[0]:-}:${#words[@]} in
    status:[12] | list:1 | apply:1 | configure:1 | hysteria:1 | retire:2 | drop:*) prepare ;;
    version:1 | metrics:1 | probe-sni:2 | prestart:1) ;;
    *) fail unknown-verb 'no such verb, or not with so many words' ;;
  esac
  "verb_${words[0]//-/_}" "${words[@]:1}"
}

main "$@"
