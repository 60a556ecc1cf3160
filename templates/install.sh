#!/usr/bin/env bash
# Sets a server up as a node of Subpanel (docs/nodes.md). It may be run again at any time: what is in place stays, and
# cores that need not be started anew go on. A failure is reported to the panel with its step.
set -Eeuo pipefail
readonly PANEL_URL='{{PANEL_URL}}' TOKEN='{{TOKEN}}' CODE='{{CODE}}' OWNER='{{OWNER}}' SNI='{{SNI}}'
# "PORT/tcp PORT/udp …"; transports whose certificate the panel wants to know; empty once the node is active.
readonly PORTS='{{PORTS}}' PINNED='{{PINNED}}' FRESH='{{FRESH}}'
readonly MANAGEMENT_KEY='{{MANAGEMENT_KEY}}'
# SHA-256 of the core programs, computed by the panel from its own files.
readonly XRAY_AMD64='{{XRAY_AMD64}}' XRAY_ARM64='{{XRAY_ARM64}}'
readonly HYSTERIA_AMD64='{{HYSTERIA_AMD64}}' HYSTERIA_ARM64='{{HYSTERIA_ARM64}}'
# Files, in base64.
readonly AGENT='{{AGENT}}'
readonly HYSTERIA_AUTH='{{HYSTERIA_AUTH}}'
# What the cores are to run, by the grammar of the node program; HYSTERIA_PARAMS is empty where there is no Hysteria.
readonly XRAY_PARAMS='{{XRAY_PARAMS}}'
readonly HYSTERIA_PARAMS='{{HYSTERIA_PARAMS}}'

readonly LIB=/usr/local/lib/subpanel DIR=/var/lib/subpanel-node CONF=/etc/subpanel/node.conf UNITS=/etc/systemd/system
readonly ACCESS=/var/lib/subpanel-access ACCOUNT=subpanel CORE_GROUP=subpanel-node
STEP=checks REASON='' WORK='' DONE='' ARCH='' SSH_PORT='' REPLACE='' PLACED=''
# Cores that run with something older than what is in place now.
declare -A RESTART=()

say() { printf '%s\n' "$*" >&2; }

# MESSAGE: ends the script; the panel is told.
die() {
  REASON=$*
  exit 1
}

begin() {
  STEP=$1
  say "==> $2"
}

# PATH [OPTION]…: asks the panel. The path holds the token, and the arguments of a process can be read by every user of the machine.
ask_panel() { curl -K <(printf 'url = "%s/%s"\n' "$PANEL_URL" "$1") "${@:2}"; }

# Sends the JSON of stdin to the panel.
report() {
  local answer=/dev/null status
  [ -z "$WORK" ] || answer=$WORK/answer
  status=$(ask_panel "nodes/register/$TOKEN" -sS -m 30 --retry 3 -o "$answer" -w '%{http_code}' \
    -H 'Content-Type: application/json' --data-binary @-) && [ "$status" = 200 ]
}

finish() {
  if [ -z "$DONE" ]; then
    # It may quote others: a program by a name of its own choice, the panel.
    REASON=${REASON//[^[:print:]]/ }
    local reason=${REASON//[\"\\]/ }
    say "FAILED at the step \"$STEP\": $REASON"
    printf '{"status":"failed","step":"%s","reason":"%s"}' "$STEP" "${reason:0:300}" | report 2>/dev/null ||
      say 'The panel could not be told.'
  fi
  [ -z "$WORK" ] || rm -rf "$WORK"
}

find_arch() {
  case $(uname -m) in
    x86_64 | amd64) ARCH=amd64 ;;
    aarch64 | arm64) ARCH=arm64 ;;
    *) die "there are no cores for $(uname -m): only for amd64 and arm64" ;;
  esac
}

