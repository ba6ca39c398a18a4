// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Transfers between two packaged sidecars: operations of one call each, queues, receives, errors.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { Access, ClosedError, RejectedError, SidewarpError, Work, WorkError } from 'sidewarp';
import * as v1 from 'sidewarp/v1';
import { PATIENCE, Pair, Sidecar } from './sidecar.js';

let left, right, pair;
const limit = { timeout: 2 * PATIENCE };

before(async () => {
  [left, right] = await Promise.all([Sidecar.start('left'), Sidecar.start('right')]);
}, limit);
after(async () => {
  await left?.stop();
  await right?.stop();
});
beforeEach(async () => {
  pair = await Pair.open(left, right);
}, limit);
afterEach(() => pair.close(), limit);

const textOf = async (region, offset, length) => (await region.load(offset, length)).toString();

test('single calls write, flush and read', limit, async () => {
  const { connection, ours, theirs, remote } = pair;
  await ours.store('hello, memory', 100);
  const written = await connection.write(ours.slice(100, 113), remote.plus(8));
  assert.deepEqual([written.opcode, written.status, written.length], ['WRITE', 'SUCCESS', 13]);
  await connection.flush();
  assert.equal(await textOf(theirs, 8, 13), 'hello, memory');
  await connection.read(ours.slice(0, 6), remote.plus(15));
  assert.equal(await textOf(ours, 0, 6), 'memory');
});

test('a work request gathers several parts', limit, async () => {
  const { connection, ours, theirs, remote } = pair;
  await ours.store('abc def');
  await connection.write([ours.slice(4, 7), ours.slice(0, 3)], remote, { flush: true });
  assert.equal(await textOf(theirs, 0, 6), 'defabc');
});

test('messages arrive in receives that were posted before', limit, async () => {
  const { peerQueue, theirs, ours } = pair;
  let received;
  const [connection, accepted] = await pair.connect((accepting) => {
    received = [0, 100].map((begin) => peerQueue.receive(accepting, theirs.slice(begin, begin + 100)));
  });
  await ours.store('first, second');
  await connection.send(ours.slice(0, 5), { solicited: true });
  await connection.send(ours.slice(7, 13));
  const [first, second] = await Promise.all(received);
  assert.deepEqual([first.length, first.solicited, second.length, second.solicited], [5, true, 6, false]);
  assert.equal(first.connection, accepted.id);
  assert.equal((await theirs.load(0, 5)).toString() + (await theirs.load(100, 6)), 'firstsecond');
  const answer = connection.receive(ours.slice(50, 60));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await accepted.send(theirs.slice(0, 5));
  assert.equal((await answer).length, 5);
});

test('immediate data and atomic operations carry numbers of 64 bits', limit, async () => {
  const { connection, accepted, peerQueue, queue, ours, remote } = pair;
  const receives = [peerQueue.receive(accepted), peerQueue.receive(accepted)];
  await connection.write(ours.slice(0, 8), remote, { immediate: 0xfedcba9876543210n });
  await queue.immediate(connection, 7);
  assert.deepEqual((await Promise.all(receives)).map(({ immediate }) => immediate), [0xfedcba9876543210n, 7n]);
  assert.equal((await connection.fetchAdd(remote, 5)).original, 0n);
  assert.equal((await connection.compareSwap(remote, 5, -1)).original, 5n);
  assert.equal((await queue.fetchAdd(connection, remote, 0, { local: ours.slice(8, 16) })).original, 2n ** 64n - 1n);
  assert.equal(await textOf(ours, 8, 8), Buffer.alloc(8, 0xff).toString());
});

test('a queue carries out more work than it has credits', limit, async () => {
  const { ours, theirs, connection, remote } = pair;
  const queue = await pair.left.queue({ outstanding: 16 });
  assert.ok(queue.credits > 0 && queue.credits <= 16);
  const content = Buffer.from(Array.from({ length: 1000 * 64 }, (_, i) => (i * 7) & 0xff));
  await ours.store(content);
  const writes = Array.from({ length: 1000 }, (_, i) =>
    queue.write(connection, ours.slice(i * 64, (i + 1) * 64), remote.plus(i * 64)),
  );
  assert.equal(queue.outstanding, 1000);
  await Promise.all([...writes, queue.flush(connection)]);
  assert.ok((await theirs.load(0, content.length)).equals(content));
  assert.equal(queue.outstanding, 0);
  await queue.close();
  await assert.rejects(queue.write(connection, ours, remote), ClosedError);
});

