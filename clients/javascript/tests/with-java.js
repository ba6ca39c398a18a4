// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// One session whose peer is a program in Java (JavaScriptClientIT). Prints what it saw as one line of JSON.
//
// Arguments: the address of the peer. SIDEWARP_API and SIDEWARP_VOLUME tell where the sidecar is.

import { createHash } from 'node:crypto';
import { connect } from 'sidewarp';

const [peer] = process.argv.slice(2);
const PIECE = 16 * 1024;
const PIECES = 64;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

const session = await connect({ name: 'with-java' });
const source = await session.region(PIECE * PIECES);
const sink = await session.region(PIECE * PIECES);
const mail = await session.managedRegion(1000);
const content = Buffer.from(Uint8Array.from({ length: source.length }, (_, i) => (i * 7) ^ (i >> 8)));
await source.store(content);

const queue = await session.queue({ outstanding: 32 });
const created = await session.createConnection();
const answer = queue.receive(created, mail.slice(0, 500));
const connection = await session.dial(peer, { connection: created, privateData: Buffer.from('greetings') });
const work = [];
for (let i = 0; i < PIECES; i++) {
  const [begin, end] = [i * PIECE, (i + 1) * PIECE];
  work.push(queue.write(connection, source.slice(begin, end), connection.remote.plus(begin)));
  work.push(queue.read(connection, sink.slice(begin, end), connection.remote.plus(begin)));
}
await mail.store('hello from node', 500);
work.push(queue.send(connection, mail.slice(500, 515), { solicited: true }));
await Promise.all(work);
const message = await mail.load(0, (await answer).length);
await connection.flush();

const failure = await session.dial(peer, { privateData: Buffer.from('reject me') }).catch((error) => error);
const result = {
  message: message.toString(),
  sent: sha256(content),
  readBack: sha256(await sink.load()),
  crc: connection.description.crc,
  rejection: { code: failure.code, answer: failure.privateData.toString() },
};
await session.close();
console.log(JSON.stringify(result));
