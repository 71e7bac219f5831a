"""How Lustre is mounted, on both clouds."""

MOUNT_OPTIONS = "noatime,flock,lazystatfs"
"""Source: FSx for Lustre user guide, mounting from an instance."""
