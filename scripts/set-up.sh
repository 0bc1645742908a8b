# ./play and ./test source this file. It installs the packages, and Chromium if no Chromium is found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || major=
if [ "${major:-0}" -lt 20 ]; then
  echo "Node.js 20.19 or newer is needed (found: $(node --version 2>/dev/null || echo none))." >&2
  exit 1
fi

# npm writes node_modules/.package-lock.json. If it is missing or older than package-lock.json, the packages are outdated.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci
fi

if ! node scripts/find-chromium.mjs >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null
  else
    node scripts/find-chromium.mjs # prints how to install Chromium
    exit 1
  fi
fi
