// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Programs of the README, as they are written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { HERE, PATIENCE, Sidecar } from './sidecar.js';

const README = readFileSync(join(HERE, '../README.md'), 'utf8');
const [SERVER, CLIENT] = [...README.matchAll(/```js\n(.*?)```/gs)].map(([, program]) => program);

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function start(program, sidecar, port) {
  const text = program.replace('7471', port).replace('peer.example', '127.0.0.1');
  const environment = { ...process.env, SIDEWARP_API: sidecar.api, SIDEWARP_VOLUME: sidecar.volume };
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
    cwd: join(HERE, '..'),
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.output = '';
  child.stdout.on('data', (data) => (child.output += data));
  child.stderr.on('data', (data) => (child.output += data));
  child.ended = once(child, 'close');
  return child;
}

test('a text moves between the first two programs', { timeout: 2 * PATIENCE }, async () => {
  const [left, right] = await Promise.all([Sidecar.start('left'), Sidecar.start('right')]);
  const port = await freePort();
  const server = start(SERVER, right, port);
  try {
    let client;
    for (let attempt = 0; attempt < 50; attempt++) {
      client = start(CLIENT, left, port);
      await client.ended;
      // The server may not listen yet.
      if (!client.output.includes('efused')) {
        break;
      }
    }
    assert.equal(client.exitCode, 0, client.output);
    await server.ended;
    assert.deepEqual([server.exitCode, server.output], [0, 'hello, memory\n']);
  } finally {
    server.kill('SIGKILL');
    await left.stop();
    await right.stop();
  }
});
