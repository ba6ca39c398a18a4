// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Sessions and their end: by close, with the program, with a sidecar that dies.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { SessionLostError, SidewarpError, UnconfirmedError, connect, supervise } from 'sidewarp';
import * as v1 from 'sidewarp/v1';
import { ALL, PATIENCE, Pair, Sidecar } from './sidecar.js';

let mortal, other;
const limit = { timeout: 2 * PATIENCE };

before(async () => {
  [mortal, other] = await Promise.all([Sidecar.start('mortal'), Sidecar.start('other')]);
}, limit);
after(async () => {
  await mortal?.stop();
  await other?.stop();
});
beforeEach(async () => {
  if (mortal.process.signalCode !== null) {
    await mortal.start();
  }
}, limit);

test('the end of a connection is told to the peer', limit, async () => {
  const pair = await Pair.open(mortal, other);
  await pair.connection.write(pair.ours.slice(0, 8), pair.remote);
  const events = pair.right.events();
  await pair.connection.close();
  await pair.accepted.waitClosed(PATIENCE);
  assert.deepEqual([pair.accepted.state, pair.accepted.error], ['CLOSED', undefined]);
  for await (const event of events) {
    if (event.case === 'connection' && event.value.connection === pair.accepted.id) {
      break;
    }
  }
  await pair.close();
});

test('events end with the session', limit, async () => {
  const session = await other.connect();
  const events = (async () => {
    for await (const event of session.events()) {
      assert.fail(`unexpected event ${event.case}`);
    }
    return 'ended';
  })();
  await session.close();
  assert.equal(await events, 'ended');
  await assert.rejects(session.region(4096), /is closed; open another one/);
});

test('close throws when data may be lost', limit, async () => {
  const pair = await Pair.open(mortal, other);
  await pair.queue.write(pair.connection, pair.ours.slice(0, 8), { stag: 0xdeadbe00, taggedOffset: 0 });
  await assert.rejects(pair.connection.close(), (error) => {
    assert.ok(error instanceof SidewarpError);
    return /may not have arrived/.test(error.message);
  });
  await pair.close();
});

test('close does not wait for the credits of a peer that stands still', limit, async () => {
  const pair = await Pair.open(other, mortal);
  // Longer than any timer: no limit.
  const session = await other.connect({ timeout: Infinity });
  const dialing = session.dial(`127.0.0.1:${pair.listener.port}`);
  await pair.listener.accept();
  const connection = await dialing;
  const local = await session.region(4096);
  const queue = await session.queue({ outstanding: 2 });
  session.transport.timeout = 2000;
  await queue.write(connection, local, pair.remote);
  mortal.process.kill('SIGSTOP');
  try {
    const reads = Array.from({ length: 10 }, () => queue.read(connection, local, pair.remote));
    await assert.rejects(connection.close(), (error) => {
      assert.ok(error instanceof UnconfirmedError);
      return /the credits for the work of connection \d+ did not come within 2000 ms/.test(error.message);
    });
    await assert.rejects(reads.at(-1), { name: 'WorkError' });
  } finally {
    mortal.process.kill('SIGCONT');
  }
  await session.close();
  await pair.close();
});

test('the volume that is not mounted is explained', limit, async () => {
  const session = await connect({ api: other.api, volume: '/nonexistent' });
  await assert.rejects(session.region(4096), /SIDEWARP_VOLUME/);
  assert.deepEqual(await session.regions(), []);
  await session.close();
});

test('the death of the sidecar fails everything under way', limit, async () => {
  const pair = await Pair.open(mortal, other);
  const queue = await pair.left.queue({ outstanding: 1 });
  const receive = queue.receive(pair.connection, pair.ours.slice(0, 8));
  const waiting = queue.write(pair.connection, pair.ours.slice(0, 8), pair.remote);
  const events = (async () => {
    for await (const event of pair.left.events()) {
      assert.ok(event);
    }
  })();
  await pair.connection.write(pair.ours.slice(0, 8), pair.remote);
  assert.equal(queue.outstanding, 2);
  const failures = Promise.all([
    assert.rejects(receive, { code: 'UNAVAILABLE' }),
    assert.rejects(waiting, { code: 'UNAVAILABLE' }),
    assert.rejects(pair.connection.waitClosed(), SessionLostError),
    assert.rejects(events, SessionLostError),
  ]);
  await mortal.kill();
  await failures;
  await assert.rejects(pair.left.region(4096), { name: 'SessionLostError', retry: 'afterReconnecting' });
  await assert.rejects(pair.left.close(), UnconfirmedError);
  await pair.right.close();
});

