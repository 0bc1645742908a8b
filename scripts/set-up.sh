# Sourced by ./play and ./test: the packages, and a Chromium with WebGPU where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || major=
if [ "${major:-0}" -lt 20 ]; then
  echo "Node.js 20.19 or newer is needed (found: $(node --version 2>/dev/null || echo none))." >&2
  exit 1
fi

# npm leaves its own lock file behind: older than ours, or absent, the packages are not these.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci
fi

if ! node scripts/find-chromium.mjs >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null
  else
    node scripts/find-chromium.mjs # says how to get one
    exit 1
  fi
fi
