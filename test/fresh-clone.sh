#!/usr/bin/env bash
# A new user: clones into an empty folder with an empty HOME, runs the README's two commands and looks at the first screen.
# usage: fresh-clone.sh npm|bun        (bun: BUN_BIN or PATH)
set -euo pipefail
manager=${1:?npm or bun}
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
pid=''
finish() {
  # The group: a manager that is killed leaves the service behind.
  [ -z "$pid" ] || kill -9 -- "-$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
git clone -q "$source" "$work/subpanel"
cd "$work/subpanel"
mkdir "$work/home"
# Of the machine only what every machine has: PATH without this project, the package registries' settings.
env=(env -i "HOME=$work/home" "TMPDIR=$work" "LANG=C.UTF-8")
for name in "${!npm_config_@}" "${!NPM_CONFIG_@}" SSL_CERT_FILE NODE_EXTRA_CA_CERTS HTTPS_PROXY https_proxy; do
  [ -z "${!name:-}" ] || env+=("$name=${!name}")
done
[ ! -f "$HOME/.npmrc" ] || cp "$HOME/.npmrc" "$work/home/.npmrc"
path=$(tr ':' '\n' <<<"$PATH" | grep -v node_modules | paste -sd:)
if [ "$manager" = bun ]; then
  bun=${BUN_BIN:-$(command -v bun)}
  mkdir "$work/bin"
  ln -s "$bun" "$work/bin/bun"
  path="$work/bin:$path"
  install=(bun install --frozen-lockfile)
  start=(bun run start)
else
  install=(npm ci --no-audit --no-fund)
  start=(npm start)
fi
env+=("PATH=$path")
"${env[@]}" "${install[@]}" >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
if grep -iE 'gyp|install script|ERR' "$work/install.log"; then
  echo 'the installation says something that a user must understand'
  exit 1
fi
PORT=$((20000 + RANDOM % 20000))
setsid "${env[@]}" PORT=$PORT "${start[@]}" >"$work/start.log" 2>&1 &
pid=$!
for _ in $(seq 600); do
  curl -fsS "http://127.0.0.1:$PORT/healthz" 2>/dev/null && break
  sleep 0.1
done
echo
cat "$work/start.log"
password=$(sed -n 's/^ *Password *\([a-z2-7]*\) .*/\1/p' "$work/start.log")
page=$(curl -fsS -H "Host: panel.localhost:$PORT" "http://127.0.0.1:$PORT/admin")
script=$(sed -n 's/.*<script type="module" src="\([^"]*\)".*/\1/p' <<<"$page")
curl -fsS -o "$work/panel.js" -H "Host: panel.localhost:$PORT" "http://127.0.0.1:$PORT$script"
[ -s "$work/panel.js" ]
login=$(curl -fsS -H "Host: panel.localhost:$PORT" -d "{\"username\":\"admin\",\"password\":\"$password\"}" \
  "http://127.0.0.1:$PORT/admin/api/login")
[[ $login == *'"ok":true'* ]]
[ "$(stat -c %a data .env data/panel.db | paste -sd' ')" = '700 600 600' ]
[ -z "$(git status --porcelain)" ]
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
pid=''
[ "$code" -eq 0 ] || { echo "ended with $code"; exit 1; }
if curl -fsS -m 1 "http://127.0.0.1:$PORT/healthz" 2>/dev/null; then
  echo 'an orphan still answers'
  exit 1
fi
echo "fresh clone with $manager: ok"
