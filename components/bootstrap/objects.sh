#!/usr/bin/env bash
# Mounts the cluster's container below /mnt/objects: `checkpoints` for large files, `files` for small ones read often.
set -euo pipefail

say() { echo "gpu-clusters: $*" >&2; }

kind=${1:-}
config=/etc/gpu-clusters/objects-$kind.yaml
if [ -z "$kind" ] || [ ! -f "$config" ]; then
  say "usage: gpu-clusters-objects checkpoints|files"
  exit 2
fi
place=/mnt/objects/$kind
mkdir -p "$place"
if mountpoint -q "$place"; then exit 0; fi

# HPC images come without it. Where the image knows Microsoft's packages already, a second entry would be refused.
if ! command -v blobfuse2 >/dev/null; then
  if ! command -v apt-get >/dev/null; then
    say "install blobfuse2 with this system's package manager first"
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o DPkg::Lock::Timeout=600 update
  if ! apt-cache show blobfuse2 >/dev/null 2>&1; then
    # shellcheck source=/dev/null
    . /etc/os-release
    ring=/usr/share/keyrings/gpu-clusters-microsoft.gpg
    curl -fsSL --retry 5 https://packages.microsoft.com/keys/microsoft.asc | gpg --dearmor --yes -o "$ring"
    packages="https://packages.microsoft.com/ubuntu/$VERSION_ID/prod $VERSION_CODENAME main"
    echo "deb [signed-by=$ring] $packages" >/etc/apt/sources.list.d/gpu-clusters-microsoft.list
    apt-get -o DPkg::Lock::Timeout=600 update
  fi
  apt-get -o DPkg::Lock::Timeout=600 install -y fuse3 blobfuse2
fi

# Older ones spoil data in the block cache (2.2.0 to 2.3.0) or run out of memory (azure-storage-fuse#2045).
version=$(blobfuse2 --version | awk '{ print $NF }')
if [ "$(printf '2.5.1\n%s\n' "$version" | sort -V | head -n 1)" != 2.5.1 ]; then
  say "blobfuse2 $version is too old for this: 2.5.1 or later is needed"
  exit 1
fi

cache=$(sed -n 's/^  path: //p' "$config")
if [ -n "$cache" ]; then mkdir -p "$cache"; fi
blobfuse2 mount "$place" --config-file="$config"
