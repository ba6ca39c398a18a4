// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// A queue of work over the Queue call: many work requests under way at a time.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Connection } from './connection.js';
import { ClosedError, SidewarpError } from './errors.js';
import {
  QueueRequestSchema,
  TransferService,
  type QueueRequest,
  type QueueResponse,
  type WorkCompletion,
} from './gen/sidewarp/v1/transfer_pb.js';
import { Mailbox } from './mailbox.js';
import type { Local, Region } from './region.js';
import type { Session } from './session.js';
import {
  completionOf,
  Work,
  type AtomicOptions,
  type Completion,
  type DataOptions,
  type OrderOptions,
  type Receiver,
  type Remote,
  type SendOptions,
  type WriteOptions,
} from './work.js';

/** Requests in one message. A request with 16 parts has about 600 bytes, and a message at most 256 KiB. */
const MESSAGE = 256;

interface Entry {
  id: bigint;
  work: Work;
  ticket: number;
  resolve: (completion: Completion) => void;
  reject: (reason: Error) => void;
}

/**
 * A queue of work for all connections of a session.
 *
 * Work of one connection begins in the order of its posts. Work that exceeds the credits waits in the queue. The
 * methods have the parameters of Work's methods. Each returns a promise of the completion, which fails with WorkError
 * if the work fails. A promise that nobody awaits is no unhandled rejection.
 */
export class Queue {
  /** Number of work requests that may be under way at a time, as the sidecar has granted. */
  credits = 0;
  private lastId = 0n;
  private readonly underWay = new Map<bigint, Entry>();
  /** Work that waits for credits. Receives leave the last credit to other work. */
  private readonly waiting: Entry[] = [];
  private readonly waitingReceives: Entry[] = [];
  private receives = 0;
  private scheduled = false;
  private end: SidewarpError | undefined;
  private readonly opened = new Mailbox<void>();
  private call!: ClientDuplexStream<QueueRequest, QueueResponse>;

  /** @internal */
  constructor(private readonly session: Session) {}

  /** @internal */
  async open(outstanding: number): Promise<void> {
    this.session.checkOpen();
    this.call = this.session.transport.exchange(
      TransferService.method.queue,
      (response) => this.onResponse(response),
      (failure) => {
        const early = 'the sidecar ended the queue before its work was complete';
        const reason = failure ?? new SidewarpError(early, 'UNAVAILABLE');
        this.opened.end(reason);
        this.finish(reason);
      },
    );
    this.request({ case: 'open', value: { session: this.session.id, outstanding } });
    try {
      await this.opened.take('an open queue', this.session.transport.timeout);
    } catch (error) {
      this.call.cancel();
      throw error;
    }
  }

  /** Number of requests that are not complete. */
  get outstanding(): number {
    return this.underWay.size + this.waiting.length + this.waitingReceives.length;
  }

  /** Posts prepared work. */
  post(work: Work): Promise<Completion> {
    if (this.end !== undefined) {
      return Promise.reject(this.end);
    }
    const completion = new Promise<Completion>((resolve, reject) => {
      const ticket = work.receiver.isShared ? 0 : work.receiver.count(work.carriesData);
      const entry = { id: ++this.lastId, work, ticket, resolve, reject };
      if (work.isReceive) {
        this.waitingReceives.push(entry);
      } else {
        this.waiting.push(entry);
        (work.receiver as Connection).enterQueue();
      }
    });
    completion.catch(() => {});
    // All work of one turn goes in one message.
    if (!this.scheduled) {
      this.scheduled = true;
      queueMicrotask(() => {
        this.scheduled = false;
        this.transmit(false);
      });
    }
    return completion;
  }

  write(connection: Connection, local: Local, remote: Remote, options?: WriteOptions): Promise<Completion> {
    return this.post(Work.write(connection, local, remote, options));
  }

  read(connection: Connection, local: Local, remote: Remote, options?: OrderOptions): Promise<Completion> {
    return this.post(Work.read(connection, local, remote, options));
  }

  send(connection: Connection, local: Local, options?: SendOptions): Promise<Completion> {
    return this.post(Work.send(connection, local, options));
  }

