#!/usr/bin/env bash
# Mounts the cluster's Lustre filesystem, at every boot; over EFA it sets the client up first and says if it fell back.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/gpu-clusters/boot.env

mkdir -p "$LUSTRE_MOUNT"
if mountpoint -q "$LUSTRE_MOUNT"; then exit 0; fi

if ! modprobe lustre 2>/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update
  if [ "$CLOUD" = aws ]; then
    apt-get install -y "lustre-client-modules-$(uname -r)" || apt-get install -y lustre-client-modules-aws
  else
    apt-get install -y amlfs-lustre-client-dkms lustre-client
  fi
  modprobe lustre
fi

if [ "$LUSTRE_EFA" = true ]; then
  tools=/opt/gpu-clusters/efa-lustre
  mkdir -p "$tools"
  if [ -z "$(find "$tools" -name setup.sh)" ]; then
    samples=https://docs.aws.amazon.com/fsx/latest/LustreGuide/samples
    curl -fsSL --retry 5 -o "$tools/client.zip" "$samples/configure-efa-fsx-lustre-client.zip"
    python3 -m zipfile -e "$tools/client.zip" "$tools"
  fi
  setup=$(find "$tools" -name setup.sh | head -n 1)
  # The script may fail at first boot although its unit comes up: the unit decides.
  (cd "$(dirname "$setup")" && bash ./setup.sh --optimized-for-gds) ||
    systemctl is-active --quiet configure-efa-fsx-lustre-client.service ||
    echo "gpu-clusters: the EFA client of Lustre is not set up" >&2
fi

# DNS and servers may lag behind the node.
for attempt in $(seq 1 20); do
  if mount -t lustre -o "$LUSTRE_OPTIONS" "$LUSTRE_SOURCE" "$LUSTRE_MOUNT"; then break; fi
  if [ "$attempt" -eq 20 ]; then exit 1; fi
  sleep 15
done

if [ "$LUSTRE_EFA" = true ] && ! lnetctl net show 2>/dev/null | grep -q 'net type: efa'; then
  echo "gpu-clusters: Lustre is mounted over TCP, not over EFA" >&2
fi