check_machine() {
  ((EUID == 0)) || die 'run this as root'
  find_arch
  [ -d /run/systemd/system ] || die 'systemd does not run here'
  local id='' version=''
  if [ -r /etc/os-release ]; then
    id=$(sed -n 's/^ID=//p' /etc/os-release | tr -d \")
    version=$(sed -n 's/^VERSION_ID=//p' /etc/os-release | tr -dc '0-9.')
  fi
  case $id in
    debian) ((${version%%.*} >= 11)) 2>/dev/null || [ -z "$version" ] || die "Debian $version is too old: 11 or later" ;;
    ubuntu) ((${version%%.*} >= 20)) 2>/dev/null || die "Ubuntu $version is too old: 20.04 or later" ;;
    *) say "This system (${id:-unknown}) is not among those that are tested: Debian 11+, Ubuntu 20.04+." ;;
  esac
  if [ -e "$UNITS/subpanel.service" ] || [ -e "$UNITS/subpanel-node.socket" ]; then
    die 'Subpanel itself runs on this machine: its own node is the local one'
  fi
}

# Nothing has been changed here yet.
check_cores() {
  local xray=$XRAY_AMD64 hysteria=$HYSTERIA_AMD64
  [ "$ARCH" = amd64 ] || xray=$XRAY_ARM64 hysteria=$HYSTERIA_ARM64
  [ -n "$HYSTERIA_PARAMS" ] || hysteria=unused
  [ -n "$xray" ] || die "the panel has no xray for $ARCH: run \`npm run cores\` there, then this again"
  [ -n "$hysteria" ] || die "the panel has no hysteria for $ARCH: run \`npm run cores\` there, then this again"
}

# A server is one node of one panel.
check_owner() {
  local owner='' code=''
  [ ! -e "$LIB/node" ] || read -r owner code <"$LIB/node" || true
  if [ -e "$DIR/config.json" ] && [ "$owner $code" != "$OWNER $CODE" ] && [ -z "$REPLACE" ]; then
    die "this server serves another node already (${code:-unknown}). To give that one up: ... | bash -s -- --replace"
  fi
  [ -n "$FRESH" ] || [ "$owner $code" = "$OWNER $CODE" ] ||
    die 'this command was used for another server: have the panel give out a new one'
  if [ -n "$REPLACE" ] && [ "$owner $code" != "$OWNER $CODE" ]; then
    systemctl stop subpanel-xray.service subpanel-hysteria.service 2>/dev/null || true
    # What it put in place outside its folder: the ports that are redirected to Hysteria.
    # Program 1 takes no name.
    timeout 60 "$LIB/agent" retire "$owner" "$code" </dev/null >/dev/null 2>&1 || true
    timeout 60 "$LIB/agent" retire "$owner" </dev/null >/dev/null 2>&1 || true
    rm -f "$DIR"/{owner,clients,base.json,core.params,config.json,hysteria.base,hysteria.params,hysteria.yaml,hy2-users}
    rm -f "$DIR"/{program,dirty,unread,unread.hysteria,seen,acked,pending}
  fi
}

# The UDP ports among which clients of Hysteria hop; empty without.
hop_range() { base64 -d <<<"$HYSTERIA_PARAMS" | sed -n 's/^hop //p'; }

