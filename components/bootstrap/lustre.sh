#!/usr/bin/env bash
# Mounts the cluster's Lustre filesystem, at every boot; over EFA it sets the client up first and says if it fell back.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/gpu-clusters/boot.env

say() { echo "gpu-clusters: $*" >&2; }
over_efa() { [[ $(lnetctl net show 2>/dev/null) == *'net type: efa'* ]]; }

# Of the EFA network: interfaces that are up, and messages that they sent.
efa_counters() {
  lnetctl net show -v 2>/dev/null | awk '
    /net type:/ { efa = ($NF == "efa") }
    efa && /status: up/ { up++ }
    efa && /send_count:/ { sent += $NF }
    END { print up + 0, sent + 0 }'
}

mkdir -p "$LUSTRE_MOUNT"
if mountpoint -q "$LUSTRE_MOUNT"; then exit 0; fi

# The client's modules are built for one kernel. Azure's HPC images hold them; for AWS, FSx has packages.
if ! modinfo lustre >/dev/null 2>&1; then
  if [ "$CLOUD" != aws ]; then
    say "the image has no Lustre client for kernel $(uname -r)"
    exit 1
  fi
  # shellcheck source=/dev/null
  . /etc/os-release
  ring=/usr/share/keyrings/fsx-lustre.gpg
  keys=https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com
  curl -fsSL --retry 5 "$keys/fsx-ubuntu-public-key.asc" | gpg --dearmor --yes -o "$ring"
  packages="https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu $VERSION_CODENAME main"
  echo "deb [signed-by=$ring] $packages" >/etc/apt/sources.list.d/fsx-lustre.list
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o DPkg::Lock::Timeout=600 update
  apt-get -o DPkg::Lock::Timeout=600 install -y "lustre-client-modules-$(uname -r)"
fi

# AWS's own set-up, which also comes back by itself at every boot. It must be the one that loads the modules: loaded
# before, they keep their settings, and most EFA devices stay unused without a word.
set_up_efa() {
  local tools=/opt/gpu-clusters/efa-lustre samples=https://docs.aws.amazon.com/fsx/latest/LustreGuide/samples
  mkdir -p "$tools" &&
    curl -fsSL --retry 5 -o "$tools/client.zip" "$samples/configure-efa-fsx-lustre-client.zip" &&
    python3 -m zipfile -e "$tools/client.zip" "$tools" &&
    cd "$tools/configure-efa-fsx-lustre-client" &&
    chmod -R u+x . || return
  lnetctl lnet unconfigure 2>/dev/null || true
  lustre_rmmod || true
  ./setup.sh
}
if [ "$LUSTRE_EFA" = true ] && ! over_efa; then
  (set_up_efa) || say "the EFA client of Lustre is not set up"
fi

# DNS and servers may lag behind the node.
modprobe lustre
read -r _ before <<<"$(efa_counters)"
for attempt in $(seq 1 20); do
  if mount -t lustre -o "$LUSTRE_OPTIONS" "$LUSTRE_SOURCE" "$LUSTRE_MOUNT"; then break; fi
  if [ "$attempt" -eq 20 ]; then exit 1; fi
  sleep 15
done

# A client falls back to TCP without a word. An EFA network that is there proves nothing: what counts is that asking
# every storage server goes over it. (Metadata servers are always asked over TCP.)
if [ "$LUSTRE_EFA" = true ]; then
  lfs df "$LUSTRE_MOUNT" >/dev/null || true
  read -r up after <<<"$(efa_counters)"
  if [ "$after" -gt "$before" ]; then
    say "Lustre is mounted over EFA, on $up interfaces"
  else
    say "Lustre is mounted over TCP, not over EFA: of $up EFA interfaces none sends anything"
  fi
fi
