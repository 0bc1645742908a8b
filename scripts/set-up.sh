# ./mua, ./play and ./test source this file. It installs the packages. It also installs Chromium if the machine has no browser, and
# lavapipe, Mesa's Vulkan driver for CPUs, if the machine has no GPU. It prints only to stderr, because stdout is for results.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/') || major=
if [ "${major:-0}" -lt 20 ]; then
  echo "Node.js 20.19 or newer is needed (found: $(node --version 2>/dev/null || echo none))." >&2
  exit 1
fi

# npm writes node_modules/.package-lock.json. If it is missing or older than package-lock.json, the packages are outdated.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  npm ci >&2
fi

has_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }

# Without a browser, the page and the commands that need no browser still work. The other commands say what is missing.
if ! node scripts/find-chromium.mjs >/dev/null 2>&1; then
  if ! { has_apt && apt-get update -qq >&2 && apt_install chromium fonts-liberation; }; then
    node scripts/find-chromium.mjs >&2 || true # prints how to install Chromium
  fi
fi

has_gpu() { compgen -G '/dev/dri/renderD*' || compgen -G '/dev/nvidia[0-9]*' || [ -e /dev/kfd ] || [ -e /dev/dxg ]; }
has_lavapipe() { compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' || compgen -G '/etc/vulkan/icd.d/lvp_icd*.json'; }
# Installs Mesa 24 or newer. Debian 12 has it only in its backports. Their source is added with the mirror that apt already uses.
install_lavapipe() {
  local codename mirror
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  if [ "$codename" != bookworm ]; then
    apt-get update -qq >/dev/null 2>&1 && apt_install mesa-vulkan-drivers
    return
  fi
  if ! apt-cache policy | grep -q 'n=bookworm-backports'; then
    mirror=$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 2>/dev/null | head -n 1)
    echo "deb ${mirror:-http://deb.debian.org/debian} bookworm-backports main" >/etc/apt/sources.list.d/bookworm-backports.list
  fi
  apt-get update -qq >/dev/null 2>&1 && apt_install -t bookworm-backports mesa-vulkan-drivers
}
tried=node_modules/.cache/lavapipe-tried
if [ "$(uname)" = Linux ] && [ ! -e "$tried" ] && ! has_gpu >/dev/null && ! has_lavapipe >/dev/null; then
  mkdir -p "${tried%/*}" && touch "$tried" # tries only once, because each try takes time
  if has_apt && command -v apt-cache >/dev/null; then
    echo 'There is no GPU: installing lavapipe, a faster replacement in software than the browser has.' >&2
    install_lavapipe || echo 'lavapipe could not be installed: training here uses the software GPU of the browser.' >&2
  else
    echo 'There is no GPU. With lavapipe (package mesa-vulkan-drivers, Mesa 24 or newer) training would be faster here.' >&2
  fi
fi
