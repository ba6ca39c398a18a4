// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0
//
// table.js DIR: medians of what `compare` measured, as Markdown.
// table.js --replace TABLE FILE: puts the table between the marks of FILE.
'use strict';
const fs = require('fs');
const path = require('path');

const BEGIN = '<!-- begin: compare -->';
const END = '<!-- end: compare -->';

if (process.argv[2] === '--replace') {
  const [table, file] = process.argv.slice(3);
  const text = fs.readFileSync(file, 'utf8');
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) {
    throw new Error(`${file} has no ${BEGIN} ... ${END}`);
  }
  fs.writeFileSync(file, text.slice(0, from + BEGIN.length) + '\n' + fs.readFileSync(table, 'utf8') + text.slice(to));
  process.exit(0);
}

const dir = process.argv[2];

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length % 2 ? sorted[(sorted.length - 1) / 2] : (sorted[sorted.length / 2 - 1] + sorted[sorted.length / 2]) / 2;
}

const LENGTHS = ['4K', '64K', '128K', '1M'];
const iperf = Object.fromEntries(LENGTHS.map(length => [length, { gbits: [], cpuPerGib: [] }]));
for (const file of fs.readdirSync(dir)) {
  const match = /^iperf3-(.*)-\d+\.json$/.exec(file);
  if (match) {
    const { end } = JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'));
    const { seconds, bytes, bits_per_second: bits } = end.sum_received;
    const { host_total: client, remote_total: server } = end.cpu_utilization_percent;
    iperf[match[1]].gbits.push(bits / 1e9);
    iperf[match[1]].cpuPerGib.push((((client + server) / 100) * seconds) / (bytes / 2 ** 30));
  }
}

const groups = new Map();
for (const line of fs.readFileSync(path.join(dir, 'results'), 'utf8').split('\n').filter(Boolean)) {
  const result = JSON.parse(line);
  const key = `${result.mode} ${result.operation} ${result.size}`;
  if (!groups.has(key)) {
    groups.set(key, []);
  }
  groups.get(key).push(result);
}

const of = (group, get) => median(group.map(get));
const size = octets => (octets >= 1 << 20 ? `${octets >> 20} MiB` : octets >= 1024 ? `${octets >> 10} KiB` : `${octets} B`);
const time = micros => (micros >= 10000 ? `${(micros / 1000).toFixed(1)} ms` : `${micros.toFixed(micros < 100 ? 1 : 0)} us`);
const reference = median(iperf['128K'].gbits);

console.log('| one iperf3 stream | ' + LENGTHS.map(length => `-l ${length}`).join(' | ') + ' |');
console.log('|---|' + LENGTHS.map(() => '--:').join('|') + '|');
console.log('| Gbit/s | ' + LENGTHS.map(length => median(iperf[length].gbits).toFixed(1)).join(' | ') + ' |');
console.log('| CPU s/GiB, both processes | '
  + LENGTHS.map(length => median(iperf[length].cpuPerGib).toFixed(2)).join(' | ') + ' |');
console.log();
console.log('| throughput | depth | Gbit/s | of iperf3 -l 128K | messages/s | CPU s/GiB, all four processes |');
console.log('|---|--:|--:|--:|--:|--:|');
for (const [key, group] of groups) {
  if (key.startsWith('throughput')) {
    const gbits = of(group, r => r.gigabits_per_second);
    const cpu = group[0].size < 4096 ? '' : of(group, r => r.cpu_seconds_per_gib.total).toFixed(2);
    console.log(`| ${group[0].operation} ${size(group[0].size)} | ${group[0].depth} | ${gbits.toFixed(gbits < 1 ? 3 : 1)} `
      + `| ${(gbits / reference).toFixed(2)} | ${Math.round(of(group, r => r.messages_per_second))} | ${cpu} |`);
  }
}
console.log();
console.log('| latency | what | p50 | p99 | p99.9 |');
console.log('|---|---|--:|--:|--:|');
for (const [key, group] of groups) {
  if (key.startsWith('latency')) {
    const at = name => time(of(group, r => r.latency_microseconds[name]));
    console.log(`| ${group[0].operation} ${size(group[0].size)} | ${group[0].latency_microseconds.kind} `
      + `| ${at('p50')} | ${at('p99')} | ${at('p99_9')} |`);
  }
}