  receive(receiver: Receiver, local?: Local): Promise<Completion> {
    return this.post(Work.receive(receiver, local));
  }

  immediate(connection: Connection, data: bigint | number, options?: DataOptions): Promise<Completion> {
    return this.post(Work.immediate(connection, data, options));
  }

  fetchAdd(
    connection: Connection,
    remote: Remote,
    add: bigint | number,
    options?: AtomicOptions,
  ): Promise<Completion> {
    return this.post(Work.fetchAdd(connection, remote, add, options));
  }

  compareSwap(
    connection: Connection,
    remote: Remote,
    compare: bigint | number,
    swap: bigint | number,
    options?: AtomicOptions,
  ): Promise<Completion> {
    return this.post(Work.compareSwap(connection, remote, compare, swap, options));
  }

  flush(connection: Connection): Promise<Completion> {
    return this.post(Work.flush(connection));
  }

  invalidate(connection: Connection, region: Region): Promise<Completion> {
    return this.post(Work.invalidate(connection, region));
  }

  enable(connection: Connection, region: Region, key: number): Promise<Completion> {
    return this.post(Work.enable(connection, region, key));
  }

  /** Ends the queue. Work that was posted is carried out; its promises fail with ClosedError. */
  async close(): Promise<void> {
    this.finish(new ClosedError('the queue is closed; open another one with session.queue()'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Ends the queue for a reason, once. */
  finish(reason: SidewarpError): void {
    if (this.end !== undefined) {
      return;
    }
    this.end = reason;
    this.session.forget(this);
    if (reason instanceof ClosedError) {
      // The sidecar carries out the posted work, and then ends the call.
      this.transmit(true);
      this.call.end();
    } else {
      this.leave(this.waiting, false);
    }
    for (const entry of [...this.underWay.values(), ...this.waiting, ...this.waitingReceives]) {
      entry.reject(reason);
    }
    this.underWay.clear();
    this.waiting.length = this.waitingReceives.length = 0;
  }

  /** Sends the work for which there are credits, or all work. */
  private transmit(all: boolean): void {
    const batch: Entry[] = [];
    const receives = all ? Infinity : Math.max(1, this.credits - 1);
    while (all || this.underWay.size < this.credits) {
      const entry = (this.receives < receives ? this.waitingReceives.shift() : undefined) ?? this.waiting.shift();
      if (entry === undefined) {
        break;
      }
      this.receives += entry.work.isReceive ? 1 : 0;
      this.underWay.set(entry.id, entry);
      batch.push(entry);
    }
    for (let begin = 0; begin < batch.length; begin += MESSAGE) {
      const work = batch.slice(begin, begin + MESSAGE).map((entry) => entry.work.toMessage(entry.id));
      this.request({ case: 'post', value: { work } });
    }
    this.leave(batch, true);
  }

  private leave(entries: Entry[], sent: boolean): void {
    for (const { work } of entries) {
      if (!work.receiver.isShared) {
        work.receiver.leaveQueue(sent, !work.isReceive);
      }
    }
  }

  private request(request: MessageInitShape<typeof QueueRequestSchema>['request']): void {
    this.call.write(create(QueueRequestSchema, { request }));
  }

  private onResponse({ response }: QueueResponse): void {
    if (response.case === 'opened') {
      this.credits = response.value.credits;
      this.opened.put();
      return;
    }
    if (response.case === 'completions') {
      response.value.completions.forEach((completion) => this.complete(completion));
      this.transmit(false);
    }
  }

  private complete(response: WorkCompletion): void {
    const entry = this.underWay.get(response.id);
    if (entry === undefined) {
      return;
    }
    this.underWay.delete(response.id);
    const { work, ticket } = entry;
    this.receives -= work.isReceive ? 1 : 0;
    try {
      const completion = completionOf(response);
      if (work.isAnswered) {
        (work.receiver as Connection).confirm(ticket);
      }
      entry.resolve(completion);
    } catch (error) {
      entry.reject(error as Error);
    }
  }
}
