// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import { SharedReceiveQueueService, type SharedReceiveQueue } from './gen/sidewarp/v1/shared_receive_queue_pb.js';
import type { Session } from './session.js';

/**
 * Receives that several connections share. Post them with `queue.receive(shared, local)`.
 *
 * Connections name the object in their options: `{ sharedReceiveQueue: shared.id }`. A message takes the oldest
 * receive.
 */
export class SharedReceives {
  readonly isShared = true;
  readonly id: bigint;
  /** Receives that can be outstanding. */
  readonly capacity: number;

  /** @internal */
  constructor(
    private readonly session: Session,
    description: SharedReceiveQueue,
  ) {
    this.id = description.id;
    this.capacity = description.capacity;
  }

  /** Asks for one event, `sharedReceiveQueueLimit`, when fewer than `limit` receives are left. */
  async arm(limit: number): Promise<void> {
    const request = { sharedReceiveQueue: this.id, limit };
    await this.session.call(SharedReceiveQueueService.method.modifySharedReceiveQueue, request);
  }

  /** Destroys the queue. Fails while connections use it. */
  async close(): Promise<void> {
    if (this.session.isOpen) {
      const request = { sharedReceiveQueue: this.id };
      await this.session.call(SharedReceiveQueueService.method.destroySharedReceiveQueue, request);
    }
    this.finish();
  }

  /** @internal */
  finish(): void {
    this.session.forget(this);
  }
}