test('receives leave a credit to other work', limit, async () => {
  const { connection, ours, remote } = pair;
  const queue = await pair.left.queue({ outstanding: 4 });
  for (let i = 0; i < 10; i++) {
    queue.receive(connection, ours.slice(i * 8, (i + 1) * 8));
  }
  assert.equal((await queue.read(connection, ours.slice(100, 108), remote)).length, 8);
  await connection.close();
});

test('prepared work is posted again and again', limit, async () => {
  const { connection, queue, theirs, ours, remote } = pair;
  const add = Work.fetchAdd(connection, remote, 1);
  for (let i = 0n; i < 5n; i++) {
    assert.equal((await queue.post(add)).original, i);
  }
  await connection.perform(Work.write(connection, ours.slice(0, 8), remote, { flush: true }));
  assert.equal((await theirs.load(0, 8)).readBigUInt64LE(), 0n);
});

test('close of a connection carries out what queues have posted', limit, async () => {
  const { connection, accepted, theirs, ours, remote } = pair;
  const queue = await pair.left.queue({ outstanding: 2 });
  await ours.store(Buffer.alloc(100 * 8, 1));
  const writes = Array.from({ length: 100 }, (_, i) =>
    queue.write(connection, ours.slice(i * 8, (i + 1) * 8), remote.plus(i * 8)),
  );
  await connection.close();
  await Promise.all(writes);
  await accepted.waitClosed(PATIENCE);
  assert.equal(accepted.error, undefined);
  assert.ok((await theirs.load(0, 800)).equals(Buffer.alloc(800, 1)));
});

test('shared receives take messages of several connections', limit, async () => {
  const { right: session, peerQueue, theirs, ours } = pair;
  const shared = await session.sharedReceives(4);
  const events = session.events();
  await shared.arm(3);
  const received = [0, 1, 2].map((i) => peerQueue.receive(shared, theirs.slice(i * 8, (i + 1) * 8)));
  const listener = await session.listen(0, { address: '127.0.0.1', acceptOptions: { sharedReceiveQueue: shared.id } });
  const connections = [];
  for (let i = 0; i < 2; i++) {
    const [dialled, accepted] = await Promise.all([pair.left.dial(`127.0.0.1:${listener.port}`), listener.accept()]);
    connections.push(accepted.id);
    await dialled.send(ours.slice(0, 4));
  }
  const messages = await Promise.all(received.slice(0, 2));
  assert.deepEqual(messages.map(({ connection }) => connection), connections);
  for await (const event of events) {
    if (event.case === 'sharedReceiveQueueLimit') {
      assert.equal(event.value.limit, 3);
      break;
    }
  }
});

test('managed memory is stored, moved and loaded', limit, async () => {
  const { left: session, connection, remote } = pair;
  const managed = await session.managedRegion(300_000);
  const content = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
  await managed.store(content);
  await connection.write(managed, remote, { flush: true });
  await managed.store(Buffer.alloc(300_000));
  await connection.read(managed, remote);
  assert.ok((await managed.load()).equals(content));
  await managed.close();
  await assert.rejects(managed.load(), ClosedError);
});

test('errors carry code, retry and the error of the protocol', limit, async () => {
  const { connection, ours, remote } = pair;
  await assert.rejects(connection.read(ours.slice(0, 8), { stag: 0xdeadbe00, taggedOffset: 0 }), (error) => {
    assert.ok(error instanceof SidewarpError && error.isRemoteAccess, error);
    assert.deepEqual([error.code, error.retry, error.retryable], ['PERMISSION_DENIED', 'never', false]);
    assert.deepEqual([error.rdma.layer, error.rdma.type, error.rdma.code, error.rdma.remote], [0, 1, 0, true]);
    return /Invalid STag, reported by the peer/.test(error.message);
  });
  await connection.waitClosed(PATIENCE);
  await assert.rejects(connection.write(ours.slice(0, 8), remote), { retry: 'afterReconnecting' });
});

test('failed work of a queue has its completion', limit, async () => {
  const { connection, queue, ours } = pair;
  await assert.rejects(queue.read(connection, ours.slice(0, 8), { stag: 0xdeadbe00, taggedOffset: 0 }), (error) => {
    assert.ok(error instanceof WorkError && error.isRemoteAccess, error);
    return error.completion.status === 'REMOTE_ACCESS_ERROR' && error.retry === 'never';
  });
  await assert.rejects(queue.read(connection, ours.slice(0, 8), pair.remote), { retry: 'afterReconnecting' });
});

