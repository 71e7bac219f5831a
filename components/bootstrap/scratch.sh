#!/usr/bin/env bash
# Makes the node's NVMe disks one RAID-0 scratch at /scratch, at every boot: they come back empty after a stop.
set -euo pipefail
# shellcheck source=/dev/null
. /etc/gpu-clusters/boot.env

mkdir -p /scratch
if mountpoint -q /scratch; then exit 0; fi

# Some images gather the disks themselves; theirs is then used.
for made in /opt/dlami/nvme /mnt/resource_nvme; do
  if mountpoint -q "$made"; then
    mount --bind "$made" /scratch
    chmod 1777 /scratch
    exit 0
  fi
done

disks=()
for link in /dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_* /dev/disk/by-id/nvme-Microsoft_NVMe_Direct_Disk_*; do
  [ -e "$link" ] || continue
  disk=$(readlink -f "$link")
  case "$disk" in *p[0-9]*) continue ;; esac
  case " ${disks[*]-} " in *" $disk "*) continue ;; esac
  disks+=("$disk")
done

if [ "${#disks[@]}" -ne "$LOCAL_DISKS" ]; then
  echo "gpu-clusters: ${#disks[@]} NVMe disks found, $LOCAL_DISKS expected" >&2
fi
if [ "${#disks[@]}" -eq 0 ]; then exit 0; fi

device=/dev/md/scratch
if [ "${#disks[@]}" -eq 1 ]; then
  device=${disks[0]}
elif [ ! -e "$device" ]; then
  command -v mdadm >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y mdadm
  mdadm --assemble --run "$device" "${disks[@]}" 2>/dev/null ||
    mdadm --create "$device" --run --level=0 --raid-devices="${#disks[@]}" "${disks[@]}"
fi
blkid "$device" >/dev/null 2>&1 || mkfs.ext4 -q -m 0 -E nodiscard,lazy_itable_init=1 "$device"
mount -o noatime,discard "$device" /scratch
chmod 1777 /scratch
