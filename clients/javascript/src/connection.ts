// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Connections, and operations of one call each.

import { SidewarpError, UnconfirmedError } from './errors.js';
import { ConnectionService, type Connection as Description } from './gen/sidewarp/v1/connection_pb.js';
import { ConnectionState, type ConnectionStateChange } from './gen/sidewarp/v1/device_pb.js';
import { TransferService } from './gen/sidewarp/v1/transfer_pb.js';
import type { RdmaError } from './gen/sidewarp/v1/types_pb.js';
import { Mailbox } from './mailbox.js';
import { RemoteAddress, type Local } from './region.js';
import type { Session } from './session.js';
import {
  completionOf,
  Work,
  type AtomicOptions,
  type Completion,
  type DataOptions,
  type OrderOptions,
  type Remote,
  type SendOptions,
  type WriteOptions,
} from './work.js';

/**
 * A connection. It stays open until it is closed, whatever happens to this object.
 *
 * The methods that transfer data make one call each, and return the completion. They have the parameters of Work's
 * methods without the connection. A Write or a Send is complete when its
 * memory can be changed again; see `flush`.
 */
export class Connection {
  readonly isShared = false;
  readonly id: bigint;
  /** Description of the contract: addresses, read depths and others, as they were when the connection was set up. */
  description: Description;
  /** Protocol error that ended the connection, if there is one, and the text for people. */
  error: RdmaError | undefined;
  reason = '';
  private current: ConnectionState;
  private failed = false;
  private told = false;
  // Number of requests that queues have sent. Number of all requests; of the last with data; of the last confirmed one.
  private posted = 0;
  private tickets = 0;
  private data = 0;
  private confirmed = 0;
  // Requests that wait in queues of this process.
  private waiting = 0;
  private readonly idle = new Set<() => void>();
  private readonly ended = new Mailbox<void>();

  /** @internal */
  constructor(
    private readonly session: Session,
    description: Description,
  ) {
    this.id = description.id;
    this.description = description;
    this.current = description.state;
  }

  /** State, such as `ESTABLISHED`. */
  get state(): keyof typeof ConnectionState {
    return ConnectionState[this.current] as keyof typeof ConnectionState;
  }

  /** Private data of the peer. */
  get privateData(): Buffer {
    return Buffer.from(this.description.privateData);
  }

  /** SPIFFE ID of the peer, which TLS has verified; empty without TLS. */
  get peerIdentity(): string {
    return this.description.peerIdentity;
  }

  /** Address of a region that the peer sent as private data. */
  get remote(): RemoteAddress {
    return RemoteAddress.decode(this.description.privateData);
  }

  get isClosed(): boolean {
    return this.current === ConnectionState.CLOSED || !this.session.isOpen;
  }

  /** Carries out prepared work. */
  async perform(work: Work): Promise<Completion> {
    if (work.receiver !== this) {
      throw new TypeError(`the work is not for connection ${this.id}`);
    }
    const ticket = this.count(work.carriesData);
    const response = await this.session.call(
      TransferService.method.perform,
      { work: work.toMessage() },
      { timeout: Infinity },
    );
    const completion = completionOf(response.completion!);
    if (work.isAnswered) {
      this.confirm(ticket);
    }
    return completion;
  }

  write(local: Local, remote: Remote, options?: WriteOptions): Promise<Completion> {
    return this.perform(Work.write(this, local, remote, options));
  }

  read(local: Local, remote: Remote, options?: OrderOptions): Promise<Completion> {
    return this.perform(Work.read(this, local, remote, options));
  }

  send(local: Local, options?: SendOptions): Promise<Completion> {
    return this.perform(Work.send(this, local, options));
  }

  receive(local?: Local): Promise<Completion> {
    return this.perform(Work.receive(this, local));
  }

  immediate(data: bigint | number, options?: DataOptions): Promise<Completion> {
    return this.perform(Work.immediate(this, data, options));
  }

  fetchAdd(remote: Remote, add: bigint | number, options?: AtomicOptions): Promise<Completion> {
    return this.perform(Work.fetchAdd(this, remote, add, options));
  }

  compareSwap(
    remote: Remote,
    compare: bigint | number,
    swap: bigint | number,
    options?: AtomicOptions,
  ): Promise<Completion> {
    return this.perform(Work.compareSwap(this, remote, compare, swap, options));
  }

  /** Returns when the peer has placed all earlier data, also of queues. Otherwise throws the peer's error. */
  async flush(): Promise<void> {
    await this.sent();
    const ticket = this.count(false);
    const request = { connection: this.id, afterPosts: this.posted };
    await this.session.call(TransferService.method.flush, request, { timeout: Infinity });
    this.confirm(ticket);
  }

  /**
   * Returns when the connection is closed. `error` and `reason` then tell why.
   *
   * Throws SessionLostError if the session ends first. `timeout` is in milliseconds.
   */
  async waitClosed(timeout?: number): Promise<void> {
    if (this.current !== ConnectionState.CLOSED) {
      await this.ended.take(`the end of connection ${this.id}`, timeout);
      this.ended.put();
    }
  }

