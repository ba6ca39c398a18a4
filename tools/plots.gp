# Copyright The Sidewarp Authors
# SPDX-License-Identifier: Apache-2.0
#
# Draws a plot of docs/performance.md: gnuplot -c tools/plots.gp throughput|rate|latency DATA SVG
# DATA comes from `./sidewarp bench --write`. Its columns: subject, metric, size, depth, median, least, greatest.

set datafile separator tab
set datafile missing NaN
set terminal svg size 760,520 font "sans-serif,12" background "white"
set output ARG3
set key below
set grid ytics
set logscale y
set format y "%.0s%c"

# Returns the value of a column if the line has this subject and metric.
pick(subject, metric, value) = strcol(1) eq subject && strcol(2) eq metric ? column(value) : NaN

if (ARG1 eq "throughput") {
  set title "Throughput of one connection, CRC on"
  set xlabel "bytes of a message"
  set ylabel "Gbit/s"
  set logscale x 2
  set format x "%.0b%B"
  subjects = '"engine write, adaptive" "engine read, adaptive" "nio send, sleep" "grpc-java send, sleep" "iperf3 -l 128K send, sleep" "iperf3 -l 1024K send, sleep" "iperf3 -l 1024K -C reno send, sleep"'
  plot for [s in subjects] ARG2 using (pick(s, "gigabits_per_second", 3)):5:6:7 with yerrorlines title s
}
if (ARG1 eq "rate") {
  set title "Messages of 64 bytes"
  set xlabel "messages in flight"
  set ylabel "messages a second"
  set logscale x 2
  subjects = '"engine write, adaptive" "engine write, yield" "engine read, adaptive"'
  plot for [s in subjects] ARG2 using (pick(s, "messages_per_second", 4)):5:6:7 with yerrorlines title s
}
if (ARG1 eq "latency") {
  set title "Latency of 8 bytes"
  set ylabel "us"
  set xrange [0.5:3.5]
  set xtics ("p50" 1, "p99" 2, "p99.9" 3)
  percentile(metric) = metric eq "p50_microseconds" ? 1 : metric eq "p99_microseconds" ? 2 : metric eq "p99_9_microseconds" ? 3 : NaN
  subjects = '"engine write, spin" "engine send, spin" "engine read, spin" "engine send, sleep" "engine read, sleep" "nio send, spin" "nio send, sleep" "grpc-java send, sleep"'
  plot for [s in subjects] ARG2 using (strcol(1) eq s ? percentile(strcol(2)) : NaN):5:6:7 with yerrorlines title s
}
