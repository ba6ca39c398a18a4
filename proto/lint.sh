#!/usr/bin/env bash
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks the contract with buf: format, lint, and no breaking change against baseline.binpb. Needs no git history. Needs
# no network once buf is downloaded. See "Changing the contract" in README.md.
#
#   proto/lint.sh            checks the contract
#   proto/lint.sh --accept   makes the current contract the baseline
set -euo pipefail

readonly EX_USAGE=64
readonly EX_UNAVAILABLE=69
readonly BASELINE=baseline.binpb
readonly TOOLS=target/buf

fail() {
  printf 'proto/lint.sh: %s\n' "$2" >&2
  exit "$1"
}

# Sets BUF to the path of buf. Downloads buf unless the version of package-lock.json is present.
need_buf() {
  local platform
  case "$(uname -s) $(uname -m)" in
    'Linux x86_64') platform=linux-x64 ;;
    'Linux aarch64') platform=linux-aarch64 ;;
    *) fail "$EX_UNAVAILABLE" "checks the contract on Linux (x86-64 or arm64) only; package.json pins buf for these" ;;
  esac
  BUF=$TOOLS/node_modules/@bufbuild/buf-$platform/bin/buf
  if [ -x "$BUF" ] && cmp -s package-lock.json "$TOOLS/package-lock.json"; then
    return
  fi
  command -v npm >/dev/null \
    || fail "$EX_UNAVAILABLE" "npm is needed to get buf. Install it (Debian and Ubuntu: apt-get install npm)."
  mkdir -p "$TOOLS"
  cp package.json package-lock.json "$TOOLS"
  if ! npm ci --prefix "$TOOLS" --no-audit --no-fund --loglevel=error </dev/null >&2; then
    rm -f "$TOOLS/package-lock.json"
    fail "$EX_UNAVAILABLE" "npm could not download buf; see above. Check that the npm registry can be reached."
  fi
}

check() {
  local status=0
  "$BUF" format --diff --exit-code --exclude-path src/main/proto/google || {
    echo "proto/lint.sh: format the .proto files as shown above, or with: $BUF format -w" >&2
    status=1
  }
  "$BUF" lint || status=1
  "$BUF" breaking --against "$BASELINE" || {
    echo "proto/lint.sh: this change breaks programs that use the current contract." \
      "Add to the contract instead of changing it, or begin package v2 (see README.md)." >&2
    status=1
  }
  return "$status"
}

cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
case "${1:-}" in
  '')
    need_buf
    check
    ;;
  --accept)
    need_buf
    "$BUF" build --exclude-source-info -o "$BASELINE"
    ;;
  *)
    fail "$EX_USAGE" "unknown argument $1. Use no argument, or --accept."
    ;;
esac
