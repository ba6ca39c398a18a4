// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Writes a text into the memory of another process, and reads it back from there.
//
//   hello.js serve PORT
//   hello.js greet HOST:PORT [TEXT]
//
// The text has at most 4095 bytes.

import { Access, connect } from 'sidewarp';

const SIZE = 4096;
const [role, address, text = 'hello, memory'] = process.argv.slice(2);

async function serve(port) {
  const session = await connect({ wait: 60_000 });
  const inbox = await session.region(SIZE, { access: [Access.REMOTE_WRITE, Access.REMOTE_READ] });
  // Each peer that connects gets the address of the region as private data. It needs no other message.
  const listener = await session.listen(port, { privateData: inbox.address.encode() });
  console.log('listening at port', listener.port);
  const connection = await listener.accept();
  // This program takes no part in the transfer. It only waits until the peer has finished.
  await connection.waitClosed();
  console.log('received:', (await inbox.load()).toString().split('\0')[0]);
  await session.close();
}

async function greet() {
  const session = await connect({ wait: 60_000 });
  const region = await session.region(2 * SIZE);
  const octets = Buffer.from(text);
  await region.store(octets);
  const connection = await session.dial(address);
  await connection.write(region.slice(0, octets.length), connection.remote);
  // A Write is complete when its memory may be changed again. After the flush, the peer has the text.
  await connection.flush();
  await connection.read(region.slice(SIZE, SIZE + octets.length), connection.remote);
  console.log('read back:', (await region.load(SIZE, octets.length)).toString());
  await session.close();
}

await (role === 'serve' ? serve(Number(address)) : greet());
