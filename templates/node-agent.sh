#!/usr/bin/env bash
# The node program, the only thing that touches a proxy core. Its verbs, files and answers: docs/node-program.md.
set -Eeuo pipefail
export LC_ALL=C PATH="$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin"
umask 077
readonly DIR=${SUBPANEL_NODE_DIR:-/var/lib/subpanel-node}
readonly WORD='[A-Za-z0-9._:-]{1,200}' SHA='[0-9a-f]{64}' UUID='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' LINES='"lines":([0-9]{1,7})'
readonly CONFIGURE_HEADER="^\\{\"owner\":\"($WORD)\",\"config\":\"($SHA)\",$LINES\\}$"
readonly APPLY_HEADER="^\\{\"owner\":\"($WORD)\",\"from\":\"(any|none|$SHA)\",\"to\":\"($SHA|)\",\"force\":(true|false),$LINES\\}$"
WORK='' ANSWERED='' FAULT='' OWNER=''

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

finish() {
  [ -z "$WORK" ] || rm -rf "$WORK"
  [ -n "$ANSWERED" ] || fail fault "the node program failed${FAULT:+ at line $FAULT}"
}

load_conf() {
  local line
  XRAY_BIN=xray API_SOCK=$DIR/api.sock CORE_RESTART='' CONFIG_GROUP=''
  while IFS= read -r line || [ -n "$line" ]; do
    [[ ! $line =~ ^(XRAY_BIN|API_SOCK|CORE_RESTART|CONFIG_GROUP)=(.+)$ ]] || printf -v "${BASH_REMATCH[1]}" %s "${BASH_REMATCH[2]}"
  done < <(cat "$DIR/node.conf" 2>/dev/null)
  [[ $API_SOCK =~ ^/[A-Za-z0-9._/@-]+$ ]] || fail fault 'API_SOCK is not a plain absolute path'
}

# A directory for this call's files, beside the state so that `mv` is atomic.
prepare() {
  WORK=$DIR/.call.$$
  rm -rf "$WORK"
  mkdir -p "$WORK"
}

lock() {
  local left
  exec 9>"$DIR/lock"
  flock -w 20 9 || { (($? > 1)) || fail busy 'another call holds the lock'; fail fault 'flock does not work'; }
  for left in "$DIR"/.call.*; do [ -e "/proc/${left##*.}" ] || rm -rf "$left"; done
  [ -e "$DIR/clients" ] || : >"$DIR/clients"
  [ ! -e "$DIR/owner" ] || read -r OWNER <"$DIR/owner" || true
  list_inbounds
}

