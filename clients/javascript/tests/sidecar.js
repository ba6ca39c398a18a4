// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Packaged sidecars as processes, and connections between them. `./sidewarp build` packages the sidecar.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Access, connect } from 'sidewarp';

export const HERE = fileURLToPath(new URL('.', import.meta.url));
export const ROOT = join(HERE, '../../..');
export const PATIENCE = 60_000;
export const ALL = [Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC];

/** A packaged sidecar. It can be killed and started again on the same socket and volume. */
export class Sidecar {
  static async start(name, settings = {}) {
    const sidecar = new Sidecar(name, settings);
    await sidecar.start();
    return sidecar;
  }

  constructor(name, settings = {}) {
    this.settings = settings;
    this.directory = mkdtempSync(join(tmpdir(), `sidewarp-${name}-`));
    this.volume = mkdtempSync(`/dev/shm/sidewarp-${name}-`);
    this.api = `unix://${this.directory}/api.sock`;
    this.log = join(this.directory, 'log');
  }

  async start() {
    const log = openSync(this.log, 'a');
    const settings = {
      'sidewarp.management.port': 0,
      'sidewarp.api.socket': join(this.directory, 'api.sock'),
      'sidewarp.shared-volume': this.volume,
      ...this.settings,
    };
    const flags = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`);
    this.process = spawn(join(ROOT, 'sidewarp'), ['sidecar', ...flags], {
      env: { ...process.env, SIDEWARP_BUILD: 'never' },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    try {
      await (await this.connect({ name: 'test-start' })).close();
    } catch (error) {
      const text = readFileSync(this.log, 'utf8');
      await this.stop();
      throw new Error(`the sidecar did not start (${error.message}):\n${text}`);
    }
  }

  connect(options = {}) {
    return connect({ name: 'test', api: this.api, volume: this.volume, wait: PATIENCE, ...options });
  }

  async kill() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill('SIGKILL');
      await once(this.process, 'exit');
    }
  }

  async stop() {
    await this.kill();
    rmSync(this.directory, { recursive: true });
    rmSync(this.volume, { recursive: true });
  }
}

/** A connection between two sessions, with a region and a queue on each side. */
export class Pair {
  static async open(left, right, options) {
    const pair = new Pair();
    [pair.left, pair.right] = await Promise.all([left.connect(), right.connect()]);
    pair.ours = await pair.left.region(1 << 20, { access: ALL });
    pair.theirs = await pair.right.region(1 << 20, { access: ALL });
    pair.listener = await pair.right.listen(0, { address: '127.0.0.1', privateData: pair.theirs.address.encode() });
    pair.queue = await pair.left.queue(options);
    pair.peerQueue = await pair.right.queue(options);
    [pair.connection, pair.accepted] = await pair.connect();
    pair.remote = pair.connection.remote;
    return pair;
  }

  /** Connects, and accepts with a connection that `prepare` may post receives to. */
  async connect(prepare = () => {}) {
    const accepting = await this.right.createConnection();
    await prepare(accepting);
    return Promise.all([
      this.left.dial(`127.0.0.1:${this.listener.port}`),
      this.listener.accept({ timeout: PATIENCE, connection: accepting }),
    ]);
  }

  async close() {
    await this.left.close();
    await this.right.close();
  }
}