test('a misspelt field never reaches the sidecar', limit, async () => {
  const { connection, ours, left: session, theirs } = pair;
  await ours.store('x');
  const remote = { stag: theirs.description.stag, tagged_offset: 64n };
  assert.throws(() => connection.write(ours.slice(0, 1), remote), /did you mean "taggedOffset"/);
  const local = [{ region: ours.id, length: 1 }];
  const request = { connection: connection.id, work: { local, remote } };
  await assert.rejects(session.call(v1.TransferService.method.write, request), /did you mean "taggedOffset"/);
  assert.equal((await theirs.load(0, 1))[0], 0);
  assert.throws(() => connection.write(ours.slice(0, 1), pair.remote, { imediate: 5 }), /did you mean "immediate"/);
  await assert.rejects(session.queue({ outstandin: 1 }), /did you mean "outstanding"/);
  await assert.rejects(session.call(v1.DeviceService.method.getDevice, {}, { timout: 1 }), /did you mean "timeout"/);
});

test('a value that does not fit leaves the other work of a queue alone', limit, async () => {
  const { connection, queue, ours, remote } = pair;
  const part = ours.slice(0, 8);
  const write = queue.write(connection, part, remote);
  assert.throws(() => queue.send(connection, part, { invalidate: -1 }), /invalidateStag cannot be -1/);
  assert.throws(() => queue.enable(connection, ours, 2 ** 32), /key cannot be 4294967296/);
  assert.throws(() => queue.read(connection, part, remote.plus(2n ** 64n)), /taggedOffset cannot be/);
  assert.throws(() => queue.read(connection, part, remote, { fence: 'no' }), /fence cannot be "no"/);
  assert.throws(() => queue.fetchAdd(connection, remote, 2n ** 64n), RangeError);
  assert.throws(() => queue.immediate(connection, -(2n ** 63n) - 1n), RangeError);
  assert.equal((await write).status, 'SUCCESS');
  assert.equal((await queue.fetchAdd(connection, remote, 2n ** 64n - 1n)).status, 'SUCCESS');
});

test('a rejection brings the private data of the peer', limit, async () => {
  const dial = pair.left.dial(`127.0.0.1:${pair.listener.port}`, { privateData: Buffer.from('may I?') });
  const rejected = assert.rejects(dial, (error) => {
    assert.ok(error instanceof RejectedError);
    return error.code === 'ABORTED' && error.privateData.toString() === 'no';
  });
  const incoming = await pair.listener.request(PATIENCE);
  assert.equal(incoming.privateData.toString(), 'may I?');
  await incoming.reject(Buffer.from('no'));
  await rejected;
});

test('a listener yields connections until it is closed', limit, async () => {
  const listener = await pair.right.listen(0, { address: '127.0.0.1', privateData: Buffer.from('welcome') });
  const accepted = [];
  const serving = (async () => {
    for await (const connection of listener) {
      accepted.push(connection);
    }
  })();
  for (let i = 0; i < 3; i++) {
    const connection = await pair.left.dial(`127.0.0.1:${listener.port}`);
    assert.equal(connection.privateData.toString(), 'welcome');
  }
  await listener.close();
  await serving;
  assert.equal(accepted.length, 3);
});

test('parts outside of a region are refused', limit, async () => {
  const { ours } = pair;
  assert.throws(() => ours.slice(0, (1 << 20) + 1), /has 1048576 bytes; slice\(0, 1048577\)/);
  await assert.rejects(ours.store('xy', (1 << 20) - 1), RangeError);
  await assert.rejects(ours.load(-1, 1), RangeError);
  await ours.close();
  await assert.rejects(ours.load(0, 1), ClosedError);
});

test('access rights and descriptions are those of the contract', limit, async () => {
  const region = await pair.left.region(4096, { access: [Access.REMOTE_READ], path: 'named' });
  assert.deepEqual([region.path, region.fileExisted], ['named', false]);
  assert.deepEqual(region.description.access, [Access.REMOTE_READ]);
  assert.ok((await pair.left.regions()).some(({ id, path }) => id === region.id && path === 'named'));
  const info = await pair.connection.info();
  assert.equal(info.remotePort, pair.listener.port);
  assert.equal((await pair.left.device()).provider, 'software');
  await assert.rejects(pair.left.region(4096, { path: 'named' }), { code: 'ALREADY_EXISTS' });
  await region.close();
});
