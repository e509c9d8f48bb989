#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian's part of the DGL image: `install` brings the packages in where the base lacks them, `slim` drops
# what no CPU training loads.
set -eu

# libtorch links opencv and ffmpeg, which bring in OpenGL drivers, LLVM and more that are never loaded.
# Files are removed rather than packages, so that apt keeps working in images made from this one.
slim() {
  for package in iso-codes libgl1-mesa-dri libllvm15 libmfx1 libtorch-test libz3-4; do
    dpkg-query --listfiles "$package" 2>/dev/null | while read -r path; do
      # libmfx.so is linked by libavcodec; its plug-ins for Intel's video hardware are not
      case "$path" in */libmfx.so* | */libmfx-tracer.so* | */doc/*) continue ;; esac
      if [ -f "$path" ] || [ -L "$path" ]; then rm -f "$path"; fi
    done
  done
  modules=/usr/lib/python3/dist-packages
  rm -rf "$modules"/sympy/integrals/rubi "$modules"/torch/bin/test_*
  find "$modules" -depth -type d -name tests -exec rm -rf {} +
}

install() {
  packages=$(cat "$1")
  # shellcheck disable=SC2086
  if dpkg-query --status $packages >/dev/null 2>&1; then return; fi
  apt-get update
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $packages
  apt-get clean
  rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
  slim
}

"$@"
