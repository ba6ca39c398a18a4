// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// table.js tcp|sctp DIR: medians of what `compare` measured, as Markdown.
// table.js --replace tcp|sctp TABLE FILE: puts the table between the marks of FILE.
'use strict';
const fs = require('fs');
const path = require('path');

if (process.argv[2] === '--replace') {
  replace(...process.argv.slice(3));
  process.exit(0);
}

const [llp, dir] = process.argv.slice(2);
const size = octets => (octets >= 1 << 20 ? `${octets >> 20} MiB` : octets >= 1024 ? `${octets >> 10} KiB` : `${octets} B`);
const time = micros => (micros >= 10000 ? `${(micros / 1000).toFixed(1)} ms` : `${micros.toFixed(micros < 100 ? 1 : 0)} us`);
const rate = gbits => gbits.toFixed(gbits < 1 ? 3 : 1);

const groups = new Map();
for (const line of fs.readFileSync(path.join(dir, 'results'), 'utf8').split('\n').filter(Boolean)) {
  const result = JSON.parse(line);
  const key = `${result.mode} ${result.operation} ${result.size}`;
  groups.set(key, [...(groups.get(key) ?? []), result]);
}
const of = (group, get) => median(group.map(get));
const groupsOf = mode => [...groups.values()].filter(group => group[0].mode === mode);

if (llp === 'tcp') {
  besideIperf();
} else {
  besideUsrsctp();
}

function replace(which, table, file) {
  const begin = `<!-- begin: compare ${which} -->`;
  const end = `<!-- end: compare ${which} -->`;
  const text = fs.readFileSync(file, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(`${file} has no ${begin} ... ${end}`);
  }
  fs.writeFileSync(file, text.slice(0, from + begin.length) + '\n' + fs.readFileSync(table, 'utf8') + text.slice(to));
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length % 2 ? sorted[(sorted.length - 1) / 2] : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
}

/** What the files of a measurement hold, one for each round. */
function rounds(name) {
  return fs
    .readdirSync(dir)
    .filter(file => file.startsWith(`${name}-`) && /^\d+\.json$/.test(file.slice(name.length + 1)))
    .map(file => JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8')));
}

/** A Markdown table; all columns but the first ones that are text are numbers. */
function print(text, header, rows) {
  console.log(`| ${header.join(' | ')} |`);
  console.log(`|${header.map((_, i) => (i < text ? '---' : '--:')).join('|')}|`);
  rows.forEach(row => console.log(`| ${row.join(' | ')} |`));
}

function cpu(group) {
  return group[0].size < 4096 ? '' : of(group, r => r.cpu_seconds_per_gib.total).toFixed(2);
}

function messages(group) {
  return Math.round(of(group, r => r.messages_per_second));
}

function latencies(group) {
  return ['p50', 'p99', 'p99_9'].map(name => time(of(group, r => r.latency_microseconds[name])));
}

function besideIperf() {
  const lengths = ['4K', '64K', '128K', '1M'];
  const iperf = lengths.map(length => rounds(`iperf3-${length}`).map(({ end }) => end));
  const gbits = iperf.map(ends => median(ends.map(end => end.sum_received.bits_per_second / 1e9)));
  const cpuPerGib = iperf.map(ends => median(ends.map(({ sum_received: sum, cpu_utilization_percent: used }) =>
    (((used.host_total + used.remote_total) / 100) * sum.seconds) / (sum.bytes / 2 ** 30))));
  const reference = gbits[lengths.indexOf('128K')];

  print(1, ['one iperf3 stream', ...lengths.map(length => `-l ${length}`)], [
    ['Gbit/s', ...gbits.map(value => value.toFixed(1))],
    ['CPU s/GiB, both processes', ...cpuPerGib.map(value => value.toFixed(2))],
  ]);
  console.log();
  print(1, ['throughput', 'depth', 'Gbit/s', 'of iperf3 -l 128K', 'messages/s', 'CPU s/GiB, all four processes'],
    groupsOf('throughput').map(group => {
      const value = of(group, r => r.gigabits_per_second);
      return [`${group[0].operation} ${size(group[0].size)}`, group[0].depth, rate(value),
        (value / reference).toFixed(2), messages(group), cpu(group)];
    }));
  console.log();
  print(2, ['latency', 'what', 'p50', 'p99', 'p99.9'], groupsOf('latency').map(group =>
    [`${group[0].operation} ${size(group[0].size)}`, group[0].latency_microseconds.kind, ...latencies(group)]));
}

function besideUsrsctp() {
  const bare = (test, octets, crc, get) => of(rounds(`usrsctp-${test}-${octets}-${crc}`), get);
  print(1, ['throughput', 'depth', 'Gbit/s', 'usrsctp', 'of it', 'usrsctp without CRC', 'of it', 'messages/s',
    'CPU s/GiB, all four processes'], groupsOf('throughput').map(group => {
    const value = of(group, r => r.gigabits_per_second);
    const [withCrc, without] = ['crc', 'no-crc'].map(crc =>
      bare('throughput', group[0].size, crc, r => r.gigabits_per_second));
    return [`${group[0].operation} ${size(group[0].size)}`, group[0].depth, rate(value), rate(withCrc),
      (value / withCrc).toFixed(2), rate(without), (value / without).toFixed(2), messages(group), cpu(group)];
  }));
  console.log();
  print(2, ['latency', 'what', 'p50', 'p99', 'p99.9', 'usrsctp p50', 'usrsctp p99'], groupsOf('latency').map(group =>
    [`${group[0].operation} ${size(group[0].size)}`, group[0].latency_microseconds.kind, ...latencies(group),
      ...['p50', 'p99'].map(name => time(bare('latency', group[0].size, 'crc', r => r[name])))]));
}
