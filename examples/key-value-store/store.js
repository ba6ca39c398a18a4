// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// A key-value store. Clients look up values in the memory of the server, by RDMA Read.
//
//   store.js serve PORT
//   store.js get HOST:PORT KEY [COUNT]
//
// Version 0 means that there is no such key.
//
// The program of the server takes no part in a look-up. It changes the key "clock" all the time, so `get` meets torn
// reads there, and repeats them. All programs go on after the death of their own sidecar or of the other one.

import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { Access, supervise } from 'sidewarp';

const SLOTS = 64;
const SLOT = 16 << 10;
// A slot begins with the version, the lengths of key and value, and a checksum of these three, the key and the value.
const CHECKSUM = 16;
const BODY = 20;
const [role, address, key, count = '1'] = process.argv.slice(2);

/** Returns version, key and value of a slot, or undefined for a slot that was read while the server changed it. */
function decode(slot) {
  const version = Number(slot.readBigUInt64BE());
  const [keyEnd, end] = [BODY + slot.readUInt32BE(8), BODY + slot.readUInt32BE(8) + slot.readUInt32BE(12)];
  const intact = slot.readUInt32BE(CHECKSUM) === crc32(slot.subarray(BODY, end), crc32(slot.subarray(0, CHECKSUM)));
  const found = slot.toString('utf8', BODY, keyEnd);
  return intact || version === 0 ? { version, found, value: slot.toString('utf8', keyEnd, end) } : undefined;
}

/**
 * Returns the place of a key in the table, its version, and its value. The version of a free place is 0.
 *
 * `load(place)` returns what `decode` returns. The server loads from its own memory, and a client from the server's.
 */
async function lookUp(load, key) {
  for (let probe = 0; probe < SLOTS; probe++) {
    const place = ((crc32(key) + probe) % SLOTS) * SLOT;
    const { version, found, value } = await load(place);
    if (version === 0 || found === key) {
      return { place, version, value };
    }
  }
  throw new Error('the table is full');
}

/** Stores the value `valueOf(version)`. */
async function put(table, key, valueOf, pause = 0) {
  const { place, version } = await lookUp(async (at) => decode(await table.load(at, SLOT)), key);
  const value = Buffer.from(valueOf(version + 1));
  const body = Buffer.concat([Buffer.from(key), value]);
  const header = Buffer.alloc(BODY);
  header.writeBigUInt64BE(BigInt(version + 1));
  header.writeUInt32BE(body.length - value.length, 8);
  header.writeUInt32BE(value.length, 12);
  header.writeUInt32BE(crc32(body, crc32(header.subarray(0, CHECKSUM))), CHECKSUM);
  await table.store(body, place + BODY);
  await sleep(pause);
  await table.store(header, place);
}

async function tick(table, listener) {
  while (!listener.isClosed) {
    // A real server does not pause between body and checksum. The pause makes torn reads frequent enough to see.
    await put(table, 'clock', (version) => `${version} `.repeat(1000), 1);
    await sleep(4);
  }
}

async function welcome(listener) {
  for await (const _ of listener) {
    console.log('a client has connected');
  }
}

async function serve(session) {
  const table = await session.region(SLOTS * SLOT, { path: 'table', access: [Access.REMOTE_READ] });
  if (!table.fileExisted) {
    await put(table, 'greeting', () => 'hello, memory');
  }
  // The STag is another one after the death of this sidecar. Clients learn it when they connect again.
  const listener = await session.listen(Number(address), { privateData: table.address.encode() });
  console.log(`listening at port ${listener.port}${table.fileExisted ? ', and the table is still there' : ''}`);
  const ends = [tick(table, listener), welcome(listener)].map((end) => end.finally(() => listener.close()));
  // The clock completes its slot, so that the next attempt finds no torn one.
  await Promise.all(ends).finally(() => Promise.allSettled(ends));
}

// These numbers outlive failures.
let [found, torn, latest] = [0, 0, 0];

async function get(session) {
  const copy = await session.region(SLOT, { path: `copy-${process.pid}` });
  const connection = await session.dial(address);
  const load = async (place) => {
    for (; ; torn++) {
      await connection.read(copy, connection.remote.plus(place));
      const entry = decode(await copy.load());
      if (entry !== undefined) {
        return entry;
      }
    }
  };
  while (found < Number(count)) {
    const { version, value } = await lookUp(load, key);
    // All words of the clock are its version. A torn read would break this rule.
    if (version < latest || (key === 'clock' && value !== `${version} `.repeat(1000))) {
      throw new Error(`version ${version} after ${latest} has the value ${value.slice(0, 20)}`);
    }
    [found, latest] = [found + 1, version];
    if (found % 100 === 0 || found === Number(count)) {
      console.log(`version ${version}: ${value.slice(0, 20)} (${torn} torn reads)`);
    }
  }
}

await supervise(role === 'serve' ? serve : get);
