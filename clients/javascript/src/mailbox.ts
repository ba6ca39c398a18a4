// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import { SidewarpError } from './errors.js';

/** Longest time that setTimeout can wait, in milliseconds: 24 days. It would take a longer one for 1 ms. */
export const LONGEST_TIMER = 2 ** 31 - 1;

interface Taker<T> {
  resolve: (item: T) => void;
  reject: (reason: Error) => void;
}

/** Items for one or more readers, until an end. Items that arrived before the end are still delivered. */
export class Mailbox<T> {
  private readonly items: T[] = [];
  private readonly takers = new Set<Taker<T>>();
  private reason: Error | undefined;

  get ended(): boolean {
    return this.reason !== undefined;
  }

  get size(): number {
    return this.items.length;
  }

  put(item: T): void {
    const [taker] = this.takers;
    if (taker === undefined) {
      this.items.push(item);
    } else {
      this.takers.delete(taker);
      taker.resolve(item);
    }
  }

  /** Removes the oldest item. */
  drop(): void {
    this.items.shift();
  }

  /** Ends the mailbox, once. Later calls have no effect. */
  end(reason: Error): void {
    this.reason ??= reason;
    for (const taker of this.takers) {
      taker.reject(this.reason);
    }
    this.takers.clear();
  }

  /**
   * Returns the next item. Waits at most `timeout` milliseconds for it; `what` names it in the error.
   *
   * More than LONGEST_TIMER is no limit.
   */
  take(what: string, timeout?: number): Promise<T> {
    if (this.items.length > 0) {
      return Promise.resolve(this.items.shift()!);
    }
    if (this.reason !== undefined) {
      return Promise.reject(this.reason);
    }
    return new Promise((resolve, reject) => {
      const taker: Taker<T> = { resolve, reject };
      this.takers.add(taker);
      if (timeout !== undefined && timeout <= LONGEST_TIMER) {
        const timer = setTimeout(() => {
          this.takers.delete(taker);
          reject(late(what, timeout));
        }, timeout);
        taker.resolve = (item) => (clearTimeout(timer), resolve(item));
        taker.reject = (reason) => (clearTimeout(timer), reject(reason));
      }
    });
  }
}

export function late(what: string, timeout: number): SidewarpError {
  return new SidewarpError(`${what} did not come within ${timeout} ms`, 'DEADLINE_EXCEEDED');
}
