#!/usr/bin/env bash
# Holds the kernel: a new one would leave GPU driver and Lustre client behind (aws-parallelcluster#2095).
set -euo pipefail
systemctl disable --now unattended-upgrades.service apt-daily.timer apt-daily-upgrade.timer 2>/dev/null || true
dpkg-query -W -f '${Package}\n' 'linux-image-*' 'linux-headers-*' 'linux-modules-*' 2>/dev/null |
  xargs -r apt-mark hold >/dev/null
