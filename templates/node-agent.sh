#!/usr/bin/env bash
# The node program, the only thing that touches the proxy cores. Its verbs, files and answers: docs/node-program.md.
set -Eeuo pipefail
export LC_ALL=C PATH="$PATH:/usr/local/bin:/usr/local/sbin:/usr/sbin:/sbin"
umask 077
readonly DIR=${SUBPANEL_NODE_DIR:-/var/lib/subpanel-node} CONF=${SUBPANEL_NODE_CONF:-/etc/subpanel/node.conf}
readonly WORD='[A-Za-z0-9._:-]{1,200}' SHA='[0-9a-f]{64}' UUID='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' LINES='"lines":([0-9]{1,7})'
readonly PLAIN='^/[A-Za-z0-9._/@-]+$'
# The number of the verbs and their forms.
readonly PROGRAM=2
readonly NAME='[A-Za-z0-9._-]{1,64}'
readonly CALLER="\"owner\":\"($WORD)\"(,\"node\":\"($NAME)\")?"
readonly CONFIGURE_HEADER="^\\{$CALLER,\"config\":\"($SHA)\",$LINES\\}$"
readonly APPLY_HEADER="^\\{$CALLER,\"from\":\"(any|none|$SHA)\",\"to\":\"($SHA|)\",\"force\":(true|false),$LINES\\}$"
# All that stands in DIR, beside `tls` and the folders of calls.
readonly STATE=(owner clients program core.params config.json hysteria.params hysteria.yaml hy2-users dirty unread
  unread.hysteria seen acked pending lock)
# Up to so many lines or clients are looked at here, one by one; what is more is worth a program of its own.
readonly FEW=50
# Parameters are not longer, and a node has no more clients, as the panel lists no more of them: whatever is taken can be read again
# and changed within the time of a call.
readonly MOST_PARAMETERS=1048576 MOST_CLIENTS=500000
WORK='' SPENT=() ANSWERED='' FAULT='' OWNER='' HOP='' COMPLAINT=/dev/null

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
  [ -z "$WORK" ] || rm -rf "$WORK" "${SPENT[@]}"
  [ -n "$ANSWERED" ] || fail fault "$why"
}

# The settings: lines KEY=VALUE, read and never run. Nothing that a caller sends gets into this file.
load_conf() {
  local line key
  local -A given=()
  XRAY_BIN=xray API_SOCK=$DIR/api.sock SUPERVISOR=none CORE_PID='' CORE_USER='' CONFIG_GROUP='' NODE=''
  HYSTERIA_BIN=hysteria HYSTERIA_API=127.0.0.1:9999 HYSTERIA_SECRET='' HYSTERIA_AUTH=''
  if [ -r "$CONF" ]; then
    while IFS= read -r line || [ -n "$line" ]; do
      [[ $line =~ ^(XRAY_BIN|API_SOCK|SUPERVISOR|CORE_(PID|USER)|CONFIG_GROUP|NODE|HYSTERIA_(BIN|API|SECRET|AUTH))=(.+)$ ]] || continue
      key=${BASH_REMATCH[1]}
      [ -z "${given[$key]:-}" ] || fail fault "$key stands twice in node.conf"
      given[$key]=1
      printf -v "$key" %s "${BASH_REMATCH[4]}"
    done <"$CONF"
  elif [ -e "$CONF" ]; then
    fail fault "$CONF cannot be read"
  elif [ -e "$DIR/node.conf" ]; then
    fail fault "node.conf is not read in $DIR: run the install command again as root, or see docs/node-program.md for $CONF"
  fi
  [[ $API_SOCK =~ $PLAIN ]] || fail fault 'API_SOCK is not a plain absolute path'
  [[ $SUPERVISOR =~ ^(systemd|pidfile|none)$ ]] || fail fault 'SUPERVISOR is neither systemd nor pidfile nor none'
  [[ $CORE_USER$CONFIG_GROUP =~ ^[A-Za-z0-9._-]*$ ]] || fail fault 'CORE_USER or CONFIG_GROUP is malformed'
  [[ $NODE =~ ^($NAME)?$ ]] || fail fault 'NODE is malformed'
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
  local left name
  # Where a link led, its target would be written to.
  for name in "${STATE[@]}"; do [ ! -L "$DIR/$name" ] || fail fault "$name is a symbolic link"; done
  exec 9>"$DIR/lock"
  flock -w 20 9 || { (($? > 1)) || fail busy 'another call holds the lock'; fail fault 'flock does not work'; }
  look_at_core
  for left in "$DIR"/.call.*; do [ -e "/proc/${left##*.}" ] || rm -rf "$left"; done
  { [ -e "$DIR/program" ] && [ -e "$DIR/clients" ]; } || take_over
  [ ! -e "$DIR/owner" ] || read -r OWNER <"$DIR/owner" || true
}

# Before an answer that may be long: who takes nothing of it keeps nobody else waiting.
unlock() { exec 9>&-; }

# Once, on a node that is new, has lost its clients, or was program 1's, whose clients stand as `UUID GROUP AUTH`.
take_over() {
  [ -e "$DIR/clients" ] || : >"$DIR/clients"
  awk 'NF == 3 && $3 !~ /=/ { $3 = "auth=" $3 } { print }' "$DIR/clients" >"$WORK/clients"
  echo "$PROGRAM" >"$WORK/program"
  install_state clients program
}

# NAME: ends the call where another node is meant: who passes their connections on to this machine must not have it driven as theirs.
require_name() { [ "$1" = "$NODE" ] || fail other-node "this is the node ${NODE:-without a name}"; }