  /** Returns the present description, with counters. */
  async info(): Promise<Description> {
    const found = (await this.session.connections()).find((description) => description.id === this.id);
    if (found === undefined) {
      throw new SidewarpError(`connection ${this.id} is closed and gone`, 'NOT_FOUND');
    }
    return found;
  }

  /** Carries out all posted work, and closes. Waits for the peer without a limit. Throws if data may be lost. */
  async disconnect(): Promise<void> {
    try {
      await this.startDisconnect(false, Infinity);
    } catch (error) {
      // After FAILED_PRECONDITION the connection is still open.
      this.told = (error as SidewarpError).code !== 'FAILED_PRECONDITION';
      throw error;
    }
  }

  /** Closes at once. Outstanding work fails. */
  async abort(): Promise<void> {
    try {
      await this.startDisconnect(true, this.session.transport.timeout);
    } catch (error) {
      if (!this.isClosed) {
        throw error;
      }
    }
  }

  /**
   * Carries out all posted work, and closes. Throws if earlier data may not have arrived.
   *
   * If the peer holds the close up for the time-out of calls, the connection is aborted.
   */
  async close(): Promise<void> {
    const { session } = this;
    const endedWell = this.current === ConnectionState.CLOSED && !this.failed;
    if (this.told || endedWell || session.isClosed) {
      return;
    }
    const lossIsPossible = this.mayLoseData();
    this.told = true;
    try {
      await this.startDisconnect(false, session.transport.timeout);
    } catch (failure) {
      const error = failure as SidewarpError;
      const recoverable = ['NOT_FOUND', 'DEADLINE_EXCEEDED', 'FAILED_PRECONDITION'].includes(error.code);
      if (session.isOpen && !recoverable) {
        throw error;
      }
      if (session.isOpen) {
        await this.abort();
      }
      if (lossIsPossible) {
        throw new UnconfirmedError(`connection ${this.id}`, error);
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Begins to disconnect, behind all work of queues. */
  async startDisconnect(abort: boolean, timeout: number): Promise<void> {
    const begin = performance.now();
    if (!abort) {
      await this.sent(timeout);
    }
    const request = { connection: this.id, abort, afterPosts: abort ? 0 : this.posted };
    const rest = Math.max(0, timeout - (performance.now() - begin));
    await this.session.call(ConnectionService.method.disconnect, request, { timeout: rest });
  }

  /** @internal Returns whether earlier data is not confirmed, and the application was not told. */
  mayLoseData(): boolean {
    return this.data > this.confirmed && !this.told;
  }

  /** @internal Returns whether queues have posted work that CloseSession could overtake. */
  needsDisconnect(): boolean {
    return this.posted + this.waiting > 0 && !this.told;
  }

  /** @internal Returns the number of requests that queues have sent. */
  get afterPosts(): number {
    return this.posted;
  }

  /** @internal Counts a request, and returns its number. */
  count(carriesData: boolean): number {
    this.tickets++;
    if (carriesData) {
      this.data = this.tickets;
    }
    return this.tickets;
  }

  /** @internal */
  confirm(ticket: number): void {
    this.confirmed = Math.max(this.confirmed, ticket);
  }

  /** @internal Counts a request other than a receive that waits in a queue. */
  enterQueue(): void {
    this.waiting++;
  }

  /** @internal Counts a request of a queue that was sent, or will never be. */
  leaveQueue(sent: boolean, waited: boolean): void {
    this.posted += sent ? 1 : 0;
    this.waiting -= waited ? 1 : 0;
    if (this.waiting === 0) {
      this.idle.forEach((resume) => resume());
      this.idle.clear();
    }
  }

  /** @internal Takes the answer of Connect or Accept for a connection that was created before. */
  establish(description: Description): void {
    this.description = description;
    if (this.current === ConnectionState.IDLE || this.current === ConnectionState.CONNECTING) {
      this.current = description.state;
    }
  }

  /** @internal */
  onEvent(event: ConnectionStateChange): void {
    this.current = event.state;
    this.reason = event.message;
    this.error = event.error ?? this.error;
    this.failed ||= event.error !== undefined || event.state === ConnectionState.TERMINATED;
    if (event.state === ConnectionState.CLOSED) {
      this.ended.put();
    }
  }

  /** @internal Ends waiting for the end: the session has ended. */
  lose(reason: SidewarpError): void {
    this.ended.end(reason);
  }

  /** Returns when all work of queues is with the sidecar. It waits for credits, and so perhaps for the peer. */
  private async sent(timeout?: number): Promise<void> {
    if (this.waiting > 0) {
      const idle = new Mailbox<void>();
      this.idle.add(() => idle.put());
      await idle.take(`the credits for the work of connection ${this.id}`, timeout);
    }
  }
}
