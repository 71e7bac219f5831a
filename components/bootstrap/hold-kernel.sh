#!/usr/bin/env bash
# Holds the kernel: a new one would leave GPU driver and Lustre client behind (aws-parallelcluster#2095).
set -euo pipefail
for unit in unattended-upgrades.service apt-daily.timer apt-daily-upgrade.timer; do
  systemctl disable --now "$unit" 2>/dev/null || true
done
{ dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 'linux-image*' 'linux-headers*' 'linux-modules*' 2>/dev/null || true; } |
  awk '$1 ~ /^.i/ { print $2 }' | xargs -r apt-mark hold >/dev/null
