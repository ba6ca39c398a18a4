// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Work that goes on after the death of a sidecar or of a peer.

import { setTimeout as sleep } from 'node:timers/promises';
import { SidewarpError } from './errors.js';
import { Access } from './gen/sidewarp/v1/types_pb.js';
import type { SharedRegion } from './region.js';
import { Session, type RegionOptions, type SessionOptions } from './session.js';
import { check } from './work.js';

/** First and longest pause between attempts, in milliseconds. A sidecar keeps the files of a killed one for 30 s. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;

export interface SuperviseOptions extends SessionOptions {
  /** Called before each pause, in milliseconds. The supervision ends with the error that it throws. */
  onFailure?: (error: SidewarpError, pause: number) => unknown;
}

/** The session of supervised work. It keeps its regions while it lives, and takes them over when it is new. */
export class SupervisedSession extends Session {
  private readonly kept = new Map<string, SharedRegion>();

  /**
   * Returns the region of an earlier attempt, or registers it. Needs a path.
   *
   * The content of the file survives the death of the sidecar; `fileExisted` tells whether there is content. The STag
   * is another one in a new session, so peers have to learn it again.
   */
  override async region(length: number, options: RegionOptions = {}): Promise<SharedRegion> {
    check('the options of region', options, ['path', 'access']);
    const { path, access = [Access.LOCAL_WRITE] } = options;
    if (path === undefined) {
      throw new TypeError('a region of supervised work needs a path, so that it is found again');
    }
    const key = JSON.stringify([path, length, access]);
    let region = this.kept.get(key);
    if (region === undefined || region.isClosed) {
      region = await super.region(length, { path, access, create: 'reuse' });
      this.kept.set(key, region);
    }
    return region;
  }
}

/**
 * Calls `work(session)` until it returns, and returns its result.
 *
 * When work throws a SidewarpError, it is called again after a pause: with the same session if that lives, and with a
 * new one otherwise. So it begins with its set-up: regions with a path, listeners, connections and queues. Those of the
 * attempt before are closed, except regions with a path. Nothing is repeated by itself: outstanding work of the attempt before may
 * be done or not.
 *
 * Pauses double from 0.1 s to 5 s, and the real ones are a random part of at least half. Any other exception of work
 * ends the supervision.
 */
export async function supervise<T>(
  work: (session: SupervisedSession) => Promise<T>,
  options: SuperviseOptions = {},
): Promise<T> {
  check('the options of supervise', options, ['name', 'api', 'volume', 'timeout', 'onFailure']);
  const { onFailure = logFailure, ...others } = options;
  let session: SupervisedSession | undefined;
  let failures = 0;
  let result: T;
  try {
    while (true) {
      const begin = performance.now();
      let failure: SidewarpError;
      try {
        if (session === undefined) {
          const opening = new SupervisedSession(others);
          await opening.open(0);
          session = opening;
        }
        result = await work(session);
        break;
      } catch (error) {
        if (!(error instanceof SidewarpError)) {
          throw error;
        }
        failure = error;
      }
      if (session?.isOpen) {
        await session.reset();
      } else {
        await session?.abort();
        session = undefined;
      }
      failures = performance.now() - begin >= LONGEST_PAUSE ? 1 : failures + 1;
      const longest = Math.min(FIRST_PAUSE * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE);
      const pause = longest * (0.5 + Math.random() / 2);
      await onFailure(failure, pause);
      await sleep(pause);
    }
  } catch (error) {
    await session?.abort();
    throw error;
  }
  await session.close();
  return result;
}

function logFailure(failure: SidewarpError, pause: number): void {
  console.warn(`sidewarp: next attempt in ${(pause / 1000).toFixed(1)} s: ${failure.message}`);
}