test('supervised work goes on after the death of its sidecar', limit, async () => {
  const peer = await other.connect();
  const target = await peer.region(4096, { access: ALL });
  const listener = await peer.listen(0, { address: '127.0.0.1', privateData: target.address.encode() });
  const serving = (async () => {
    for await (const connection of listener) {
      assert.ok(connection.id);
    }
  })();
  const failures = [];
  let restarted;
  const existed = await supervise(
    async (session) => {
      const outbox = await session.region(4096, { path: 'outbox' });
      const queue = await session.queue();
      const connection = await session.dial(`127.0.0.1:${listener.port}`);
      let done = (await outbox.load(0, 8)).readUInt32LE();
      while (done < 200) {
        const bytes = Buffer.alloc(8);
        bytes.writeUInt32LE(++done);
        await outbox.store(bytes);
        await queue.write(connection, outbox.slice(0, 8), connection.remote, { flush: true });
        if (done === 100) {
          restarted = mortal.kill().then(() => mortal.start());
        }
      }
      await connection.close();
      return outbox.fileExisted;
    },
    { api: mortal.api, volume: mortal.volume, onFailure: (error) => failures.push(error) },
  );
  await restarted;
  assert.equal(existed, true);
  assert.ok(failures.length > 0 && failures.every((error) => error.retryable), failures);
  assert.equal((await target.load(0, 8)).readUInt32LE(), 200);
  await listener.close();
  await serving;
  await peer.close();
});

test('supervised work goes on after the death of its peer', limit, async () => {
  let port = 0;
  let stopped = false;
  const serving = supervise(
    async (session) => {
      const inbox = await session.region(4096, { path: 'inbox', access: ALL });
      const listener = await session.listen(port, { address: '127.0.0.1', privateData: inbox.address.encode() });
      port = listener.port;
      while (!stopped) {
        await listener.accept({ timeout: 200 }).catch((error) => {
          if (error.code !== 'DEADLINE_EXCEEDED' || listener.isClosed) {
            throw error;
          }
        });
      }
    },
    { api: mortal.api, volume: mortal.volume, onFailure: () => {} },
  );
  while (port === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const sessions = [];
  await supervise(
    async (session) => {
      sessions.push(session);
      const outbox = await session.region(4096, { path: 'outbox' });
      const connection = await session.dial(`127.0.0.1:${port}`);
      await connection.write(outbox.slice(0, 8), connection.remote);
      await connection.flush();
      if (sessions.length === 1) {
        await mortal.kill();
        await mortal.start();
        await connection.flush();
      }
    },
    { api: other.api, volume: other.volume, onFailure: () => {} },
  );
  stopped = true;
  await serving;
  // The sidecar of this side lives, and so its session goes on.
  assert.ok(sessions.length > 1 && new Set(sessions).size === 1);
});

test('the next attempt finds the regions with a path alone', limit, async () => {
  const list = v1.SharedReceiveQueueService.method.listSharedReceiveQueues;
  let attempts = 0;
  const work = async (session) => {
    await session.region(4096, { path: 'kept' });
    const closed = await session.region(4096, { path: 'closed' });
    assert.deepEqual((await session.regions()).map(({ path }) => path).sort(), ['closed', 'kept']);
    assert.deepEqual((await session.call(list, {})).sharedReceiveQueues, []);
    await closed.store('x');
    const shared = await session.sharedReceives(4);
    await session.createConnection({ sharedReceiveQueue: shared.id });
    await session.managedRegion(4096);
    await closed.close();
    if (++attempts < 3) {
      throw new SidewarpError('once more');
    }
  };
  await supervise(work, { api: other.api, volume: other.volume, onFailure: () => {} });
  assert.equal(attempts, 3);
});

test('supervision ends with other errors', limit, async () => {
  const onFailure = () => {
    throw new RangeError('enough');
  };
  await assert.rejects(supervise(async () => {}, { api: 'unix:///nowhere/api.sock', onFailure }), /enough/);
  const mistake = supervise(async (session) => session.region(4096), { api: other.api, volume: other.volume });
  await assert.rejects(mistake, /needs a path/);
});
