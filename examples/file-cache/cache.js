// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// A file cache. The server keeps files in regions, and clients read blocks of them by RDMA Read.
//
//   cache.js serve PORT DIRECTORY
//   cache.js get HOST:PORT NAME FILE
//
// The server loads a file when a client asks for it the first time, and keeps it until the end.

import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Access, connect, RejectedError } from 'sidewarp';

const BLOCK = 256 << 10;
const BLOCKS_UNDER_WAY = 8;

/** Returns the private data for a client, address and length of a file, or undefined if there is no such file. */
async function load(session, cache, directory, name) {
  const files = await readdir(directory);
  const path = files.includes(name) ? await realpath(join(directory, name)).catch(() => '') : '';
  // Files of ConfigMaps are links in their volume. No link that leads out of the directory is served.
  if (!path.startsWith(`${directory}/`) || !(await stat(path)).isFile()) {
    return undefined;
  }
  if (!cache.has(name)) {
    const content = await readFile(path);
    // A region has at least one byte.
    const region = await session.region(Math.max(1, content.length), { access: [Access.REMOTE_READ] });
    await region.store(content);
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(content.length));
    cache.set(name, Buffer.concat([region.address.encode(), size]));
    console.log('loaded', name);
  }
  return cache.get(name);
}

async function serve(port, directory) {
  const session = await connect({ wait: 60_000 });
  const listener = await session.listen(port);
  const cache = new Map();
  console.log('listening at port', listener.port);
  while (true) {
    // The private data of the client is the name of the file. The answer of the server needs no message either.
    const incoming = await listener.request();
    try {
      const privateData = await load(session, cache, directory, incoming.privateData.toString());
      await (privateData ? incoming.accept({ privateData }) : incoming.reject(Buffer.from('there is no such file')));
    } catch (error) {
      // The client has left, the shared volume is full, or the file cannot be read. The request lapses.
      console.log('cannot serve:', error.message);
    }
  }
}

async function get(address, name, target) {
  const session = await connect({ wait: 60_000 });
  const window = await session.region(BLOCKS_UNDER_WAY * BLOCK);
  const queue = await session.queue();
  const connection = await session.dial(address, { privateData: Buffer.from(name) });
  const length = Number(connection.privateData.readBigUInt64BE(12));
  const file = await open(target, 'w');
  const read = async (begin) => {
    const part = window.slice(begin % window.length, (begin % window.length) + Math.min(BLOCK, length - begin));
    await queue.read(connection, part, connection.remote.plus(begin));
    return part;
  };
  // Several Reads are under way, so that the network does not wait for this program.
  const reads = [];
  let next = 0;
  for (let begin = 0; begin < length; begin += BLOCK) {
    for (; next < length && next < begin + window.length; next += BLOCK) {
      reads.push(read(next));
    }
    const part = await reads.shift();
    await file.write(await window.load(part.offset, part.length), 0, part.length, begin);
  }
  await file.close();
  await session.close();
  console.log(`${name}: ${length} bytes`);
}

const [role, address, name, target] = process.argv.slice(2);
try {
  await (role === 'serve' ? serve(Number(address), await realpath(name)) : get(address, name, target));
} catch (error) {
  console.error(error instanceof RejectedError ? `rejected: ${error.privateData}` : error);
  process.exit(1);
}
