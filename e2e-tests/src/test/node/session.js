// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// One whole session with a sidecar, with nothing but the contract and gRPC's own library: regions, a connection, a
// pipelined queue, messages, errors. Prints what it saw as one line of JSON.
//
// Arguments: the directory of the .proto files, the API's address, the shared volume, the peer's host and port.

import { createHash } from 'node:crypto';
import { readFileSync, openSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

const [protoDirectory, target, volume, peerAddress, peerPort] = process.argv.slice(2);

const OCTETS = 1 << 20;
const PIECE = 16 * 1024;
const PIECES = OCTETS / PIECE;
const DEADLINE_MILLISECONDS = 60_000;

const definition = protoLoader.loadSync(
  ['device', 'memory', 'connection', 'transfer'].map((name) => `sidewarp/v1/${name}.proto`),
  { includeDirs: [protoDirectory], longs: String, enums: String, defaults: true },
);
const { sidewarp } = grpc.loadPackageDefinition(definition);
const credentials = grpc.credentials.createInsecure();
const device = new sidewarp.v1.DeviceService(target, credentials);
const memory = new sidewarp.v1.MemoryService(target, credentials);
const connections = new sidewarp.v1.ConnectionService(target, credentials);
const transfer = new sidewarp.v1.TransferService(target, credentials);

const deadline = () => ({ deadline: Date.now() + DEADLINE_MILLISECONDS });

function call(service, method, request) {
  return new Promise((resolve, reject) => {
    service[method](request, deadline(), (error, response) => (error ? reject(error) : resolve(response)));
  });
}

async function failureOf(service, method, request) {
  try {
    await call(service, method, request);
    return 'no error';
  } catch (error) {
    return error;
  }
}

// The responses of a stream one by one, however they arrive; undefined at its end.
function responses(stream) {
  const iterator = stream[Symbol.asyncIterator]();
  return async () => (await iterator.next()).value;
}

const sha256 = (octets) => createHash('sha256').update(octets).digest('hex');

const result = {};
result.provider = (await call(device, 'GetDevice', {})).device.provider;

const sessionStream = device.OpenSession({ name: 'node' });
sessionStream.on('error', () => {});
const nextEvent = responses(sessionStream);
const { opened } = await nextEvent();
const session = opened.session;

async function register(request) {
  return (await call(memory, 'RegisterRegion', { session, ...request })).region;
}

const source = await register({ shared: { path: 'node-source', length: OCTETS, create: true } });
const sink = await register({
  shared: { path: 'node-sink', length: OCTETS, create: true },
  access: ['ACCESS_LOCAL_WRITE'],
});
const inbox = await register({ managed: { length: 1000 }, access: ['ACCESS_LOCAL_WRITE'] });
const outbox = await register({ managed: { length: 1000 } });

// The shared region is a file: what is written here is what the peer gets.
const content = Buffer.alloc(OCTETS);
for (let i = 0; i < OCTETS; i += 4) {
  content.writeUInt32BE((i * 2654435761) >>> 0, i);
}
const file = openSync(join(volume, 'node-source'), 'r+');
writeSync(file, content);
closeSync(file);
result.sent = sha256(content);

const queue = transfer.Queue(deadline());
const next = responses(queue);
queue.write({ open: { session, outstanding: 32 } });
let credits = (await next()).opened.credits;
result.credits = credits;

// The peer may send as soon as it has accepted, so the receive is posted before Connect.
const created = (await call(connections, 'CreateConnection', { session })).connection;
const receive = { local: [{ region: inbox.id, offset: 0, length: 1000 }] };
queue.write({ post: { work: [{ id: 4711, connection: created.id, receive }] } });
credits--;
const { connection } = await call(connections, 'Connect', {
  session,
  address: peerAddress,
  port: peerPort,
  privateData: Buffer.from('greetings'),
  connection: created.id,
  afterPosts: 1,
});
const stag = connection.privateData.readUInt32BE(0);
const base = connection.privateData.readBigUInt64BE(4);
result.crc = connection.crc;

const greeting = Buffer.from('hello from node');
await new Promise((resolve, reject) => {
  const store = memory.Store(deadline(), (error, response) => (error ? reject(error) : resolve(response)));
  store.write({ header: { session, region: outbox.id }, data: greeting.subarray(0, 5) });
  store.write({ data: greeting.subarray(5) });
  store.end();
});

const work = [];
for (let i = 0; i < PIECES; i++) {
  const remote = { stag, taggedOffset: (base + BigInt(i * PIECE)).toString() };
  const local = (region) => [{ region: region.id, offset: i * PIECE, length: PIECE }];
  work.push({ id: 2 * i, connection: connection.id, write: { local: local(source), remote } });
  work.push({ id: 2 * i + 1, connection: connection.id, read: { local: local(sink), remote } });
}
work.push({
  id: work.length,
  connection: connection.id,
  send: { local: [{ region: outbox.id, offset: 0, length: greeting.length }], solicited: true },
});

const completed = [];
let posted = 0;
let answer;
while (completed.length < work.length || answer === undefined) {
  const batch = work.slice(posted, posted + credits);
  if (batch.length > 0) {
    posted += batch.length;
    credits -= batch.length;
    queue.write({ post: { work: batch } });
  }
  for (const completion of (await next()).completions.completions) {
    if (completion.status !== 'COMPLETION_STATUS_SUCCESS') {
      throw new Error(`work failed: ${JSON.stringify(completion)}`);
    }
    credits++;
    if (completion.opcode === 'OPCODE_RECEIVE') {
      answer = completion;
    } else {
      completed.push(Number(completion.id));
    }
  }
}
result.completedInOrder = completed.every((id, i) => id === i);
result.receiveId = answer.id;
queue.end();
result.queueEnded = (await next()) === undefined;

const flushed = (await call(transfer, 'Flush', { session, connection: connection.id })).completion;
result.flushed = { opcode: flushed.opcode, status: flushed.status };

result.readBack = sha256(readFileSync(join(volume, 'node-sink')));

let message = Buffer.alloc(0);
for await (const { data } of memory.Load({ session, region: inbox.id, length: answer.length })) {
  message = Buffer.concat([message, data]);
}
result.message = message.toString();

const rejected = await failureOf(connections, 'Connect', {
  session,
  address: peerAddress,
  port: peerPort,
  privateData: Buffer.from('reject me'),
});
result.rejection = {
  code: grpc.status[rejected.code],
  detail: rejected.metadata.get('grpc-status-details-bin').toString().includes('no room'),
};

const unknown = await failureOf(transfer, 'Write', {
  session,
  connection: connection.id,
  work: { local: [{ region: '987654321', length: 1 }], remote: { stag, taggedOffset: '0' } },
});
result.unknownRegion = { code: grpc.status[unknown.code], message: unknown.details };

await call(connections, 'Disconnect', { session, connection: connection.id });
await call(device, 'CloseSession', { session });
while ((await nextEvent()) !== undefined) {
  // Events of the connection come before the end.
}
result.sessionEnded = true;

console.log(JSON.stringify(result));