# REGEX NAME BYTES: reads the header into FIELDS and as many lines as its last field says, of not more than so many bytes, into
# WORK/NAME, then takes the lock.
# Not awk and not "to the end": the writer may wait for the answer with its side of a socket still open.
read_request() {
  local header='' lines line count text=()
  IFS= read -r -t 30 -n 1000 header || true
  [[ $header =~ $1 ]] || fail bad-input 'the header is malformed'
  FIELDS=("${BASH_REMATCH[@]:1}")
  require_name "${FIELDS[2]}"
  lines=$((10#${FIELDS[-1]}))
  if ((lines <= FEW)); then
    while ((${#text[@]} < lines)) && IFS= read -r -t 30 -n 20000 line; do text+=("$line"); done
    count=${#text[@]}
    { ((count == 0)) || printf '%s\n' "${text[@]}"; } >"$WORK/$2" 2>/dev/null || count=-1
  else
    timeout 120 head -n "$lines" 2>/dev/null | head -c "$3" >"$WORK/$2" 2>/dev/null || true
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

# Nothing of ours may be inherited: a core started by it would hold the lock and the caller's pipe.
systemctl() { timeout 30 systemctl --quiet "$@" </dev/null >/dev/null 2>&1 9>&-; }

# PID BINARY: whether it is a core that reads our configuration.
is_core() {
  local program words=()
  program=$(readlink -- "/proc/$1/exe") || return 1
  # An update replaced the file.
  [ "${program% (deleted)}" != "$2" ] || return 0
  # One that runs on since XRAY_BIN was another.
  mapfile -t -d '' words <"/proc/$1/cmdline" || return 1
  ((${#words[@]} == 4)) && [ "${words[*]:1}" = "run -c $DIR/config.json" ]
}

# SIGTERM to the core that CORE_PID names, whose supervisor starts it anew; status 1 when that is no core of ours.
end_core() {
  local pid='' binary
  [ ! -r "$CORE_PID" ] || read -r pid <"$CORE_PID" || true
  [[ $pid =~ ^[1-9][0-9]{0,9}$ ]] || return 1
  binary=$(type -P "$XRAY_BIN") && binary=$(realpath -- "$binary") && is_core "$pid" "$binary" && kill -TERM "$pid"
}

# xray|hysteria restart|stop: has the supervisor do it; status 1 when it could not, or there is none who would.
supervise() {
  local unit=subpanel-$1.service
  case $SUPERVISOR:$1:$2 in
    # Who may not enable it may restart it all the same.
    systemd:*:restart) systemctl enable "$unit" || true; systemctl restart "$unit" ;;
    systemd:*:stop) systemctl disable --now "$unit" ;;
    pidfile:xray:restart) end_core ;;
    *) return 1 ;;
  esac
}

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

# What both languages of parameters are read with. `literal` makes JSON (and YAML) of a text whose bytes but those of printable ASCII
# are written %XX; "" for one that is malformed, has a control character or is no UTF-8.
# shellcheck disable=SC2016
readonly READING='
  function literal(text,   made, code, need, low, high, lead) {
    for (;;) {
      if (match(text, /^[]!#$&-[^-~]+/)) {
        if (need) return ""
        made = made substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
      }
      if (text == "") return need ? "" : "\"" made "\""
      code = text ~ /^%[0-9A-F][0-9A-F]/ ? byte[substr(text, 2, 2)] : 0
      text = substr(text, 4)
      # The Unicode Standard, table 3-7; C2 80 to C2 9F are control characters.
      if (need) {
        if (code < low || code > high) return ""
        # U+FFFE and U+FFFF are no characters, and not allowed in YAML.
        need--; low = 128; high = lead == 239 && code == 191 ? 189 : 191
      }
      else if (code == 34 || code == 92) made = made "\\"
      else if (code >= 194 && code <= 223) { need = 1; low = code == 194 ? 160 : 128; high = 191 }
      else if (code >= 224 && code <= 239) { need = 2; lead = code; low = code == 224 ? 160 : 128; high = code == 237 ? 159 : 191 }
      else if (code >= 240 && code <= 244) { need = 3; lead = 0; low = code == 240 ? 144 : 128; high = code == 244 ? 143 : 191 }
      else if (code != 32 && code != 37) return ""
      made = made sprintf("%c", code)
    }
  }
  # Bytes of a text.
  function size(text) { return length(text) - 2 * gsub(/%/, "%", text) }
  # Parameters that are in place were looked at before (`known`).
  function is_text(text, most) { return known || text != "" && size(text) <= most && literal(text) != "" }
  function is_name(text) { return text ~ /^[A-Za-z0-9._-]+$/ && length(text) <= 64 }
  function is_port(text) { return text ~ /^[1-9][0-9]*$/ && length(text) <= 5 && text + 0 <= 65535 }
  function is_uuid(text) { return text ~ uuid_form }
  # A key of Shadowsocks 2022: 16 or 32 bytes in base64.
  function is_key(text, method) {
    return text ~ /^[A-Za-z0-9+\/]+==?$/ && length(text) == (method ~ /128/ ? 24 : 44) && (text ~ /==$/) == (method ~ /128/)
  }
  function fault(line, key) {
    if (!failed) printf "line %d: %s", line, key > malformed
    failed = 1
    exit 1
  }
  # Of the line that is read. Whose key is none of ours is not repeated.
  function refuse() { fault(NR, $1 ~ /^[a-z][a-z0-9-]*$/ && length($1) <= 20 ? $1 : "no key") }
  BEGIN {
    FS = "[ ]"
    for (code = 1; code < 256; code++) byte[sprintf("%02X", code)] = code
    digits = "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"
    uuid_form = "^" digits digits "-" digits "-" digits "-" digits "-" digits digits digits "$"
  }
  length($0) > 16384 || /[^ -~]/ { fault(NR, "not a line of printable ASCII") }'

# Networks that clients must not reach through a node: the machine itself and its networks, the host of virtual machines at Azure
# (168.63.129.16), and IPv6 addresses that stand for IPv4 ones (NAT64, 6to4). A name is matched by what it resolves to. Xray blocks the
# private ones by itself too (v26.5.3), Hysteria none. ::ffff:0:0/96 must not be here: Go takes it for all of IPv4, and mapped
# addresses for IPv4 ones.
readonly BLOCKED="0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 \
192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4 ::/127 64:ff9b::/96 64:ff9b:1::/48 2002::/16 fc00::/7 fe80::/10 ff00::/8"
readonly MAIL=25,465,587
# The first line of Xray's configuration, but for its brace.
readonly OUTBOUND="\"outbounds\":[{\"tag\":\"direct\",\"protocol\":\"freedom\",\"settings\":{\"finalRules\":[\
{\"action\":\"block\",\"network\":\"tcp\",\"port\":\"$MAIL\"},{\"action\":\"block\",\"ip\":[\"${BLOCKED// /\",\"}\"]}]}},"

# The parameters of Xray (docs/node-program.md), which become its configuration at the end.
# shellcheck disable=SC2016
readonly XRAY='
  function check(fits) { if (!fits) refuse() }
  # A key that may come once, and one that may come again, whose values become a list of JSON texts.
  function once(fits) {
    check(fits && NF == 2 && !((n, $1) in of))
    of[n, $1] = $2
    line_of[n, $1] = NR
  }
  function again(fits) {
    check(fits && NF <= 2)
    append("\"" $2 "\"")
  }
  # Not in one expression: some awks make the element that is assigned to before they look whether it is there.
  function append(text) {
    check(++values[n, $1] <= 64)
    if ((n, $1) in list) text = list[n, $1] "," text
    list[n, $1] = text
  }
  function get(i, key) { return (i, key) in of ? of[i, key] : "" }
  function need(inbound, key) { if (!((inbound, key) in of) && !((inbound, key) in list)) fault(line_of[inbound, "inbound"], key " is missing") }
  function is_own_port(text) { return is_port(text) && text != taken }
  function is_host(text) { return text ~ /^[A-Za-z0-9._-]+$/ && length(text) <= 253 }
  function is_ip6(text) { return text ~ /^[0-9A-Fa-f:.]+:[0-9A-Fa-f:.]*$/ && length(text) <= 45 }
  function is_ip(text) { return is_ip6(text) || text ~ /^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$/ && length(text) <= 15 }
  function is_target(text,   port) {
    if (text !~ /^[A-Za-z0-9[].*:[0-9]+$/) return 0
    port = text
    sub(/^.*:/, "", port)
    sub(/:[0-9]*$/, "", text)
    if (!is_port(port) || (port == taken && may_be_here(text))) return 0
    return text ~ /^\[.*\]$/ ? is_ip6(substr(text, 2, length(text) - 2)) : is_host(text)
  }
  # Whether a host may be this machine itself, in whatever spelling: numbers that are no plain address of somewhere else, too.
  function may_be_here(host) {
    host = tolower(host)
    if (host ~ /^\[/) return host ~ /^\[[0:]*:/
    if (host ~ /(^|[.])localhost[.]?$/) return 1
    return host ~ /^(0x|[0-9.]+$)/ && (host !~ /^[1-9][0-9]*[.][0-9]+[.][0-9]+[.][0-9]+$/ || host ~ /^127[.]/)
  }
  function is_path(text) { return text ~ /^\// && is_text(text, 1024) }
  # A place to listen at, once in all.
  function occupy(place) {
    check(!(place in occupied))
    occupied[place] = 1
  }

  NR == 1 { check($0 == "xray 2"); next }
  $1 == "inbound" {
    if (n) complete()
    # Each is asked by a process of its own (count_users).
    check(NF == 2 && is_name($2) && !($2 in number) && n < 64)
    number[$2] = ++n
    protocol = network = security = place = ""
    once(1)
    next
  }
  !n { refuse() }
  $1 == "protocol" { once($2 ~ /^(vless|vmess|trojan|shadowsocks)$/); protocol = $2; next }
  # Who they are and where they come in.
  network == "" && protocol != "" {
    if ($1 == "listen") { once(is_ip($2) && place == ""); next }
    if ($1 == "port") { once(is_own_port($2) && place == ""); place = $2; occupy(get(n, "listen") ":" place); next }
    if ($1 == "socket") { once(is_name($2) && place == "" && !((n, "listen") in of)); place = $2; occupy("@" place); next }
    if ($1 == "group") { again(NF == 2 && is_name($2) && !((n, $2) in lets_in)); lets_in[n, $2] = 1; groups[n, ++group_count[n]] = $2; next }
    if ($1 == "flow") { once(protocol == "vless" && $2 == "xtls-rprx-vision"); next }
    if ($1 == "decryption") { once(protocol == "vless" && $2 ~ /^[A-Za-z0-9._-]+$/ && length($2) <= 4096); next }
    if ($1 == "method") { once(protocol == "shadowsocks" && $2 ~ /^(aes-128-gcm|aes-256-gcm|chacha20-ietf-poly1305|2022-blake3-(aes-128-gcm|aes-256-gcm|chacha20-poly1305))$/); next }
    if ($1 == "password") { once(get(n, "method") ~ /^2022/ && is_key($2, of[n, "method"])); next }
    if ($1 == "network") { once($2 ~ /^(raw|ws|grpc|httpupgrade|xhttp)$/); network = $2; next }
    refuse()
  }
  network != "" && security == "" {
    if ($1 == "path") { once(network != "grpc" && is_path($2)); next }
    if ($1 == "host") { once(network != "grpc" && is_text($2, 253)); next }
    if ($1 == "service-name") { once(network == "grpc" && is_text($2, 1024)); next }
    if ($1 == "mode") { once(network == "xhttp" && $2 ~ /^(auto|packet-up|stream-up|stream-one)$/); next }
    if ($1 == "header") { once(network == "raw" && $2 == "http"); next }
    if ($1 == "security") { once($2 ~ /^(none|tls|reality)$/ && ($2 != "reality" || network ~ /^(raw|grpc|xhttp)$/)); security = $2; next }
    refuse()
  }
  security == "reality" {
    if ($1 == "target") { once(is_target($2)); next }
    if ($1 == "server-name") { again(is_host($2)); next }
    if ($1 == "private-key" || $1 == "mldsa65-seed") { once($2 ~ /^[A-Za-z0-9_-]+$/ && length($2) == 43); next }
    if ($1 == "short-id") { again($2 ~ /^([0-9a-fA-F][0-9a-fA-F])*$/ && length($2) <= 16); next }
    if ($1 == "max-time-diff") { once($2 ~ /^[0-9]+$/ && length($2) <= 9); next }
  }
  security == "tls" {
    if ($1 == "server-name") { once(is_host($2)); next }
    if ($1 == "alpn") { again($2 ~ /^(h2|http\/1\.1|h3)$/); next }
    if ($1 == "min-version") { once($2 ~ /^1\.[23]$/); next }
    if ($1 == "certificate") {
      if ($2 == "node") check(NF == 2 && dir != "")
      else check(NF == 3 && (known || lines_of($2, "CERTIFICATE") != "" && lines_of($3, "PRIVATE KEY") != ""))
      append(known ? "" : certificate())
      next
    }
  }
  security != "" && $1 == "fallback" {
    check(network == "raw" && protocol ~ /^(vless|trojan)$/ && NF >= 2 && fallbacks[n] < 64)
    fallback = ""
    for (i = NF; i > 2; i--) {
      equals = index($i, "=")
      kind = substr($i, 1, equals - 1)
      what = substr($i, equals + 1)
      check(kind == "alpn" && i == 3 && what ~ /^(h2|http\/1\.1)$/ || \
        kind == "path" && i <= 4 && $(i - 1) !~ /^(path|sni)=/ && is_path(what) || \
        kind == "sni" && i <= 5 && $(i - 1) !~ /^sni=/ && is_host(what))
      if (!known) fallback = fallback ",\"" (kind == "sni" ? "name" : kind) "\":" literal(what)
    }
    check($2 ~ /^port=/ ? is_own_port(substr($2, 6)) : is_name($2))
    leads_to[n, ++fallbacks[n]] = $2
    fallback_of[n, fallbacks[n]] = fallback
    fallback_line[n, fallbacks[n]] = NR
    next
  }
  security != "" && $1 == "sniffing" { once($2 ~ /^(on|off)$/); next }
  { refuse() }

  # What lacks or contradicts itself in the inbound that was read last.
  function complete(   key) {
    need(n, "protocol")
    if (place == "") fault(line_of[n, "inbound"], "port is missing")
    need(n, "group")
    need(n, "network")
    need(n, "security")
    if (protocol == "shadowsocks") need(n, "method")
    if (get(n, "method") ~ /^2022/) need(n, "password")
    if (security == "tls") need(n, "certificate")
    if (security == "reality") {
      need(n, "target"); need(n, "server-name"); need(n, "private-key"); need(n, "short-id")
    }
    if ((n, "flow") in of && !may_flow(n)) fault(line_of[n, "flow"], "flow")
    if (network == "raw" && !((n, "header") in of)) {
      if ((n, "path") in of) fault(line_of[n, "path"], "path")
      if ((n, "host") in of) fault(line_of[n, "host"], "host")
    }
    if (fallbacks[n] && (n, "decryption") in of && of[n, "decryption"] != "none") fault(line_of[n, "decryption"], "decryption")
  }
  function may_flow(i) { return of[i, "protocol"] == "vless" && of[i, "network"] == "raw" && of[i, "security"] != "none" }

  # The PEM text in base64 as a JSON list of its lines; "" unless it is a certificate or more, or one key, and nothing else.
  function lines_of(text, kind,   i, bits, piece, made, line, count, label, blocks, found) {
    if (text !~ /^[A-Za-z0-9+\/]+=?=?$/ || length(text) % 4) return ""
    for (i = 1; i <= length(text); i += 4) {
      bits = ((sextet[substr(text, i, 1)] * 64 + sextet[substr(text, i + 1, 1)]) * 64 + sextet[substr(text, i + 2, 1)]) * 64 + sextet[substr(text, i + 3, 1)]
      piece = piece character[int(bits / 65536)] character[int(bits / 256) % 256] character[bits % 256]
      # A long text is copied for each piece.
      if (i % 256 == 1) { made = made piece; piece = "" }
    }
    made = made piece
    # Of other bytes there is nothing left here, but then there are too few.
    if (length(made) != length(text) / 4 * 3 - gsub(/=/, "=", text)) return ""
    count = split(made, line, "\n")
    if (line[count] == "") count--
    made = ""
    for (i = 1; i <= count; i++) {
      if (label == "" && line[i] ~ /^-----BEGIN [A-Z ]+-----$/) {
        label = substr(line[i], 12, length(line[i]) - 16)
        if (label != kind && !(kind == "PRIVATE KEY" && label ~ /^(EC|RSA) PRIVATE KEY$/)) return ""
        found = 0
      }
      else if (label != "" && found && line[i] == "-----END " label "-----") { label = ""; blocks++ }
      else if (label != "" && length(line[i]) <= 76 && line[i] ~ /^[A-Za-z0-9+\/]+=?=?$/) found = 1
      else return ""
      made = made (i > 1 ? "," : "") "\"" line[i] "\""
    }
    return label == "" && (kind == "CERTIFICATE" ? blocks > 0 : blocks == 1) ? "[" made "]" : ""
  }
  function certificate() {
    if ($2 == "node") return "{\"certificateFile\":\"" dir "/tls/node.crt\",\"keyFile\":\"" dir "/tls/node.key\"}"
    return "{\"certificate\":" lines_of($2, "CERTIFICATE") ",\"key\":" lines_of($3, "PRIVATE KEY") "}"
  }

  # ,"KEY":TEXT where the inbound has it.
  function member(i, key, as) { return (i, key) in of ? ",\"" as "\":" literal(of[i, key]) : "" }
  # Without its first comma.
  function object(members) { return "{" substr(members, 2) "}" }
  function settings_of_network(i,   kind, request) {
    kind = of[i, "network"]
    if (kind == "grpc") return ",\"grpcSettings\":" object(member(i, "service-name", "serviceName"))
    if (kind != "raw")
      return ",\"" kind "Settings\":" object(member(i, "path", "path") member(i, "host", "host") member(i, "mode", "mode"))
    if (!((i, "header") in of)) return ""
    if ((i, "path") in of) request = ",\"path\":[" literal(of[i, "path"]) "]"
    if ((i, "host") in of) request = request ",\"headers\":{\"Host\":[" literal(of[i, "host"]) "]}"
    return ",\"tcpSettings\":{\"header\":{\"type\":\"http\",\"request\":" object(request) "}}"
  }
  # minClientVer, because without it a core of 26.7 turns sing-box and mihomo away (XTLS/Xray-core#6482).
  function settings_of_security(i) {
    if (of[i, "security"] == "reality")
      return ",\"security\":\"reality\",\"realitySettings\":" object(member(i, "target", "target") ",\"xver\":0,\"serverNames\":[" \
        list[i, "server-name"] "]" member(i, "private-key", "privateKey") ",\"shortIds\":[" list[i, "short-id"] "]" \
        member(i, "mldsa65-seed", "mldsa65Seed") ((i, "max-time-diff") in of ? ",\"maxTimeDiff\":" of[i, "max-time-diff"] + 0 : "") \
        ",\"minClientVer\":\"1.0.0\"")
    if (of[i, "security"] == "tls")
      return ",\"security\":\"tls\",\"tlsSettings\":" object(member(i, "server-name", "serverName") \
        ((i, "alpn") in list ? ",\"alpn\":[" list[i, "alpn"] "]" : "") member(i, "min-version", "minVersion") \
        ",\"certificates\":[" list[i, "certificate"] "]")
    return ""
  }
  function stream_of(i) {
    return "{\"network\":\"" (of[i, "network"] == "raw" ? "tcp" : of[i, "network"]) "\"" settings_of_security(i) settings_of_network(i) \
      (i in behind ? ",\"sockopt\":{\"acceptProxyProtocol\":true}" : "") "}"
  }
  # What stands before the clients, and as short as `adu` will have it.
  function settings_of(i, brief,   kind) {
    kind = of[i, "protocol"]
    if (kind == "vless") return "\"decryption\":\"" (brief || !((i, "decryption") in of) ? "none" : of[i, "decryption"]) "\","
    if (kind != "shadowsocks") return ""
    return (brief ? "" : "\"network\":\"tcp,udp\",") "\"method\":\"" of[i, "method"] "\"," \
      ((i, "password") in of ? "\"password\":\"" of[i, "password"] "\"," : "")
  }
  function fallbacks_of(i,   k, made, to) {
    for (k = 1; k <= fallbacks[i]; k++) {
      to = leads_to[i, k]
      # PROXY protocol 2 tells the inbound behind the address of the client, by which connections are cut.
      to = to ~ /^port=/ ? "\"127.0.0.1:" substr(to, 6) "\"" : "\"@subpanel." of[number[to], "socket"] "\",\"xver\":2"
      made = made (k > 1 ? "," : "") "{\"dest\":" to fallback_of[i, k] "}"
    }
    return made == "" ? "" : ",\"fallbacks\":[" made "]"
  }
  function render_inbound(i,   k, comma, text, mine) {
    print "{\"tag\":\"" of[i, "inbound"] "\","
    if ((i, "socket") in of) print "\"listen\":\"@subpanel." of[i, "socket"] "\","
    else print ((i, "listen") in of ? "\"listen\":\"" of[i, "listen"] "\"," : "") "\"port\":" of[i, "port"] ","
    printf "\"protocol\":\"%s\",\"settings\":{%s", of[i, "protocol"], settings_of(i)
    if (!has_users(i)) print "\"level\":0},"
    else {
      print "\"clients\":["
      if (is_keyed(i)) { printf "{\"email\":\"-\",\"password\":\"%s\"}", stranger(of[i, "method"]); comma = ",\n" }
      for (k = 1; k <= group_count[i]; k++) mine[groups[i, k]] = 1
      for (k = 1; k <= total; k++) {
        if (!(group[k] in mine) || (text = client(i, k)) == "") continue
        printf "%s%s", comma, text
        comma = ",\n"
      }
      print "]" fallbacks_of(i) "},"
    }
    print "\"streamSettings\":" stream_of(i) ","
    printf "\"sniffing\":%s}", get(i, "sniffing") == "off" ? "{\"enabled\":false}" : "{\"enabled\":true,\"destOverride\":[\"http\",\"tls\",\"quic\"],\"routeOnly\":true}"
  }
  function render(   i) {
    # First, where is_current looks.
    print "{" outbound
    print "{\"tag\":\"block\",\"protocol\":\"blackhole\"}],"
    print "\"log\":{\"loglevel\":\"warning\",\"access\":\"none\"},"
    print "\"api\":{\"tag\":\"api\",\"listen\":\"" api "\",\"services\":[\"HandlerService\",\"StatsService\"]},"
    print "\"stats\":{},"
    print "\"policy\":{\"levels\":{\"0\":{\"handshake\":4,\"connIdle\":300,\"statsUserUplink\":true,\"statsUserDownlink\":true,\"statsUserOnline\":true}},"
    print "\"system\":{\"statsInboundUplink\":true,\"statsInboundDownlink\":true}},"
    print "\"inbounds\":["
    for (i = 1; i <= n; i++) {
      render_inbound(i)
      print i < n ? "," : ""
    }
    print "],"
    print "\"routing\":{\"domainStrategy\":\"AsIs\",\"rules\":[{\"protocol\":[\"bittorrent\"],\"outboundTag\":\"block\"}]}}"
  }

  # 2022-blake3-chacha20-poly1305 has one key for all.
  function has_users(i) { return get(i, "method") !~ /^2022.*chacha20/ }
  # Without a client it would let in whoever has the key of the server, and could take none in later: so it has one whom nobody
  # knows.
  function is_keyed(i) { return get(i, "method") ~ /^2022.*aes/ }
  # A random key in base64.
  function stranger(method,   i, bits, made) {
    for (i = 0; i < (method ~ /128/ ? 16 : 32); i += 3) {
      bits = (octet(i) * 256 + octet(i + 1)) * 256 + octet(i + 2)
      made = made substr(alphabet, int(bits / 262144) + 1, 1) substr(alphabet, int(bits / 4096) % 64 + 1, 1) \
        substr(alphabet, int(bits / 64) % 64 + 1, 1) substr(alphabet, bits % 64 + 1, 1)
    }
    return method ~ /128/ ? substr(made, 1, 22) "==" : substr(made, 1, 43) "="
  }
  # Of the end of which nothing is used.
  function octet(i) { return byte[toupper(substr(noise, 2 * i + 1, 2))] + 0 }

  # Client K as inbound I has them, "" where it cannot. What the core tells of them has this form, too (reconcile).
  function client(i, k,   id, kind, secret, flow) {
    id = uuid[k]
    if (!(k in more)) return before[i] == "" ? "" : before[i] id between[i] id after[i]
    kind = of[i, "protocol"]
    secret = attribute(more[k], "secret." kind)
    if (is_keyed(i)) return is_key(secret, of[i, "method"]) ? before_secret(i, id) "\"" secret "\"}" : ""
    if (secret == "") secret = id
    flow = may_flow(i) ? attribute(more[k], "flow") : "none"
    return before_secret(i, id) literal(secret) (flow == "" ? after_secret(i) : flow == "none" ? after_secret(i, 1) : ",\"flow\":\"" flow "\"}")
  }
  function before_secret(i, id) { return "{\"email\":\"" id "\",\"" (of[i, "protocol"] ~ /^v/ ? "id" : "password") "\":" }
  function after_secret(i, plain) {
    if (of[i, "protocol"] == "shadowsocks") return ",\"method\":\"" of[i, "method"] "\"}"
    return (i, "flow") in of && !plain ? ",\"flow\":\"" of[i, "flow"] "\"}" : "}"
  }
  function attribute(text, key,   at) {
    if (!(at = index(" " text, " " key "="))) return ""
    text = substr(text, at + length(key) + 1)
    sub(/ .*/, "", text)
    return text
  }
  # Reads LINE of a list of clients as client K: `uuid`, `group`, and `more` where there is more to tell Xray. Returns their AUTH.
  function read_client(k, line,   space, auth) {
    delete more[k]
    uuid[k] = substr(line, 1, 36)
    line = substr(line, 38)
    space = index(line, " ")
    if (!space) {
      group[k] = line
      return ""
    }
    group[k] = substr(line, 1, space - 1)
    line = substr(line, space + 1)
    if (substr(line, 1, 5) == "auth=") {
      space = index(line, " ")
      if (!space) return substr(line, 6)
      auth = substr(line, 6, space - 6)
      line = substr(line, space + 1)
    }
    more[k] = line
    return auth
  }
  # Writes for each inbound that a line of the file FROM concerns: `adu` the call that adds these clients, `rmu` their UUIDs.
  function tell_changes(from, how, told,   i, k, file, text, comma) {
    k = total + 1
    while ((getline line < from) > 0) {
      read_client(k, line)
      for (i = 1; i <= n; i++) {
        if (!((i, group[k]) in lets_in) || !has_users(i)) continue
        text = client(i, k)
        if (text == "") continue
        file = work how "." i
        if (how == "rmu") print uuid[k] > file
        else {
          if (!told[i]) printf "%s", head(i) > file
          printf "%s%s", told[i] ? ",\n" : "", text > file
        }
        told[i]++
      }
    }
    for (i = 1; i <= n; i++) {
      if (!told[i]) continue
      if (how == "adu") print "]}}]}" > (work how "." i)
      if (close(work how "." i)) exit 1
    }
  }
  function head(i) {
    return "{\"inbounds\":[{\"port\":1,\"tag\":\"" of[i, "inbound"] "\",\"protocol\":\"" of[i, "protocol"] "\",\"settings\":{" settings_of(i, 1) "\"clients\":[\n"
  }
  # Writes what an inbound is to hold, one client a line, and how a call of `adu` for it begins.
  function tell_wanted(i,   k, text) {
    printf "%s", head(i) > (work "head." i)
    printf "" > (work "wanted." i)
    for (k = 1; k <= total; k++)
      if ((i, group[k]) in lets_in && (text = client(i, k)) != "") print text > (work "wanted." i)
    if (close(work "head." i) || close(work "wanted." i)) exit 1
  }

  BEGIN {
    known = mode == "count"
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (i = 1; i <= 64; i++) sextet[substr(alphabet, i, 1)] = i - 1
    character[10] = "\n"
    for (i = 32; i < 127; i++) character[i] = sprintf("%c", i)
  }
  END {
    if (failed) exit 1
    if (n) complete()
    for (i = 1; i <= n; i++) {
      for (k = 1; k <= fallbacks[i]; k++) {
        to = leads_to[i, k]
        if (to ~ /^port=/) continue
        if (!(to in number) || to == of[i, "inbound"] || !((number[to], "socket") in of)) fault(fallback_line[i, k], "fallback")
        behind[number[to]] = 1
      }
    }
    render_config = mode != "count"
    for (i = 1; i <= n; i++) {
      if (is_keyed(i)) { keyed = 1; continue }
      before[i] = "{\"email\":\""
      between[i] = substr(before_secret(i, "x"), 12) "\""
      after[i] = "\"" after_secret(i)
    }
    if (render_config) printf "" > users
    while ((getline line < clients) > 0) {
      if (!render_config && !keyed) {
        line = substr(line, 38)
        sub(/ .*/, "", line)
        held[line]++
        total++
        continue
      }
      auth = read_client(++total, line)
      held[group[total]]++
      if (render_config && auth != "") print auth, uuid[total] > users
    }
    if (mode == "changes") {
      tell_changes(work "added", "adu", gained)
      tell_changes(work "removed", "rmu", lost)
    }
    if (render_config && NR) render()
    for (i = 1; i <= n; i++) {
      if ((i, "port") in of) ports = ports (ports == "" ? "" : " or ") "sport = :" of[i, "port"]
      if (mode == "wanted" && has_users(i)) tell_wanted(i)
    }
    print total + 0, ports == "" ? "sport = :0" : ports > inbounds
    for (i = 1; i <= n; i++) {
      if (!has_users(i)) continue
      count = 0
      if (is_keyed(i)) {
        count = 1
        for (k = 1; k <= total; k++) if ((i, group[k]) in lets_in && client(i, k) != "") count++
      }
      else for (k = 1; k <= group_count[i]; k++) count += held[groups[i, k]]
      print i, of[i, "inbound"], count, gained[i] + 0, lost[i] + 0 > inbounds
    }
    # What cannot be written is noticed by gawk and mawk only when the file is closed.
    if (close(inbounds) || (render_config && close(users))) exit 1
  }'

# PARAMETERS CLIENTS count|config|changes|wanted: prints the configuration that they make, writes "AUTH UUID" of the clients with an
# AUTH to WORK/hy2-users, and sets what is known of the inbounds with clients: NUMBERS, TAGS, HELD (how many clients), PORTS (a filter
# of ss) and TOTAL, all clients. With `count` the latter only. `changes`: also the calls that tell the core of WORK/added and
# WORK/removed, GAINED and LOST of them by inbound; `wanted`: also what each is to hold. Status 1 for malformed parameters, with what
# in WORK/malformed.
fill() {
  local dir='' noise number tag held gained lost
  [[ ! $DIR =~ $PLAIN ]] || dir=$DIR
  read -r noise </proc/sys/kernel/random/uuid
  read -r number </proc/sys/kernel/random/uuid
  noise=${noise//-/}${number//-/}
  # The environment, because other users can read arguments.
  NOISE=$noise awk -v clients="$2" -v mode="$3" -v work="$WORK/" -v malformed="$WORK/malformed" -v inbounds="$WORK/inbounds" \
    -v users="$WORK/hy2-users" -v api="$API_SOCK,0660" -v dir="$dir" -v taken="${HYSTERIA_SECRET:+${HYSTERIA_API#*:}}" -v outbound="$OUTBOUND" \
    "BEGIN { noise = ENVIRON[\"NOISE\"] }$READING$XRAY" "$1" || return 1
  NUMBERS=() TAGS=() HELD=() GAINED=() LOST=()
  {
    read -r TOTAL PORTS
    while read -r number tag held gained lost; do
      NUMBERS+=("$number") TAGS+=("$tag") HELD+=("$held") GAINED+=("$gained") LOST+=("$lost")
    done
  } <"$WORK/inbounds"
}

# Sets what is known of the inbounds (fill) by what is in place.
look_at_inbounds() {
  local parameters=$DIR/core.params
  [ -e "$parameters" ] || parameters=/dev/null
  fill "$parameters" "$DIR/clients" count
}

# The parameters of Hysteria (docs/node-program.md), which become its configuration at the end.
# shellcheck disable=SC2016
readonly HYSTERIA='
  function once(fits) {
    if (!fits || NF != 2 || $1 in of) refuse()
    of[$1] = $2
  }
  NR == 1 { once($0 == "hysteria 2"); next }
  $1 == "port" && NR == 2 { once(is_port($2)); next }
  # With less Hysteria does not start.
  $1 == "obfs" && NR == 3 { once(is_text($2, 256) && size($2) >= 4); next }
  $1 == "hop" && NR > 2 {
    split($2, end, "-")
    once(is_port(end[1]) && is_port(end[2]) && end[1] + 0 <= end[2] + 0 && $2 == end[1] "-" end[2])
    next
  }
  { refuse() }
  END {
    if (failed) exit 1
    if (!("port" in of)) fault(1, "port is missing")
    printf "listen: \":%s\"\n", of["port"]
    # Clients pin the certificate; the name that they send may be any.
    printf "tls: {cert: \"%s/tls/node.crt\", key: \"%s/tls/node.key\", sniGuard: disable}\n", dir, dir
    # A server without obfs is seen as HTTP/3 by strangers.
    if ("obfs" in of) print "obfs: {type: salamander, salamander: {password: " literal(of["obfs"]) "}}"
    else print "masquerade: {type: string, string: {content: \"Not Found\", statusCode: 404}}"
    printf "auth: {type: command, command: \"%s\"}\n", auth
    printf "trafficStats: {listen: \"%s\", secret: \"%s\"}\n", api, ENVIRON["SECRET"]
    print "acl:\n  inline:"
    count = split(blocked, network, " ")
    for (i = 1; i <= count; i++) printf "    - \"reject(%s)\"\n", network[i]
    count = split(ports, mail, ",")
    for (i = 1; i <= count; i++) printf "    - \"reject(all, tcp/%s)\"\n", mail[i]
    print "    - \"direct(all)\""
  }'

# PARAMETERS: the configuration of Hysteria that they make; status 1 when they are malformed, with what in WORK/malformed.
render_hysteria() {
  local auth=${HYSTERIA_AUTH:-$(realpath "${BASH_SOURCE[0]%/*}")/hy2-auth}
  [[ -n $HYSTERIA_SECRET && $DIR =~ $PLAIN && $auth =~ $PLAIN ]] || { printf 'DIR or HYSTERIA_AUTH is no plain path' >"$WORK/malformed"; return 1; }
  # Arguments can be read by every user of the machine, the environment can not.
  SECRET=$HYSTERIA_SECRET awk -v dir="$DIR" -v auth="$auth" -v api="$HYSTERIA_API" -v malformed="$WORK/malformed" \
    -v blocked="$BLOCKED" -v ports="$MAIL" "$READING$HYSTERIA" "$1"
}

# CLIENTS config|changes|wanted: makes what the cores read of their clients in WORK: config.json, once there are parameters, and
# hy2-users; more by `fill`.
make_files() {
  local parameters=$DIR/core.params config=$WORK/config.json
  [ -e "$parameters" ] || parameters=/dev/null config=/dev/null
  fill "$parameters" "$1" "$2" >"$config"
}

# [NAME]…: puts in place what make_files made, then these. A node that never had a user of Hysteria gets no file of them. A core that
# runs with what a former program made must end first.
install_files() {
  local names=()
  [ -e "$DIR/unread" ] || is_current || printf '%s\n' "${CORE_RUN:-none}" >"$DIR/unread"
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
# Root's settings and state are root's alone to write, or are not used.
look_at_core() {
  local boot kind inode modified size changed user mode file binary=$XRAY_BIN own=()
  CORE_RUN='' CORE_BINARY=''
  read -r boot </proc/sys/kernel/random/boot_id
  [[ $binary == */* ]] || binary=$(type -P "$binary") || binary=/dev/null
  ((EUID != 0)) || own=("$DIR" "$CONF" "${CONF%/*}")
  while IFS='|' read -r kind inode modified size changed user mode file; do
    case $kind:$file in
      *:"$DIR" | *:"$CONF" | *:"${CONF%/*}") ((user == 0 && (8#$mode & 8#22) == 0)) || fail fault "others than root may write $file" ;;
      socket:*) CORE_RUN=$boot.$inode.$modified ;;
      regular*) CORE_BINARY=$inode.$size.$changed ;;
    esac
  done < <(exec stat -L -c '%F|%i|%.9Y|%s|%.9Z|%u|%a|%n' -- "$API_SOCK" "$binary" "${own[@]}" 2>/dev/null)
}

# Whether a core that answers now is one that has not read its configuration: `unread` names the run of the core that must end
# first, or `none`; empty, any.
is_unread() {
  local run=''
  [ -e "$DIR/unread" ] || return 1
  read -r run <"$DIR/unread" || true
  [ -z "$run" ] || [ "$run" = "$CORE_RUN" ]
}

# Whether the core's configuration, where there is one of program 2, lets clients reach what this program lets them, and no former
# one: its first line, which began with the log at first. Read without another program, as every call asks. What begins otherwise was
# damaged, and is repaired from the clients.
is_current() {
  local first=''
  [ -e "$DIR/core.params" ] && [ -e "$DIR/config.json" ] || return 0
  IFS= read -r -n 2000 first <"$DIR/config.json" || true
  [[ $first != '{"'@(log|outbounds)'":'* || $first == "{$OUTBOUND" ]]
}

# Whether the core's configuration is one that program 1 has made, of which nothing is known.
is_of_program_1() { [ -e "$DIR/config.json" ] && [ ! -e "$DIR/core.params" ]; }

# FUNCTION: runs it as FUNCTION INDEX for all inbounds at once; status 1 when one of them failed.
each_inbound() {
  local i pid pids=() failed=0
  for i in "${!TAGS[@]}"; do
    "$1" "$i" </dev/null & pids+=($!)
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

# SECONDS COUNT FILE…: status 1 unless the core added so many users.
add_users() {
  local count
  count=$(api "$1" adu "${@:3}" | awk '/^Added [0-9]/ { print $2 + 0 }') || return 1
  ((${count:-0} == $2))
}

# BOTH: takes a few differences between the old and the new file to the core in as few calls as it knows: one adds to all
# inbounds, one for each inbound removes, before that one where some client is in BOTH. Status 1 unless it did all of it.
push_few() {
  local i gone calls=() wanted=0 pid pids=() failed=0 text
  for i in "${!TAGS[@]}"; do
    if ((LOST[i] > 0)); then
      mapfile -t gone <"$WORK/rmu.${NUMBERS[i]}"
      remove_users 2 "${TAGS[i]}" "${gone[@]}" </dev/null & pids+=($!)
    fi
    ((GAINED[i] == 0)) || { calls+=("$WORK/adu.${NUMBERS[i]}"); wanted=$((wanted + GAINED[i])); }
  done
  if (($1 > 0)); then
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    pids=()
  fi
  if ((wanted > 0)); then
    text=$(api 2 adu "${calls[@]}") || failed=1
    [[ $text =~ (^|$'\n')"Added "([0-9]+) ]] && ((BASH_REMATCH[2] == wanted)) || failed=1
  elif ((${#pids[@]} == 0)); then
    # Nothing concerned it, so nothing was heard from it.
    ask_core || failed=1
  fi
  for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
  return "$failed"
}

# INDEX: takes the differences between the old and the new file to an inbound: removes the users of WORK/rmu.N, then adds those of
# WORK/adu.N. Status 1 unless the core did all of it.
push_difference() {
  local number=${NUMBERS[$1]} lines
  if ((LOST[$1] > 0)); then
    while mapfile -t -n 1000 lines && ((${#lines[@]} > 0)); do
      remove_users 20 "${TAGS[$1]}" "${lines[@]}" || return 1
    done <"$WORK/rmu.$number"
  fi
  ((GAINED[$1] == 0)) || add_users $((GAINED[$1] / 100 + 20)) "${GAINED[$1]}" "$WORK/adu.$number"
}

# INDEX: compares the users of an inbound one by one with what it is to hold, as far as the core tells, and takes the differences to it.
reconcile() {
  local number=${NUMBERS[$1]}
  # A member a line, the account before the email. `"-"` is nobody (fill).
  api 10 inbounduser "-tag=${TAGS[$1]}" | awk '
    { value = $0; sub(/^ *"[A-Za-z_]+": /, "", value); sub(/,$/, "", value) }
    $1 == "\"id\":" || $1 == "\"flow\":" || $1 == "\"password\":" || $1 == "\"key\":" || $1 == "\"cipherType\":" { of[$1] = value }
    $1 == "\"email\":" && value != "\"-\"" {
      printf "{\"email\":%s", value
      if ("\"id\":" in of) printf ",\"id\":%s", of["\"id\":"]
      if ("\"flow\":" in of) printf ",\"flow\":%s", of["\"flow\":"]
      if ("\"password\":" in of) printf ",\"password\":%s", of["\"password\":"]
      if ("\"key\":" in of) printf ",\"password\":%s", of["\"key\":"]
      if ("\"cipherType\":" in of) printf ",\"method\":%s", cipher(of["\"cipherType\":"])
      print "}"
    }
    $1 ~ /^"account"/ { split("", of) }
    function cipher(name) {
      name = tolower(name)
      gsub(/_/, "-", name)
      return name == "\"chacha20-poly1305\"" ? "\"chacha20-ietf-poly1305\"" : name
    }' | sort >"$WORK/running.$number" || return 1
  sort -o "$WORK/wanted.$number" "$WORK/wanted.$number"
  comm -23 "$WORK/running.$number" "$WORK/wanted.$number" | cut -d'"' -f4 >"$WORK/rmu.$number"
  comm -13 "$WORK/running.$number" "$WORK/wanted.$number" >"$WORK/missing.$number"
  LOST[$1]=$(wc -l <"$WORK/rmu.$number")
  GAINED[$1]=$(wc -l <"$WORK/missing.$number")
  { cat "$WORK/head.$number" && sed '$!s/$/,/' "$WORK/missing.$number" && echo ']}}]}'; } >"$WORK/adu.$number" || return 1
  push_difference "$1"
}

# Brings files and core together after an interrupted call or a drift. Status 1: they may still differ.
repair() {
  : >"$DIR/dirty"
  ! is_of_program_1 || return 1
  { make_files "$DIR/clients" wanted && install_files && each_inbound reconcile; } || return 1
  cut_connections others "$DIR/clients" >/dev/null
  rm "$DIR/dirty"
}

# CORE CHECK…: restarts a core and waits for CHECK; sets RESTARTED and LIVE.
restart() {
  local deadline
  RESTARTED=false LIVE=false
  # No core that could be restarted: whoever starts one reads the new files.
  supervise "$1" restart || return 0
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
  local closed=0 addresses filter
  { api 5 statsonlineiplist -all || true; } | awk -F'"' -v which="$1" -v list="$2" '
    BEGIN { while ((getline line < list) > 0) { split(line, field, " "); listed[field[1]] = 1 } }
    $2 == "email" { chosen = ($4 in listed) == (which == "these") }
    $2 == "ip" && chosen && $4 ~ /^(\[[0-9a-fA-F:.]+\]|[0-9.]+)$/ && !seen[$4]++ { print $4 }
  ' >"$WORK/addresses"
  while mapfile -t -n 50 addresses && ((${#addresses[@]} > 0)); do
    printf -v filter ' or dst %s' "${addresses[@]}"
    filter="( $PORTS ) and ( ${filter# or } )"
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

# The SHA-256 of hysteria.params, empty unless Hysteria was started with what it makes.
hysteria_config() {
  [ ! -e "$DIR/unread.hysteria" ] && [ -e "$DIR/hysteria.params" ] || return 0
  if render_hysteria "$DIR/hysteria.params" | cmp -s - "$DIR/hysteria.yaml"; then
    revisions "$DIR/hysteria.params"
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
        while ((getline line < list) > 0) if (which == "these" || line ~ / auth=/) listed[substr(line, 1, 36)] = 1
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
  reply '{"ok":true,"program":%d,"core_version":%s,"hysteria_version":%s,"tested":%s}' "$PROGRAM" "$(version_of "$XRAY_BIN")" \
    "$(version_of "$HYSTERIA_BIN")" "$(give_up_rights && echo true || echo false)"
}

verb_list() {
  local block lines
  for block; do [[ $block =~ ^[0-9a-f]{2}$ ]] || fail bad-input 'a block is two hexadecimal digits'; done
  (($# <= 256)) || fail bad-input 'there are 256 blocks'
  lock
  revisions "$DIR/clients"
  lines=$(awk -v blocks="$*" '
      BEGIN { count = split(blocks, name, " "); for (i in name) asked[name[i]] = 1 }
      count && !(substr($0, 1, 2) in asked) { next }
      { gsub(/ /, "\",\""); printf "%s[\"%s\"]", comma, $0; comma = "," }' "$DIR/clients")
  unlock
  reply '{"ok":true,"clients":"%s","lines":[%s]}' "$REVISION" "$lines"
}

# The list is sorted, so a block is a piece of it: one file is written at a time, and one process sums them all up.
verb_blocks() {
  lock
  local i files blocks=()
  awk -v work="$WORK/block." '
    { name = substr($0, 1, 2) }
    name != last { if (last != "" && close(work last)) { failed = 1; exit } last = name }
    { print > (work name) }
    END { if (failed || (last != "" && close(work last))) exit 1 }' "$DIR/clients"
  files=("$WORK"/block.*)
  [ -e "${files[0]}" ] || files=()
  revisions "$DIR/clients" "${files[@]}"
  for ((i = 0; i < 256; i++)); do blocks[i]='""'; done
  for i in "${!files[@]}"; do blocks[16#${files[i]##*.}]="\"${SUMS[i + 1]}\""; done
  reply '{"ok":true,"clients":"%s","count":%d,"blocks":[%s]}' "$REVISION" "$(wc -l <"$DIR/clients")" "$(IFS=,; echo "${blocks[*]}")"
}

verb_status() {
  lock
  local ack=${1:-} reading=0 acked=$DIR/acked epoch run='' id='' live=false up=false counted=false config='' hysteria=null
  local core='"uptime_s":null,"epoch":null' hysteria_up=false stats traffic='' source=/dev/null news made=()
  local version='' seen_run='' seen_binary='' born='' online
  look_at_inbounds
  epoch=$CORE_RUN
  COMPLAINT=$WORK/complaint ask 3 statsquery -pattern '>>>traffic>>>' </dev/null >"$WORK/stats" & stats=$!
  { api 3 statsgetallonlineusers </dev/null >"$WORK/users" || rm "$WORK/users"; } & online=$!
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
    make_files "$DIR/clients" config
    install_files
  fi
  ! is_of_program_1 || live=false
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
  wait "$online"
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
  [ ! -e "$DIR/core.params" ] || made+=("$DIR/core.params")
  revisions "${made[@]}"
  config=${SUMS[1]:-}
  if $up && is_unread; then
    live=false
    # Where nobody restarts the core at our word, giving the configuration again does not help.
    [ "$SUPERVISOR" = none ] || config=''
  fi
  is_current || config=''
  if [ -e "$DIR/hysteria.yaml" ]; then
    kick others "$DIR/clients" 30 >/dev/null
    if $hysteria_up && [ -e "$WORK/online" ]; then cat "$WORK/online" >>"$WORK/users"; fi
    keep_hop
    hysteria="{\"config\":\"$(hysteria_config)\",\"up\":$hysteria_up,\"epoch\":$([ -z "$run" ] && echo null || echo "\"$run\"")$HOP,\"counters\":[${news[1]}]}"
  fi
  unlock
  reply '{"ok":true,"program":%d,"node":"%s","owner":"%s","config":"%s","clients":"%s","count":%d,"live":%s,"core":{"up":%s,"version":%s,%s},"online":%s,"host":{%s},"reading":"%s","counters":[%s],"hysteria":%s}' \
    "$PROGRAM" "$NODE" "$OWNER" "$config" "$REVISION" "$TOTAL" "$live" "$up" "$version" "$core" "$(count_online "$WORK/users")" "$(look_at_host)" \
    "$reading" "${news[0]}" "$hysteria"
}

# FILE: how many clients it names, as Xray's and Hysteria's lists of who is connected have them; null where neither gave one.
count_online() {
  [ -e "$1" ] || { printf null; return; }
  awk '
    { while (match($0, /[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+-[0-9a-f]+/)) {
        if (RLENGTH == 36) seen[substr($0, RSTART, 36)] = 1
        $0 = substr($0, RSTART + RLENGTH)
    } }
    END { for (uuid in seen) n++; print n + 0 }' "$1"
}

# The machine: memory, load, processors, uptime, and what the devices of its default routes have carried since its start. Read by the
# shell alone: each pass asks, and small machines take their time to start a program.
look_at_host() {
  local load name number total=0 free=0 processors=0
  look_at_clock
  read -r load _ </proc/loadavg
  while read -r name number _; do
    case $name in
      MemTotal:) total=$number ;;
      MemAvailable:) free=$number; break ;;
    esac
  done </proc/meminfo
  while read -r name _ && [[ $name == cpu* ]]; do [ "$name" = cpu ] || processors=$((processors + 1)); done </proc/stat
  printf '"mem_total_mb":%d,"mem_used_mb":%d,"uptime_s":%d,"load1":%s,"cpu_count":%d,' \
    $((total / 1024)) $(((total - free) / 1024)) $((NOW / 100)) "$load" "$processors"
  count_network
}

# Numbers stay whole: an awk with 32-bit formats must not touch them.
count_network() {
  local name target length received sent rx=0 tx=0 devices=' '
  while read -r name target _; do [ "$target" != 00000000 ] || devices+="$name "; done </proc/net/route
  if [ -e /proc/net/ipv6_route ]; then
    while read -r target length _ _ _ _ _ _ _ name; do
      [[ $length != 00 || $target =~ [^0] || $name == lo ]] || devices+="$name "
    done </proc/net/ipv6_route
  fi
  while IFS=': ' read -r name received _ _ _ _ _ _ _ sent _; do
    [[ $devices == *" $name "* && $received =~ ^[0-9]{1,18}$ && $sent =~ ^[0-9]{1,18}$ ]] || continue
    rx=$((rx + received)) tx=$((tx + sent))
  done </proc/net/dev
  printf '"rx_bytes":%d,"tx_bytes":%d' "$rx" "$tx"
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
# nothing of an AUTH, goes to WORK/added and WORK/removed, lines of clients without it; "ADDED REMOVED COUNT CHANGES BOTH" to
# WORK/counts: lines of the list, how many of Xray's users change, and how many of these are in both files. Status 1 and the line
# number in WORK/malformed for a bad operation.
operate() {
  awk -v whole="$1" -v list="$DIR/clients" -v work="$WORK/" -v malformed="$WORK/malformed" -v most="$MOST_CLIENTS" "$READING"'
    # What an operation says of a client behind their UUID; "" when it is malformed.
    function value_of(   i, rank, former, at, kind, what, made) {
      if (NF < 7 || NF % 2 == 0 || $NF != "]" || !is_name($6)) return ""
      made = $6
      for (i = 8; i < NF; i += 2) {
        at = index($i, "=")
        kind = substr($i, 1, at - 1)
        what = substr($i, at + 1)
        rank = kind ~ /^[a-z.]+$/ ? index(" auth flow secret.shadowsocks secret.trojan secret.vless secret.vmess ", " " kind " ") : 0
        if ($(i - 1) != "," || rank <= former) return ""
        former = rank
        if (kind == "auth" ? what !~ /^[A-Za-z0-9._~-]+$/ || length(what) > 128 : \
          kind == "flow" ? what !~ /^(none|xtls-rprx-vision)$/ : \
          kind ~ /^secret\.v/ ? !is_uuid(what) : !is_text(what, 256)) return ""
        made = made " " $i
      }
      return made
    }
    function without_auth(value) {
      sub(/ auth=[^ ]*/, "", value)
      return value
    }
    BEGIN {
      FS = "\""
      while ((getline line < list) > 0) {
        old[substr(line, 1, 36)] = substr(line, 38)
        if (!whole) value[substr(line, 1, 36)] = substr(line, 38)
      }
    }
    $1 == "[" && $3 == "," && is_uuid($4) {
      if (NF == 5 && $2 == "-" && $5 == "]") { delete value[$4]; next }
      if ($2 == "+" && $5 == "," && (made = value_of()) != "") { value[$4] = made; next }
    }
    { printf "%d", NR > malformed; failed = 1; exit }
    END {
      if (failed) exit 1
      gained = work "added"; lost = work "removed"; counts = work "counts"
      printf "" > gained
      printf "" > lost
      for (id in value) {
        print id, value[id]
        count++
        if (id in old && old[id] "" == value[id] "") continue
        added++
        if (id in old && without_auth(old[id]) == without_auth(value[id])) continue
        print id, without_auth(value[id]) > gained
        changes++
        if (id in old) both++
      }
      for (id in old) {
        if (id in value && old[id] "" == value[id] "") continue
        removed++
        if (id in value && without_auth(old[id]) == without_auth(value[id])) continue
        print id, without_auth(old[id]) > lost
        changes++
      }
      if (count > most) { printf "many" > malformed; exit 1 }
      print added + 0, removed + 0, count + 0, changes + 0, both + 0 > counts
      if (close(gained) || close(lost) || close(counts)) exit 1
    }
  ' "$2"
}

verb_apply() {
  read_request "$APPLY_HEADER" body 268435456
  local owner=${FIELDS[0]} from=${FIELDS[3]} to=${FIELDS[4]} force=${FIELDS[5]}
  local current wanted whole='' is_made=true number added removed count changes both live=false reached=true dropped=0 was_dirty=false kicking=''
  [ "$from" != none ] || whole=1
  operate "$whole" "$WORK/body" | sort >"$WORK/clients" || is_made=false
  revisions "$DIR/clients" "$WORK/clients"
  current=${SUMS[0]} wanted=${SUMS[1]}
  [[ $from == any || $from == none || $from == "$current" ]] || fail stale 'the clients have changed' ",\"clients\":\"$current\""
  if ! $is_made; then
    [ -s "$WORK/malformed" ] || return 1
    number=$(<"$WORK/malformed") number=${number#line }
    [ "$number" != many ] || fail bad-input "more than $MOST_CLIENTS clients"
    fail bad-input "operation ${number%%:*} is malformed"
  fi
  [ -z "$to" ] || [ "$to" = "$wanted" ] || fail bad-input 'the operations do not result in the revision "to"'
  read -r added removed count changes both <"$WORK/counts"
  if [ -n "$OWNER" ] && [ "$OWNER" != "$owner" ] && ! $force; then
    ((removed == 0)) || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
    owner=$OWNER
  fi
  [ ! -e "$DIR/dirty" ] || was_dirty=true
  # All that may need room on the disk comes before the first change.
  make_files "$WORK/clients" changes
  install_owner "$owner"
  if [ "$wanted" != "$current" ]; then
    : >"$DIR/dirty"
    install_files clients
  fi
  # Meanwhile, because Xray takes its time.
  if ((removed > 0)) && [ -e "$DIR/hysteria.yaml" ]; then
    kick others "$DIR/clients" 100 >"$WORK/ended" & kicking=$!
  fi
  if ! $was_dirty && ! is_of_program_1 && ((changes > 0 && changes <= FEW)); then
    if push_few "$both"; then live=true; elif ! ask_core; then reached=false; fi
  elif ! ask_core; then
    reached=false
  elif ! $was_dirty && ! is_of_program_1 && each_inbound push_difference && count_users; then
    live=true
  fi
  if $reached; then
    [ ! -s "$WORK/removed" ] || dropped=$(cut_connections these "$WORK/removed")
    if $live; then SPENT+=("$DIR/dirty"); elif repair; then live=true; fi
  fi
  if [ -n "$kicking" ]; then
    wait "$kicking"
    dropped=$((dropped + $(<"$WORK/ended")))
  fi
  reply '{"ok":true,"clients":"%s","count":%d,"added":%d,"removed":%d,"live":%s,"dropped":%d}' \
    "$wanted" "$count" "$added" "$removed" "$live" "$dropped"
}

# NAME: reads a request with parameters, which it leaves in WORK/NAME, and sets NEW_OWNER and CONFIG.
read_parameters() {
  read_request "$CONFIGURE_HEADER" "$1" "$MOST_PARAMETERS"
  NEW_OWNER=${FIELDS[0]} CONFIG=${FIELDS[3]}
  revisions "$WORK/$1"
  [ "$REVISION" = "$CONFIG" ] || fail bad-input 'the text does not have the SHA-256 "config"'
  [ -z "$OWNER" ] || [ "$OWNER" = "$NEW_OWNER" ] || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
}

# Refuses the parameters for what made WORK/malformed.
refuse_parameters() {
  [ -s "$WORK/malformed" ] || return 1
  fail bad-config "$(<"$WORK/malformed")"
}

# Whether core.params is the text of this request.
is_installed() {
  [ -e "$DIR/core.params" ] || return 1
  revisions "$DIR/core.params"
  [ "$REVISION" = "$CONFIG" ]
}

# Sets RIGHTS, the command behind which the core has no right but to read what it will read; status 1 where root cannot give up
# what it has.
give_up_rights() {
  local group=$CONFIG_GROUP
  if ((EUID != 0)); then
    RIGHTS=(setpriv --no-new-privs)
    "${RIGHTS[@]}" true 2>/dev/null || RIGHTS=()
    return 0
  fi
  [ -n "$CORE_USER" ] && { [ -n "$group" ] || group=$(id -g -- "$CORE_USER" 2>/dev/null); } || return 1
  RIGHTS=(setpriv "--reuid=$CORE_USER" "--regid=$group" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all)
  "${RIGHTS[@]}" true 2>/dev/null
}

# Has the core read WORK/config.json, as whoever it will run as, with no home and nowhere to write.
test_config() {
  give_up_rights || return 0
  (cd / && exec env -i "PATH=$PATH" HOME=/ TMPDIR=/ "${RIGHTS[@]}" timeout 10 "$XRAY_BIN" run -test -config stdin:) \
    <"$WORK/config.json" >"$WORK/test" 2>&1 9>&-
}

verb_configure() {
  read_parameters core.params
  local live=false
  command -v "$XRAY_BIN" >/dev/null || fail no-core 'there is no core binary'
  # Nothing to do for the same text, unless a core runs that was started before it, or a former program made something else of it.
  if [ -e "$DIR/config.json" ] && is_installed && is_current && { ! is_unread || ! ask_core; }; then
    look_at_inbounds
    ! { ask_core && count_users; } || live=true
    reply '{"ok":true,"config":"%s","restarted":false,"live":%s}' "$CONFIG" "$live"
    return
  fi
  [ -s "$WORK/core.params" ] || fail bad-config 'line 1: xray is missing'
  fill "$WORK/core.params" "$DIR/clients" config >"$WORK/config.json" || refuse_parameters
  test_config || fail bad-config "$({ grep -m 1 -i failed "$WORK/test" || tail -n 1 "$WORK/test"; } | head -c 500)"
  : >"$DIR/dirty"
  : >"$DIR/unread"
  install_owner "$NEW_OWNER"
  install_state core.params config.json
  rm -f "$DIR/base.json"
  look_at_core
  printf '%s\n' "${CORE_RUN:-none}" >"$DIR/unread"
  restart xray core_is_new "$CORE_RUN"
  ! $LIVE || rm -f "$DIR/dirty" "$DIR/unread"
  $RESTARTED || [ "$SUPERVISOR" = none ] || ! ask_core || fail fault 'the core could not be restarted and runs on as it was'
  reply '{"ok":true,"config":"%s","restarted":%s,"live":%s}' "$CONFIG" "$RESTARTED" "$LIVE"
}

# FILE: sets PORT and RANGE, of UDP ports, by parameters of Hysteria that were checked; empty without.
read_hop() {
  local key value
  PORT='' RANGE=''
  [ -e "$1" ] || return 0
  while read -r key value; do
    case $key in port) PORT=$value ;; hop) RANGE=$value ;; esac
  done <"$1"
}

# TOOL [ARG]…: works on our chain by iptables or ip6tables.
hop_chain() { timeout 10 "$1" -w 5 -t nat "${@:2}" >/dev/null 2>&1 9>&-; }

# TOOL -A|-C: adds the rule that has what arrives at the ports of RANGE redirected to PORT to our chain, or tells whether it is there.
hop_rule() { hop_chain "$1" "$2" SUBPANEL-HOP -m addrtype --dst-type LOCAL -p udp --dport "${RANGE/-/:}" -j REDIRECT --to-ports "$PORT"; }

# TOOL: has what arrives at the ports of RANGE redirected to PORT.
add_hop_chain() { hop_chain "$1" -N SUBPANEL-HOP && hop_rule "$1" -A && hop_chain "$1" -I PREROUTING -j SUBPANEL-HOP; }

# Whether the ports of RANGE are redirected to PORT.
is_redirected() {
  local tool first=${RANGE%-*} last=${RANGE#*-} found
  found=$(timeout 10 nft list chain inet subpanel hop 2>/dev/null </dev/null 9>&-) || found=''
  # Some versions of nft write a range of one port as that port.
  [[ $found != *" udp dport $RANGE redirect to :$PORT"* ]] || return 0
  [[ $first != "$last" || $found != *" udp dport $first redirect to :$PORT"* ]] || return 0
  for tool in iptables ip6tables; do
    ! { hop_rule "$tool" -C && hop_chain "$tool" -C PREROUTING -j SUBPANEL-HOP; } || return 0
  done
  return 1
}

# Redirects the UDP ports of RANGE to PORT, and no others any more; status 1 where neither tool can.
redirect_range() {
  local tool status=1 table=''
  for tool in iptables ip6tables; do
    hop_chain "$tool" -F SUBPANEL-HOP || continue
    while hop_chain "$tool" -D PREROUTING -j SUBPANEL-HOP; do :; done
    hop_chain "$tool" -X SUBPANEL-HOP || true
  done
  [ -z "$RANGE" ] || table="table inet subpanel {
    chain hop {
      type nat hook prerouting priority dstnat
      fib daddr type local udp dport $RANGE redirect to :$PORT
    }
  }"
  # A table that is not there cannot be deleted.
  if printf '%s\n' 'table inet subpanel' 'delete table inet subpanel' "$table" | timeout 10 nft -f - >/dev/null 2>&1 9>&-; then
    return 0
  fi
  [ -n "$RANGE" ] || return 0
  for tool in iptables ip6tables; do ! add_hop_chain "$tool" || status=0; done
  return "$status"
}

# Has the installed range redirected again where something else has taken that away, as who loads the firewall's rules anew; sets HOP, a member of the answer.
keep_hop() {
  HOP=''
  read_hop "$DIR/hysteria.params"
  [ -n "$RANGE" ] || return 0
  if is_redirected || redirect_range; then HOP=',"hop":true'; else HOP=',"hop":false'; fi
}

# FORMER PRESENT: puts the range of the parameters PRESENT in place of that of FORMER; sets HOP.
hop() {
  local former
  read_hop "$1"
  former=$RANGE HOP=''
  read_hop "$2"
  [ -n "$former$RANGE" ] || return 0
  if redirect_range; then HOP=true; else HOP=false; fi
  HOP=${RANGE:+",\"hop\":$HOP"}
}

verb_hysteria() {
  read_parameters hysteria.params
  RESTARTED=false LIVE=false
  if [ ! -s "$WORK/hysteria.params" ]; then
    [ ! -e "$DIR/hysteria.yaml" ] || stop_core hysteria
    hop "$DIR/hysteria.params" /dev/null
    rm -f "$DIR"/{hysteria.yaml,hysteria.params,hysteria.base,unread.hysteria}
  elif [ -z "$HYSTERIA_SECRET" ] || ! command -v "$HYSTERIA_BIN" >/dev/null; then
    fail no-core 'there is no Hysteria'
  elif [ "$(hysteria_config)" = "$CONFIG" ]; then
    ! hysteria_api GET /online >/dev/null || LIVE=true
    hop /dev/null "$DIR/hysteria.params"
  else
    render_hysteria "$WORK/hysteria.params" >"$WORK/hysteria.yaml" || refuse_parameters
    awk '$3 ~ /^auth=/ { print substr($3, 6), $1 }' "$DIR/clients" >"$WORK/hy2-users"
    # Where the range alone is another one, the core runs on.
    if [ ! -e "$DIR/unread.hysteria" ] && cmp -s "$WORK/hysteria.yaml" "$DIR/hysteria.yaml"; then
      ! hysteria_api GET /online >/dev/null || LIVE=true
    fi
    $LIVE || [ "$SUPERVISOR" != systemd ] || : >"$DIR/unread.hysteria"
    install_owner "$NEW_OWNER"
    hop "$DIR/hysteria.params" "$WORK/hysteria.params"
    install_state hy2-users hysteria.params hysteria.yaml
    rm -f "$DIR/hysteria.base"
    $LIVE || restart hysteria hysteria_is_new "$(hysteria_run)"
    ! $LIVE || rm -f "$DIR/unread.hysteria"
  fi
  reply '{"ok":true,"config":"%s","restarted":%s,"live":%s%s}' "$CONFIG" "$RESTARTED" "$LIVE" "$HOP"
}

# CORE
stop_core() { [ "$SUPERVISOR" != systemd ] || supervise "$1" stop || fail fault 'a core could not be stopped'; }

verb_retire() {
  require_name "${2:-}"
  lock
  local removed
  [ -z "$OWNER" ] || [ "$OWNER" = "$1" ] || fail owner 'another panel owns this node' ",\"owner\":\"$OWNER\""
  removed=$(wc -l <"$DIR/clients")
  : >"$DIR/dirty"
  : >"$WORK/clients"
  : >"$WORK/added"
  cp "$DIR/clients" "$WORK/removed"
  make_files "$WORK/clients" changes
  install_files clients
  if ask_core; then
    each_inbound push_difference || repair || true
    cut_connections others "$DIR/clients" >/dev/null
  fi
  kick others "$DIR/clients" 100 >/dev/null
  stop_core xray
  [ ! -e "$DIR/hysteria.yaml" ] || stop_core hysteria
  hop "$DIR/hysteria.params" /dev/null
  rm -f "$DIR"/{base.json,core.params,config.json,hysteria.base,hysteria.params,hysteria.yaml,hy2-users,acked,pending,seen,unread,unread.hysteria,dirty,owner}
  reply '{"ok":true,"removed":%d}' "$removed"
}

verb_drop() {
  local uuid dropped
  for uuid; do [[ $uuid =~ ^$UUID$ ]] || fail bad-input 'not a UUID'; done
  printf '%s\n' "$@" >"$WORK/drop"
  look_at_inbounds
  dropped=$(cut_connections these "$WORK/drop")
  reply '{"ok":true,"dropped":%d}' $((dropped + $(kick these "$WORK/drop" 20)))
}

verb_metrics() {
  local up=false clients=0 hysteria='"hysteria_version":null,"hysteria_up":null'
  ! ask_core || up=true
  if [ -e "$DIR/hysteria.yaml" ]; then
    hysteria="\"hysteria_version\":$(version_of "$HYSTERIA_BIN"),\"hysteria_up\":$(hysteria_api GET /online >/dev/null && echo true || echo false)"
  fi
  [ ! -e "$DIR/clients" ] || clients=$(wc -l <"$DIR/clients")
  reply '{"ok":true,%s,"core_version":%s,"core_up":%s,%s,"clients":%d}' \
    "$(look_at_host)" "$(version_of "$XRAY_BIN")" "$up" "$hysteria" "$clients"
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

# [hysteria]: takes no lock, because `configure` and `hysteria` hold it while the core that they restart calls this.
verb_prestart() {
  local live=true
  if [ "${1:-}" = hysteria ]; then
    hop /dev/null "$DIR/hysteria.params"
    reply '{"ok":true%s}' "$HOP"
    return
  fi
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
  [[ ${words[0]:-} =~ ^[a-z-]+$ ]] || fail unknown-verb 'no such verb'
  load_conf
  case ${words[0]:-}:${#words[@]} in
    status:[12] | list:* | blocks:1 | apply:1 | configure:1 | hysteria:1 | retire:[23]) prepare ;;
    drop:*) prepare; look_at_core ;;
    version:1 | metrics:1 | probe-sni:2 | prestart:1) look_at_core ;;
    prestart:2) [ "${words[1]}" = hysteria ] || fail unknown-verb 'no such verb, or not with so many words'; look_at_core ;;
    *) fail unknown-verb 'no such verb, or not with so many words' ;;
  esac
  "verb_${words[0]//-/_}" "${words[@]:1}"
}

main "$@"
