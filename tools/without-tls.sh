#!/usr/bin/env bash
# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes a connection of a capture without its TLS, so that Wireshark and tshark decode MPA, DDP and RDMAP. Their decoder
# of MPA works in TCP only. Times, addresses and TCP options of the result are made up.
#
#   tools/without-tls.sh CAPTURE KEY-LOG RESULT [STREAM]
#
# STREAM is the number of the TCP connection in the capture, the value of tcp.stream; 0 without it.
set -euo pipefail

if [ $# -lt 3 ]; then
  sed -n 's/^#   //p' "$0" >&2
  exit 2
fi

tshark -r "$1" -o "tls.keylog_file:$(realpath "$2")" -q -z "follow,tls,raw,${4:-0}" 2>/dev/null | awk '
  /^\t?([0-9a-f][0-9a-f])+$/ {
    print /^\t/ ? "O" : "I"
    sub(/^\t/, "")
    gsub(/../, "& ")
    print "000000 " $0
  }' | text2pcap -q -D -4 10.0.0.2,10.0.0.1 -T 7174,40000 - "$3"
