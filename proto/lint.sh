#!/usr/bin/env bash
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Checks the contract with buf: format, lint, and no breaking change against baseline.binpb. Needs no git history and,
# once buf is there, no network. See "Changing the contract" in README.md.
#
#   proto/lint.sh            checks
#   proto/lint.sh --accept   makes the present contract the baseline
set -euo pipefail

readonly EX_USAGE=64
readonly EX_UNAVAILABLE=69
readonly BASELINE=baseline.binpb
readonly TOOLS=target/buf

fail() {
  printf 'proto/lint.sh: %s\n' "$2" >&2
  exit "$1"
}

# Sets BUF to the program, and gets it when it is not there in the version of package-lock.json.
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
    fail "$EX_UNAVAILABLE" "npm could not get buf; see above. Is the npm registry within reach?"
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
    echo "proto/lint.sh: programs built for the present contract would break; add instead of changing, or begin" \
      "package v2 (see README.md)" >&2
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
    fail "$EX_USAGE" "takes nothing, or --accept"
    ;;
esac
