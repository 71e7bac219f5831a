#!/usr/bin/env bash
# Makes the node's NVMe disks one RAID-0 scratch at /scratch, at every boot: they come back empty after a stop.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/gpu-clusters/boot.env

mkdir -p /scratch
if mountpoint -q /scratch; then exit 0; fi

local_disk='Amazon EC2 NVMe Instance Storage|Microsoft NVMe Direct Disk'
udevadm settle
mapfile -t disks < <(lsblk -dnpo NAME,MODEL | awk -v model="$local_disk" '$0 ~ model { print $1 }')
if [ "${#disks[@]}" -ne "$LOCAL_DISKS" ]; then
  echo "gpu-clusters: ${#disks[@]} NVMe disks found, $LOCAL_DISKS expected" >&2
fi
if [ "${#disks[@]}" -eq 0 ]; then exit 0; fi

# Some images gather the disks themselves (/opt/dlami/nvme, /mnt/resource_nvme); theirs is then used.
mounted=$(lsblk -nro MOUNTPOINT "${disks[@]}" | awk 'NF && !seen++')
if [ -n "$mounted" ]; then
  mount --bind "$mounted" /scratch
  chmod 1777 /scratch
  exit 0
fi

# What stands on them already: our array after a restart, or one that the image did not mount.
device=$(lsblk -nrpo NAME,TYPE "${disks[@]}" | awk '$2 != "disk" && $2 != "part" && !seen++ { print $1 }')
if [ -z "$device" ] && [ "${#disks[@]}" -eq 1 ]; then
  device=${disks[0]}
elif [ -z "$device" ]; then
  device=/dev/md/scratch
  if ! command -v mdadm >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o DPkg::Lock::Timeout=600 update
    apt-get -o DPkg::Lock::Timeout=600 install -y mdadm
  fi
  mdadm --assemble --run "$device" "${disks[@]}" 2>/dev/null ||
    mdadm --create "$device" --run --level=0 --raid-devices="${#disks[@]}" "${disks[@]}"
fi
blkid "$device" >/dev/null 2>&1 || mkfs.ext4 -q -m 0 -E nodiscard,lazy_itable_init=1 "$device"
mount -o noatime "$device" /scratch
chmod 1777 /scratch