install_packages() {
  local tool package missing=()
  while read -r tool package; do
    command -v "$tool" >/dev/null || missing+=("$package")
  done <<'LIST'
curl curl
openssl openssl
sudo sudo
sshd openssh-server
ss iproute
awk gawk
setpriv util-linux
LIST
  [ -z "$(hop_range)" ] || command -v nft >/dev/null || command -v iptables >/dev/null || missing+=(nftables)
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] || missing+=(ca-certificates)
  [ ${#missing[@]} -gt 0 ] || return 0
  say "    ${missing[*]}"
  if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    missing=("${missing[@]/%iproute/iproute2}")
    apt-get update -q >&2 || true
    apt-get install -yq --no-install-recommends "${missing[@]}" >&2 || die "apt-get could not install ${missing[*]}"
  elif command -v dnf >/dev/null; then
    dnf install -y "${missing[@]}" >&2 || die "dnf could not install ${missing[*]}"
  else
    die "neither apt-get nor dnf is here to install ${missing[*]}"
  fi
}

# The pids of whoever listens on PORT/tcp or PORT/udp.
listeners() {
  local flag=-t
  [ "${1#*/}" = tcp ] || flag=-u
  ss -Hnlp "$flag" "sport = :${1%/*}" | grep -o 'pid=[0-9]*' | cut -d= -f2 || true
}

check_ports() {
  local port pid
  for port in $PORTS; do
    for pid in $(listeners "$port"); do
      # Of a process in another mount namespace the path may begin otherwise.
      [[ $(readlink "/proc/$pid/exe") == *"$LIB"/* ]] ||
        die "port $port is in use by $(cat "/proc/$pid/comm"): stop it, or choose another port in the panel"
    done
  done
}

make_account() {
  getent group "$CORE_GROUP" >/dev/null || groupadd --system "$CORE_GROUP"
  local user shell=/usr/sbin/nologin
  [ -e "$shell" ] || shell=/sbin/nologin
  for user in subpanel-xray subpanel-hysteria; do
    id "$user" >/dev/null 2>&1 ||
      useradd --system --gid "$CORE_GROUP" --home-dir /nonexistent --no-create-home --shell "$shell" "$user"
  done
  if id "$ACCOUNT" >/dev/null 2>&1; then
    [ "$(getent passwd "$ACCOUNT" | cut -d: -f6)" = "$ACCESS" ] || die "there is an account $ACCOUNT already that is not ours"
  else
    # No password, but not locked either: sshd without PAM would refuse a locked account.
    useradd --system --user-group --home-dir "$ACCESS" --no-create-home --shell /bin/sh --password '*' "$ACCOUNT"
  fi
}

# MODE GROUP SOURCE TARGET: puts a file in place, whole or not at all, and sets PLACED when it differed.
place() {
  local new="${4%/*}/.${4##*/}.new"
  PLACED=''
  if cmp -s "$3" "$4"; then
    chown "root:$2" "$4"
    chmod "$1" "$4"
    return
  fi
  install -m "$1" -o root -g "$2" "$3" "$new"
  mv -f "$new" "$4"
  PLACED=1
}

# MODE GROUP TARGET: the same with the content of stdin.
place_text() {
  cat >"$WORK/text"
  place "$1" "$2" "$WORK/text" "$3"
}

# What sshd does with the panel's account, a line "directive value" each. Its configuration is never changed.
read_sshd() {
  mkdir -p /run/sshd
  compgen -G '/etc/ssh/ssh_host_*_key' >/dev/null || ssh-keygen -A >&2
  "$(command -v sshd)" -T -C "user=$ACCOUNT,host=panel.invalid,addr=192.0.2.1" >"$WORK/sshd" 2>"$WORK/sshd.log" ||
    die "sshd does not accept its own configuration: $(head -c 200 "$WORK/sshd.log")"
}

sshd_values() { awk -v key="$1" '$1 == key { $1 = ""; print substr($0, 2) }' "$WORK/sshd"; }

# DIRECTIVE: whether it names the account, or its group which has the same name. A pattern may be USER@HOST.
sshd_names() {
  local pattern
  while read -r pattern; do
    # shellcheck disable=SC2053
    [[ $ACCOUNT != ${pattern%%@*} ]] || return 0
  done < <(sshd_values "$1")
  return 1
}

check_sshd() {
  local directive methods
  for directive in denyusers denygroups; do
    ! sshd_names "$directive" || die "sshd refuses the account $ACCOUNT by $directive: take it out there"
  done
  for directive in allowusers allowgroups; do
    [ -z "$(sshd_values "$directive")" ] || sshd_names "$directive" ||
      die "sshd lets in only those that $directive names: add $ACCOUNT to it in /etc/ssh/sshd_config and reload sshd"
  done
  [ "$(sshd_values pubkeyauthentication)" = yes ] || die 'sshd takes no keys: set PubkeyAuthentication yes'
  for directive in forcecommand chrootdirectory; do
    [[ $(sshd_values "$directive") =~ ^(none)?$ ]] || die "sshd has a $directive for the account $ACCOUNT"
  done
  methods=$(sshd_values authenticationmethods)
  [[ " ${methods:-any} " =~ \ (any|publickey)\  ]] || die "sshd wants more than a key: AuthenticationMethods $methods"
  [[ ,$(sshd_values pubkeyacceptedalgorithms)$(sshd_values pubkeyacceptedkeytypes), == *,ssh-ed25519,* ]] ||
    die 'sshd takes no ssh-ed25519 keys'
}

# Where sshd looks for the keys of this account and of nobody else.
keys_file() {
  local path words
  read -ra words < <(sshd_values authorizedkeysfile) || true
  for path in "${words[@]}"; do
    case $path in
      none) continue ;;
      *%[uh]* | [!/]*) ;;
      *) continue ;;
    esac
    path=${path//%h/$ACCESS}
    path=${path//%u/$ACCOUNT}
    case $path in
      *%*) continue ;;
      /*) printf %s "$path" ;;
      *) printf %s "$ACCESS/$path" ;;
    esac
    return
  done
  return 1
}

allow_panel() {
  local file program=$LIB/agent
  read_sshd
  check_sshd
  file=$(keys_file) || die 'sshd reads the keys of all accounts from one file: AuthorizedKeysFile must be one of their own'
  install -d -m 755 "$ACCESS"
  [ -d "${file%/*}" ] || install -d -m 755 "${file%/*}"
  place_text 644 root "$file" <<<"restrict,command=\"sudo -n $program\" $MANAGEMENT_KEY"
  cat >"$WORK/sudoers" <<SUDOERS
# Subpanel: the panel runs one program, which takes its words from SSH_ORIGINAL_COMMAND.
# Without !fqdn every call would look this machine's name up, for seconds where it has no record.
Defaults:$ACCOUNT !requiretty, !use_pty, !fqdn
Defaults!$program env_keep += "SSH_ORIGINAL_COMMAND"
$ACCOUNT ALL=(root) NOPASSWD: $program ""
SUDOERS
  visudo -qcf "$WORK/sudoers" >&2 || die 'sudo does not take its rule'
  place 440 root "$WORK/sudoers" /etc/sudoers.d/subpanel
  local port
  for port in $(sshd_values port); do
    [ -z "$(ss -Hltn "sport = :$port")" ] || { SSH_PORT=$port && return; }
  done
  SSH_PORT=$(sshd_values port | head -n 1)
  systemctl enable --now ssh.service 2>/dev/null || systemctl enable --now sshd.service || die 'sshd does not run'
}

# The way that sshd will take.
check_access() {
  local answer as=(setpriv --reuid "$ACCOUNT" --regid "$ACCOUNT" --init-groups)
  command -v setpriv >/dev/null || as=(sudo -u "$ACCOUNT")
  answer=$("${as[@]}" env SSH_ORIGINAL_COMMAND=version sudo -n "$LIB/agent" 2>&1) || true
  [[ $answer == *'{"ok":true,'* ]] || die "sudo does not let the account $ACCOUNT run the node program: $answer"
  [[ $answer != *'"tested":false'* ]] ||
    say '    WARNING: configurations are put in place untested: there is no setpriv (package util-linux) to test them with.'
}

# NAME SHA256: brings a core program unless it is there already.
fetch_core() {
  local name=$1 sha=$2
  ! sha256sum --status -c <<<"$sha  $LIB/$name" 2>/dev/null || return 0
  ask_panel "install/$TOKEN/core/$name?arch=$ARCH" -fsS -m 1800 --retry 3 -o "$WORK/$name" ||
    die "$name could not be downloaded from the panel"
  sha256sum --status -c <<<"$sha  $WORK/$name" || die "$name did not arrive as the panel has it"
  chmod 755 "$WORK/$name"
  "$WORK/$name" version >/dev/null 2>&1 || die "$name does not run here"
  mv -f "$WORK/$name" "$LIB/$name"
  RESTART[$name]=1
}

# "26.7.28" of a core program.
version_of() {
  local text
  text=$("$LIB/$1" version 2>/dev/null) || true
  [[ ! $text =~ [0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.-]* ]] || printf %s "${BASH_REMATCH[0]}"
}

# The node program comes last: the former one drives the cores while they are fetched.
install_programs() {
  local xray=$XRAY_AMD64 hysteria=$HYSTERIA_AMD64
  [ "$ARCH" = amd64 ] || xray=$XRAY_ARM64 hysteria=$HYSTERIA_ARM64
  fetch_core xray "$xray"
  if [ -n "$HYSTERIA_PARAMS" ]; then
    place_text 755 root "$LIB/hy2-auth" < <(base64 -d <<<"$HYSTERIA_AUTH")
    fetch_core hysteria "$hysteria"
  fi
  # The only cores that the node program may ever put in place of these.
  place_text 644 root "$LIB/cores.sha256" < <(
    printf '%s  xray\n' "$xray"
    [ -z "$hysteria" ] || printf '%s  hysteria\n' "$hysteria"
  )
  write_conf
  place_text 755 root "$LIB/agent" < <(base64 -d <<<"$AGENT")
  # Where program 1 had its settings.
  rm -f "$DIR/node.conf"
}

# The certificate of WS and Hysteria2. Apps pin it, so a good one is never replaced.
make_certificate() {
  local crt=$DIR/tls/node.crt key=$DIR/tls/node.key
  install -d -m 750 -g "$CORE_GROUP" "$DIR/tls"
  if openssl x509 -in "$crt" -noout -checkend 2592000 >/dev/null 2>&1 &&
    [ "$(openssl x509 -in "$crt" -noout -pubkey)" = "$(openssl pkey -in "$key" -pubout 2>/dev/null)" ] &&
    { [ -z "$FRESH" ] || openssl x509 -in "$crt" -noout -checkhost "$SNI" | grep -q 'does match'; }; then
    return
  fi
  (umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -sha256 \
    -subj "/CN=${SNI:0:64}" -addext "subjectAltName=DNS:$SNI" -keyout "$WORK/node.key" -out "$WORK/node.crt") 2>"$WORK/log" ||
    die "openssl could not make a certificate: $(tail -n 1 "$WORK/log")"
  place 640 "$CORE_GROUP" "$WORK/node.key" "$key"
  place 644 "$CORE_GROUP" "$WORK/node.crt" "$crt"
  RESTART[xray]=1
  RESTART[hysteria]=1
}

# The settings of the node program, in a folder where it writes nothing. Hysteria keeps the secret of its API, which program 1 had in DIR.
write_conf() {
  local file secret=''
  for file in "$CONF" "$DIR/node.conf"; do
    [ -n "$secret" ] || secret=$(sed -nE 's/^HYSTERIA_SECRET=([A-Za-z0-9_-]{16,200})$/\1/p' "$file" 2>/dev/null | tail -n 1) || true
  done
  [ -n "$secret" ] || secret=$(openssl rand -hex 24)
  install -d -m 755 -o root -g root "${CONF%/*}"
  {
    printf '%s\n' "XRAY_BIN=$LIB/xray" API_SOCK=/run/subpanel-xray/api.sock SUPERVISOR=systemd \
      CORE_USER=subpanel-xray "CONFIG_GROUP=$CORE_GROUP" "NODE=$CODE"
    [ -z "$HYSTERIA_PARAMS" ] || printf '%s\n' "HYSTERIA_BIN=$LIB/hysteria" "HYSTERIA_SECRET=$secret"
  } >"$WORK/node.conf"
  place 600 root "$WORK/node.conf" "$CONF"
}

# CORE FILE, with lines of the section [Service] on stdin: the unit of a core, which starts once it has its FILE.
write_unit() {
  local name=$1
  {
    cat <<UNIT
# Made by the install script of Subpanel, which overwrites it.
[Unit]
Description=${name^} (node of Subpanel)
Wants=network-online.target
After=network-online.target
ConditionPathExists=$2
StartLimitIntervalSec=0

[Service]
Type=exec
User=subpanel-$name
Group=$CORE_GROUP
Environment=SUBPANEL_NODE_DIR=$DIR
UNIT
    cat
    cat <<'UNIT'
Restart=always
RestartSec=2
TimeoutStopSec=10

UMask=0077
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
ProcSubset=pid
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
MemoryDenyWriteExecute=yes
LockPersonality=yes
RemoveIPC=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
LimitNOFILE=1000000

[Install]
WantedBy=multi-user.target
UNIT
  } >"$WORK/unit"
  place 644 root "$WORK/unit" "$UNITS/subpanel-$name.service"
  [ -z "$PLACED" ] || RESTART[$name]=1
}

write_units() {
  # As root (+): prestart removes the API socket that a killed core left. 23: Xray refuses its configuration.
  write_unit xray "$DIR/config.json" <<UNIT
ExecStartPre=-+$LIB/agent prestart
ExecStart=$LIB/xray run -config $DIR/config.json
RestartPreventExitStatus=23
RuntimeDirectory=subpanel-xray
RuntimeDirectoryMode=0750
UNIT
  # As root (+): prestart puts the redirected UDP ports in place, which a restart of the machine has taken away.
  [ -z "$HYSTERIA_PARAMS" ] || write_unit hysteria "$DIR/hysteria.yaml" <<UNIT
Environment=HYSTERIA_LOG_LEVEL=warn
ExecStartPre=-+$LIB/agent prestart hysteria
ExecStart=$LIB/hysteria server --disable-update-check -c $DIR/hysteria.yaml
UNIT
  systemctl daemon-reload
}

# VERB PARAMS CORE: hands parameters to the node program, which makes a configuration of them and tests it before it puts it in place.
configure() {
  local answer
  base64 -d <<<"$2" >"$WORK/params"
  {
    printf '{"owner":"%s","node":"%s","config":"%s","lines":%d}\n' "$OWNER" "$CODE" "$(sha256sum <"$WORK/params" | cut -c 1-64)" "$(wc -l <"$WORK/params")"
    cat "$WORK/params"
  } >"$WORK/request"
  answer=$("$LIB/agent" "$1" <"$WORK/request" 2>"$WORK/log") || die "the node program does not run: $(tail -n 1 "$WORK/log")"
  [[ $answer == '{"ok":true,'* ]] || die "the node program refuses the configuration of $1: $answer"
  [[ $answer != *'"restarted":true'* ]] || RESTART[$3]=''
  [[ $answer != *'"hop":false'* ]] ||
    say "    WARNING: the UDP ports $(hop_range) are not redirected to Hysteria: neither nft nor iptables does it here. Lists are without them."
}

start_core() {
  local unit=subpanel-$1.service
  systemctl enable --quiet "$unit"
  if [ -n "${RESTART[$1]:-}" ]; then systemctl restart "$unit"; else systemctl start "$unit"; fi ||
    die "$unit does not start: journalctl -u $unit"
}

start_cores() {
  configure configure "$XRAY_PARAMS" xray
  start_core xray
  if [ -n "$HYSTERIA_PARAMS" ]; then
    configure hysteria "$HYSTERIA_PARAMS" hysteria
    start_core hysteria
  elif [ -e "$UNITS/subpanel-hysteria.service" ]; then
    [ ! -e "$DIR/hysteria.yaml" ] || configure hysteria '' hysteria
    systemctl disable --quiet --now subpanel-hysteria.service || true
    rm -f "$UNITS/subpanel-hysteria.service"
    systemctl daemon-reload
  fi
  local port deadline=$((SECONDS + 20))
  for port in $PORTS; do
    until [ -n "$(listeners "$port")" ]; do
      ((SECONDS < deadline)) || die "nothing listens on $port: journalctl -u subpanel-xray -u subpanel-hysteria"
      sleep 0.2
    done
  done
}

# BBR and larger buffers, where the kernel lets us: containers often don't.
tune_network() {
  local lines key value
  lines=$'net.core.rmem_max = 16777216\nnet.core.wmem_max = 16777216'
  if command -v modprobe >/dev/null; then modprobe -q tcp_bbr 2>/dev/null || true; fi
  if grep -qsw bbr /proc/sys/net/ipv4/tcp_available_congestion_control; then
    lines+=$'\nnet.core.default_qdisc = fq\nnet.ipv4.tcp_congestion_control = bbr'
  fi
  mkdir -p /etc/sysctl.d
  place_text 644 root /etc/sysctl.d/99-subpanel.conf <<<"$lines"
  while IFS=' =' read -r key value; do
    { printf '%s\n' "$value" >"/proc/sys/${key//.//}"; } 2>/dev/null || say "    $key cannot be set here"
  done <<<"$lines"
}

# Never fatal: the core runs, and who has a firewall of their own kind knows it.
open_firewall() {
  local port hop ports=$PORTS
  hop=$(hop_range)
  [ -z "$hop" ] || ports+=" $hop/udp"
  # Not into `grep -q`: it goes at the first match, and what ufw has not written by then would count as its failure.
  if command -v ufw >/dev/null && [[ $'\n'$(ufw status 2>/dev/null) == *$'\n''Status: active'* ]]; then
    for port in $ports; do ufw allow "${port/-/:}" >/dev/null || say "    ufw did not open $port"; done
  elif command -v firewall-cmd >/dev/null && firewall-cmd --state >/dev/null 2>&1; then
    # No reload: it would drop what the operator opened at run time only, their own way in perhaps.
    for port in $ports; do
      { firewall-cmd -q --add-port="$port" && firewall-cmd -q --permanent --add-port="$port"; } ||
        say "    firewalld did not open $port"
    done
  else
    say "    none that is known runs. If there is one, also at your provider: open $ports, and $SSH_PORT/tcp for the panel."
  fi
}

warn_of_sni() {
  local answer reason
  answer=$(timeout 15 "$LIB/agent" probe-sni "$SNI" 2>/dev/null) || true
  reason=${answer##*\"reason\":\"}
  [[ $answer != *'"suits":false'* ]] ||
    say "    WARNING: $SNI does not answer as REALITY needs: ${reason%%\"*}. Choose another SNI in the panel."
}

register() {
  local path keys='' certificates='' type cert hysteria=''
  for path in $(sshd_values hostkey); do
    [ -r "$path.pub" ] || continue
    keys+="${keys:+,}\"$(awk 'NR == 1 { print $1, $2 }' "$path.pub" | tr -cd 'A-Za-z0-9+/=@. -')\""
  done
  cert=$(awk '{ printf "%s\\n", $0 }' "$DIR/tls/node.crt")
  for type in $PINNED; do certificates+="${certificates:+,}{\"type\":\"$type\",\"cert\":\"$cert\"}"; done
  [ -z "$HYSTERIA_PARAMS" ] || hysteria=",\"hysteria\":\"$(version_of hysteria)\""
  printf '{"status":"active","arch":"%s","core":"%s"%s,"ssh_port":%d,"host_keys":[%s],"transports":[%s]}' \
    "$ARCH" "$(version_of xray)" "$hysteria" "$SSH_PORT" "$keys" "$certificates" | report ||
    die "the panel did not take the registration: $(head -c 200 "$WORK/answer" 2>/dev/null)"
}

main() {
  export LC_ALL=C PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
  umask 022
  trap finish EXIT
  trap 'REASON="\"${BASH_COMMAND%% *}\" failed at line $LINENO"' ERR
  local word
  for word; do
    case $word in
      --replace) REPLACE=1 ;;
      *) die "unknown word $word: only --replace" ;;
    esac
  done
  begin checks "this machine"
  check_machine
  exec 8>/run/subpanel-install.lock
  if ! flock -n 8; then
    DONE=1
    say 'The script is running here already.'
    exit 1
  fi
  check_cores
  check_owner
  begin packages "packages"
  install_packages
  begin ports "ports"
  check_ports
  begin account "accounts"
  make_account
  mkdir -p "$LIB"
  rm -rf "$LIB"/.install.*
  WORK=$(mktemp -d "$LIB/.install.XXXXXX")
  begin ssh "access for the panel"
  allow_panel
  begin cores "programs"
  install_programs
  check_access
  place_text 644 root "$LIB/node" <<<"$OWNER $CODE"
  begin certificate "certificate"
  install -d -m 750 -g "$CORE_GROUP" "$DIR"
  make_certificate
  begin config "configuration"
  write_units
  begin start "cores"
  start_cores
  begin network "network"
  tune_network
  open_firewall
  warn_of_sni
  begin register "the panel"
  register
  DONE=1
  say "Done: this server is the node $CODE."
}

main "$@" </dev/null