# REGEX NAME: reads the header into FIELDS and as many lines as its last field says into WORK/NAME, then takes the lock.
# Not awk and not "to the end": the writer may wait for the answer with its side of a socket still open.
read_request() {
  local header='' lines
  IFS= read -r -t 30 -n 1000 header || true
  [[ $header =~ $1 ]] || fail bad-input 'the header is malformed'
  FIELDS=("${BASH_REMATCH[@]:1}")
  lines=$((10#${FIELDS[-1]}))
  timeout 120 head -n "$lines" >"$WORK/$2" || true
  (($(wc -l <"$WORK/$2") == lines)) || fail bad-input 'the input ended early'
  lock
}

revision() { sha256sum <"$1" | cut -c 1-64; }

# NAME: replaces a state file by the one made in WORK.
install_file() {
  [ "$1" != config.json ] || [ -z "$CONFIG_GROUP" ] || { chgrp "$CONFIG_GROUP" "$WORK/$1" && chmod 640 "$WORK/$1"; } || return 1
  sync "$WORK/$1" 2>/dev/null || true
  mv -f "$WORK/$1" "$DIR/$1"
}

# TEMPLATE CLIENTS: the template with the clients filled in; status 1 for a malformed placeholder.
render() {
  awk -v list="$2" -v api="$API_SOCK,0660" '
    /"tag":[ ]*"[A-Za-z0-9._-]+"/ { tagged = 1 }
    $1 == "@clients" {
      if (!tagged || $0 !~ /^[ \t]*@clients [A-Za-z0-9._-]+( [a-z0-9-]+)?@$/) exit 1
      sub(/@$/, "")
      flow = NF == 3 ? ",\"flow\":\"" $3 "\"" : ""
      for (comma = ""; (getline line < list) > 0; ) {
        split(line, field, " ")
        if (field[2] != $2) continue
        printf "%s{\"id\":\"%s\",\"email\":\"%s\"%s}", comma, field[1], field[1], flow
        comma = ",\n"
      }
      close(list); print ""; next
    }
    { gsub(/@api@/, api); print }' "$1"
}

# CLIENTS: puts config.json in place, once there is a base.json.
write_config() {
  [ ! -e "$DIR/base.json" ] || { render "$DIR/base.json" "$1" >"$WORK/config.json" && install_file config.json; }
}

# "TAG GROUP FLOW" of every placeholder to WORK/inbounds, without FLOW where there is none.
list_inbounds() {
  : >"$WORK/inbounds"
  [ ! -e "$DIR/base.json" ] || awk '
    match($0, /"tag":[ ]*"[A-Za-z0-9._-]+"/) { split(substr($0, RSTART, RLENGTH), part, "\""); tag = part[4] }
    $1 == "@clients" { sub(/@$/, ""); print tag, $2, $3 }
  ' "$DIR/base.json" >"$WORK/inbounds"
}

# SECONDS COMMAND [ARG]…
api() {
  [ -S "$API_SOCK" ] || return 1
  timeout -k 1 $(($1 + 1)) "$XRAY_BIN" api "$2" -t "$1" -s "unix://$API_SOCK" "${@:3}" 2>/dev/null 9>&-
}

# Sets UPTIME, empty when the core does not answer. The core leaves zeros out of its JSON.
ask_core() { UPTIME=$(api 2 statssys | awk '/"Uptime"/ { s = $2 + 0 } END { print s + 0 }') || UPTIME=''; [ -n "$UPTIME" ]; }

# As JSON, null without a binary.
core_version() {
  local version
  version=$(timeout 2 "$XRAY_BIN" version 2>/dev/null 9>&- | awk 'NR == 1 { print $2 }') || true
  if [[ $version =~ ^$WORD$ ]]; then printf '"%s"' "$version"; else printf null; fi
}

# Names one run of the core. It binds its API socket once, so the socket's inode and birth tell runs apart, also two
# whose starts lie within a second, and stay the same when the machine's clocks drift or it was suspended.
core_run() {
  [ ! -S "$API_SOCK" ] || printf '%s.%s' "$(</proc/sys/kernel/random/boot_id)" "$(stat -c '%i.%.9Y' "$API_SOCK")"
}

# FUNCTION: runs it as FUNCTION TAG GROUP FLOW for all inbounds at once; status 1 when one of them failed.
each_inbound() {
  local tag group flow pid pids=() failed=0
  while read -r tag group flow; do
    "$1" "$tag" "$group" "$flow" </dev/null & pids+=($!)
  done <"$WORK/inbounds"
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# Whether the inbound holds as many users as the file says.
same_count() {
  local users
  users=$(api 2 inboundusercount "-tag=$1") || return 1
  users=${users//[!0-9]/}
  awk -v group="$2" -v users="${users:-0}" '$2 == group { n++ } END { exit n + 0 != users }' "$DIR/clients"
}

# Removes the users of WORK/remove.TAG, adds those of WORK/add.TAG. Status 1 unless the core did all of it: its command
# exits with 0 whatever happened, so only the sums that it prints count.
push_users() {
  local lines count size missing
  missing=$(wc -l <"$WORK/remove.$1") size=$(wc -l <"$WORK/add.$1")
  while mapfile -t -n 1000 lines && ((${#lines[@]} > 0)); do
    count=$(api 20 rmu "-tag=$1" "${lines[@]%% *}" | awk '/^Removed [0-9]/ { print $2 + 0 }') || return 1
    missing=$((missing - ${count:-0}))
  done <"$WORK/remove.$1"
  if ((size > 0)); then
    printf '{"inbounds":[{"port":1,"protocol":"vless",\n"tag":"%s",\n"settings":{"decryption":"none","clients":[\n%s\n]}}]}\n' \
      "$1" "@clients $2${3:+ $3}@" >"$WORK/template.$1"
    count=$(render "$WORK/template.$1" "$WORK/add.$1" | api $((size / 100 + 20)) adu stdin: |
      awk '/^Added [0-9]/ { print $2 + 0 }') || return 1
    missing=$((missing + size - ${count:-0}))
  fi
  ((missing == 0))
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
  awk -v group="$2" '$2 == group' "$DIR/clients" >"$WORK/wanted.$1"
  comm -23 "$WORK/running.$1" "$WORK/wanted.$1" >"$WORK/remove.$1"
  comm -13 "$WORK/running.$1" "$WORK/wanted.$1" >"$WORK/add.$1"
  push_users "$@"
}

# Brings files and core together after an interrupted call or a drift. Status 1: they may still differ.
repair() {
  : >"$DIR/dirty"
  write_config "$DIR/clients" || return 1
  each_inbound reconcile || return 1
  cut_connections others "$DIR/clients" >/dev/null
  rm "$DIR/dirty"
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

verb_version() { reply '{"ok":true,"program":1,"core_version":%s}' "$(core_version)"; }

verb_list() {
  lock
  reply '{"ok":true,"clients":"%s","lines":[%s]}' "$(revision "$DIR/clients")" \
    "$(awk '{ printf "%s[\"%s\",\"%s\"]", comma, $1, $2; comma = "," }' "$DIR/clients")"
}

verb_status() {
  lock
  local ack=${1:-} reading=0 known='' base=/dev/null epoch id='' counters='' live=false up=false config='' queries=()
  local core='"uptime_s":null,"epoch":null'
  epoch=$(core_run)
  # Two queries, because the reply to one would pass the 4 MiB limit of the core's client at some 26,000 clients.
  { api 3 statsquery -pattern '>>>traffic>>>uplink' >"$WORK/uplink" || rm "$WORK/uplink"; } & queries+=($!)
  { api 3 statsquery -pattern '>>>traffic>>>downlink' >"$WORK/downlink" || rm "$WORK/downlink"; } & queries+=($!)
  if ask_core; then
    up=true
    if { [ ! -e "$DIR/dirty" ] && each_inbound same_count; } || repair; then live=true; fi
  fi
  wait "${queries[@]}"
  # A core that started anew meanwhile may have answered in part: it counts from the next call on.
  if $up && [ "$(core_run)" = "$epoch" ]; then core="\"uptime_s\":$UPTIME,\"epoch\":\"$epoch\""; else up=false live=false; fi
  # "# ID EPOCH" opens the file of a reading and sorts before all UUIDs.
  [ ! -e "$DIR/pending" ] || read -r _ id _ <"$DIR/pending" || true
  [ -z "$ack" ] || [ "$ack" != "$id" ] || mv -f "$DIR/pending" "$DIR/acked"
  [ ! -e "$DIR/acked" ] || read -r _ reading known <"$DIR/acked" || true
  if [ "$ack" != "$reading" ]; then reading=0; elif [ "$known" = "$epoch" ]; then base=$DIR/acked; fi
  if $up && [ -e "$WORK/uplink" ] && [ -e "$WORK/downlink" ]; then
    id=$(</proc/sys/kernel/random/uuid)
    { printf '# %s %s\n' "$id" "$epoch"; list_counters | sort; } >"$WORK/pending"
    counters=$(comm -13 "$base" "$WORK/pending" | awk '!/^#/ { printf "%s[\"%s\",%s,%s]", comma, $1, $2, $3; comma = "," }')
    [ -z "$counters" ] || { mv -f "$WORK/pending" "$DIR/pending"; reading=$id; }
  fi
  [ ! -e "$DIR/base.json" ] || config=$(revision "$DIR/base.json")
  reply '{"ok":true,"owner":"%s","config":"%s","clients":"%s","count":%d,"live":%s,"core":{"up":%s,"version":%s,%s},"reading":"%s","counters":[%s]}' \
    "$OWNER" "$config" "$(revision "$DIR/clients")" "$(wc -l <"$DIR/clients")" "$live" "$up" "$(core_version)" "$core" "$reading" "$counters"
}

# "UUID UP DOWN" of the core's counters. Numbers stay text: an awk with 32-bit formats must not touch them.
list_counters() {
  awk -F'>>>' '
    NF == 4 { uuid = $2; upward = $4 ~ /^up/ }
    /"value":/ && length(uuid) == 36 && uuid ~ /^[0-9a-f-]+$/ {
      if (!(uuid in up)) up[uuid] = down[uuid] = "0"
      gsub(/[^0-9]/, "")
      if (upward) up[uuid] = $0; else down[uuid] = $0
    }
    END { for (uuid in up) print uuid, up[uuid], down[uuid] }
  ' "$WORK/uplink" "$WORK/downlink"
}

# CLIENTS BODY: the list that the operations make of the old one; status 1 and the line number in WORK/malformed.
operate() {
  awk -F'"' -v list="$1" -v malformed="$WORK/malformed" '
    BEGIN {
      x = "[0-9a-f]"; q = x x x x; uuid = "^" q q "-" q "-" q "-" q "-" q q q "$"
      while ((getline line < list) > 0) { split(line, field, " "); group[field[1]] = field[2] }
    }
    $1 == "[" && $3 == "," && $4 ~ uuid {
      if (NF == 5 && $2 == "-" && $5 == "]") { delete group[$4]; next }
      if (NF == 7 && $2 == "+" && $5 == "," && $6 ~ /^[A-Za-z0-9._-]+$/ && length($6) <= 64 && $7 == "]") { group[$4] = $6; next }
    }
    { printf "%d", NR > malformed; failed = 1; exit }
    END { if (failed) exit 1; for (uuid in group) print uuid, group[uuid] }
  ' "$2" | sort
}

verb_apply() {
  read_request "$APPLY_HEADER" body
  local owner=${FIELDS[0]} from=${FIELDS[1]} to=${FIELDS[2]} force=${FIELDS[3]}
  local current wanted base=$DIR/clients added removed live=false dropped=0 was_dirty=false
  current=$(revision "$DIR/clients")
  [[ $from == any || $from == none || $from == "$current" ]] || fail stale 'the clients have changed' ",\"clients\":\"$current\""
  [ "$from" != none ] || base=/dev/null
  operate "$base" "$WORK/body" >"$WORK/clients" || fail bad-input "operation $(<"$WORK/malformed") is malformed"
  wanted=$(revision "$WORK/clients")
  [ -z "$to" ] || [ "$to" = "$wanted" ] || fail bad-input 'the operations do not result in the revision "to"'
  comm -13 "$DIR/clients" "$WORK/clients" >"$WORK/added"
  comm -23 "$DIR/clients" "$WORK/clients" >"$WORK/removed"
  added=$(wc -l <"$WORK/added") removed=$(wc -l <"$WORK/removed")
  if [ -n "$OWNER" ] && [ "$OWNER" != "$owner" ] && ! $force; then
    ((removed == 0)) || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
    owner=$OWNER
  fi
  [ ! -e "$DIR/dirty" ] || was_dirty=true
  printf '%s\n' "$owner" >"$WORK/owner"
  [ "$OWNER" = "$owner" ] || install_file owner
  if [ "$wanted" != "$current" ]; then
    : >"$DIR/dirty"
    write_config "$WORK/clients"
    install_file clients
  fi
  if ask_core; then
    if ! $was_dirty && each_inbound push_difference && each_inbound same_count; then live=true; fi
    ((removed == 0)) || dropped=$(cut_connections these "$WORK/removed")
    if $live; then rm -f "$DIR/dirty"; elif repair; then live=true; fi
  fi
  reply '{"ok":true,"clients":"%s","count":%d,"added":%d,"removed":%d,"live":%s,"dropped":%d}' \
    "$wanted" "$(wc -l <"$DIR/clients")" "$added" "$removed" "$live" "$dropped"
}

verb_configure() {
  read_request "$CONFIGURE_HEADER" base.json
  local owner=${FIELDS[0]} config=${FIELDS[1]} restarted=false live=false before deadline
  [ "$(revision "$WORK/base.json")" = "$config" ] || fail bad-input 'the text does not have the SHA-256 "config"'
  [ -z "$OWNER" ] || [ "$OWNER" = "$owner" ] || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
  command -v "$XRAY_BIN" >/dev/null || fail no-core 'there is no core binary'
  # Nothing to do for the same text, unless a core runs that was started before it.
  if [ -e "$DIR/config.json" ] && [ "$(revision "$DIR/base.json")" = "$config" ] && { [ ! -e "$DIR/unread" ] || ! ask_core; }; then
    ! { ask_core && each_inbound same_count; } || live=true
    reply '{"ok":true,"config":"%s","restarted":false,"live":%s}' "$config" "$live"
    return
  fi
  render "$WORK/base.json" "$DIR/clients" >"$WORK/config.json" || fail bad-config 'a placeholder is malformed'
  timeout 10 "$XRAY_BIN" run -test -c "$WORK/config.json" >"$WORK/test" 2>&1 9>&- ||
    fail bad-config "$({ grep -m 1 -i failed "$WORK/test" || tail -n 1 "$WORK/test"; } | head -c 500)"
  : >"$DIR/dirty"
  : >"$DIR/unread"
  printf '%s\n' "$owner" >"$WORK/owner"
  install_file owner
  install_file base.json
  install_file config.json
  list_inbounds
  if [ -n "$CORE_RESTART" ]; then
    before=$(core_run)
    # Nothing of ours may be inherited: a core started by the command would hold the lock and the caller's pipe.
    ! timeout 30 sh -c "$CORE_RESTART" </dev/null >/dev/null 2>&1 9>&- || restarted=true
    # A command that failed found no core to restart: whoever starts one reads the new files.
    deadline=$((SECONDS + 10))
    ! $restarted || until { [ "$(core_run)" != "$before" ] && ask_core && each_inbound same_count && live=true; } || ((SECONDS > deadline)); do
      sleep 0.1
    done
    ! $live || rm -f "$DIR/dirty" "$DIR/unread"
  fi
  reply '{"ok":true,"config":"%s","restarted":%s,"live":%s}' "$config" "$restarted" "$live"
}

verb_drop() {
  local uuid
  for uuid; do [[ $uuid =~ ^$UUID$ ]] || fail bad-input 'not a UUID'; done
  printf '%s\n' "$@" >"$WORK/drop"
  reply '{"ok":true,"dropped":%d}' "$(cut_connections these "$WORK/drop")"
}

verb_metrics() {
  local memory uptime load up=false clients=0 format='"mem_total_mb":%d,"mem_used_mb":%d'
  memory=$(awk -v f="$format" '{ mb[$1] = $2 / 1024 } END { printf f, mb["MemTotal:"], mb["MemTotal:"] - mb["MemAvailable:"] }' /proc/meminfo)
  read -r uptime _ </proc/uptime
  read -r load _ </proc/loadavg
  ! ask_core || up=true
  [ ! -e "$DIR/clients" ] || clients=$(wc -l <"$DIR/clients")
  reply '{"ok":true,%s,"uptime_s":%d,"load1":%s,"cpu_count":%d,"core_version":%s,"core_up":%s,"clients":%d}' \
    "$memory" "${uptime%.*}" "$load" "$(nproc)" "$(core_version)" "$up" "$clients"
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
    status:[12] | list:1 | apply:1 | configure:1 | drop:*) prepare ;;
    version:1 | metrics:1 | prestart:1) ;;
    *) fail unknown-verb 'no such verb, or not with so many words' ;;
  esac
  "verb_${words[0]}" "${words[@]:1}"
}

main "$@"
