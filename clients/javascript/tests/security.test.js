// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Permitted peers: both sides verify each other by TLS.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { SidewarpError } from 'sidewarp';
import { ALL, PATIENCE, ROOT, Sidecar } from './sidecar.js';

const CART = 'spiffe://cluster.local/ns/shop/sa/cart';
const STORE = 'spiffe://cluster.local/ns/shop/sa/store';
const limit = { timeout: 2 * PATIENCE };
const certificates = mkdtempSync(join(tmpdir(), 'sidewarp-certificates-'));

let sidecars = [];
let cart, store;

const start = (name) =>
  Sidecar.start(name, {
    'sidewarp.identity.source': 'files',
    'sidewarp.identity.directory': join(certificates, 'ns/shop/sa', name),
    'sidewarp.connection.security': 'required',
  });

before(async () => {
  execFileSync(join(ROOT, 'sidewarp'), ['identity', certificates, 'ns/shop/sa/cart', 'ns/shop/sa/store'], {
    env: { ...process.env, SIDEWARP_BUILD: 'never' },
    stdio: 'pipe',
  });
  sidecars = [await start('cart'), await start('store')];
  [cart, store] = await Promise.all(sidecars.map((sidecar) => sidecar.connect()));
}, limit);
after(async () => {
  await cart?.close();
  await store?.close();
  await Promise.all(sidecars.map((sidecar) => sidecar.stop()));
  rmSync(certificates, { recursive: true });
});

test('permitted peers see the verified identity of the other side', limit, async () => {
  const listener = await store.listen(0, { address: '127.0.0.1', allowedPeers: ['ns/shop/sa/cart'] });
  const accept = async () => {
    const incoming = await listener.request(PATIENCE);
    assert.equal(incoming.peerIdentity, CART);
    return incoming.accept();
  };
  const [connection, accepted] = await Promise.all([
    cart.dial(`127.0.0.1:${listener.port}`, { allowedPeers: ['ns/shop/sa/*'] }),
    accept(),
  ]);
  assert.deepEqual([connection.peerIdentity, accepted.peerIdentity], [STORE, CART]);
  await connection.abort();
  await listener.close();
});

test('a peer that one side does not permit is refused', limit, async () => {
  const picky = await store.listen(0, { address: '127.0.0.1', allowedPeers: ['ns/shop/sa/web'] });
  const listener = await store.listen(0, { address: '127.0.0.1' });
  await assert.rejects(cart.dial(`127.0.0.1:${picky.port}`), (error) => {
    assert.ok(error instanceof SidewarpError);
    assert.match(error.message, /does not permit the identity of this side/);
    return true;
  });
  await assert.rejects(cart.dial(`127.0.0.1:${listener.port}`, { allowedPeers: ['ns/other/sa/*'] }), (error) => {
    assert.ok(error.message.includes(`is ${STORE}, which this connection does not permit`), error.message);
    return true;
  });
  await picky.close();
  await listener.close();
});

test('a region of one peer serves only this peer', limit, async () => {
  const listener = await store.listen(0, { address: '127.0.0.1' });
  for (const [peerIdentity, permitted] of [
    [CART, true],
    ['spiffe://cluster.local/ns/shop/sa/web', false],
  ]) {
    const region = await store.region(4096, { access: ALL, peerIdentity });
    const [connection] = await Promise.all([
      cart.dial(`127.0.0.1:${listener.port}`),
      listener.accept({ timeout: PATIENCE }),
    ]);
    const target = await cart.region(64, { access: ALL });
    const read = connection.read(target.slice(0, 8), region.address);
    if (permitted) {
      assert.equal((await read).length, 8);
    } else {
      await assert.rejects(read, (error) => error.isRemoteAccess);
    }
  }
  await listener.close();
});
