// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Sessions: everything that a program has at its sidecar.

import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { Connection } from './connection.js';
import { ClosedError, SessionLostError, SidewarpError, UnconfirmedError } from './errors.js';
import {
  ConnectionService,
  type AcceptResponseSchema,
  type Connection as ConnectionDescription,
  type ConnectResponseSchema,
} from './gen/sidewarp/v1/connection_pb.js';
import {
  DeviceService,
  LimitsSchema,
  type DeviceInfo,
  type Limits,
  type OpenSessionResponse,
  type SessionOpened,
} from './gen/sidewarp/v1/device_pb.js';
import { Events, type SessionEvent } from './events.js';
import { MemoryService, type Region as RegionDescription } from './gen/sidewarp/v1/memory_pb.js';
import { SharedReceiveQueueService } from './gen/sidewarp/v1/shared_receive_queue_pb.js';
import { Access } from './gen/sidewarp/v1/types_pb.js';
import { Listener, type ConnectionOptions, type ListenOptions } from './listener.js';
import { Mailbox } from './mailbox.js';
import { checked, type Init } from './messages.js';
import { Queue } from './queue.js';
import { CREATE_MODES, DEFAULT_VOLUME, ManagedRegion, openFile, Region, SharedRegion } from './region.js';
import type { Create } from './region.js';
import { SharedReceives } from './shared-receives.js';
import { DEFAULT_API, Transport, type Method } from './transport.js';
import { check } from './work.js';

const GRACE_SECONDS = 10;

/** All times are in milliseconds. */
export interface SessionOptions {
  /** Name for listings and logs. The name of the program by default. */
  name?: string;
  /** Address: `unix:///path` or `host:port`. SIDEWARP_API by default, or unix:///run/sidewarp/api.sock. */
  api?: string;
  /** Directory where the shared volume is mounted. SIDEWARP_VOLUME by default, or /run/sidewarp/shared. */
  volume?: string;
  /** Limit of calls that do not wait for a peer. 30,000 by default. */
  timeout?: number;
}

export interface ConnectOptions extends SessionOptions {
  /** Time to wait for a sidecar that is still starting. 0 by default. */
  wait?: number;
}

const REGION_OPTIONS = ['access', 'protectionDomain', 'connection', 'peerIdentity'] as const;

export interface ManagedRegionOptions {
  /** Access rights. LOCAL_WRITE by default. */
  access?: Access[];
  protectionDomain?: bigint;
  /** The only connection that may use the region. */
  connection?: Connection;
  /** SPIFFE ID that the peer of a connection must have to use the region. Every peer by default. */
  peerIdentity?: string;
}

export interface RegionOptions extends ManagedRegionOptions {
  /** Path of the file in the shared volume. A random name by default. */
  path?: string;
  /** Way to get the file. `new` by default. */
  create?: Create;
  /** Begin of the region in the file, in bytes. */
  offset?: number;
}

export interface DialOptions {
  privateData?: Uint8Array;
  options?: ConnectionOptions;
  /** Patterns of the SPIFFE IDs that the peer may have. They need TLS. */
  allowedPeers?: string[];
  /** Connection of `createConnection`, which has its options already. */
  connection?: Connection;
}

type Owned = Region | Listener | Queue | SharedReceives;

/**
 * A session at a sidecar, with regions, connections, listeners and queues.
 *
 * It stays open until it is closed, and keeps the program running. `close` disconnects all connections, and throws if
 * earlier data may not have arrived.
 */
export class Session {
  readonly name: string;
  /** Token of the session for calls of the contract. Keep it secret. */
  id = '';
  limits: Limits = create(LimitsSchema);
  isClosed = false;
  /** @internal */
  readonly transport: Transport;
  private readonly volume: string | undefined;
  private readonly owned = new Set<Owned>();
  private readonly news = new Events(this);
  private readonly opened = new Mailbox<SessionOpened>();
  private description: DeviceInfo | undefined;
  private end: SidewarpError | undefined;
  private stream: ClientReadableStream<OpenSessionResponse> | undefined;

  /** @internal */
  constructor({ name, api, volume, timeout = 30_000 }: SessionOptions) {
    this.name = (name || basename(process.argv[1] ?? '') || 'javascript').slice(0, 64);
    this.volume = volume || process.env['SIDEWARP_VOLUME'] || undefined;
    this.transport = new Transport(api || process.env['SIDEWARP_API'] || DEFAULT_API, timeout);
  }

  /** @internal */
  async open(wait: number): Promise<void> {
    try {
      if (wait > 0) {
        await this.transport.awaitReady(wait);
      }
      this.stream = this.transport.read(
        DeviceService.method.openSession,
        { name: this.name },
        ({ event }) => (event.case === 'opened' ? this.opened.put(event.value) : this.news.onEvent(event)),
        (failure) => this.onEnd(failure),
      );
      const opened = await this.opened.take('an open session', this.transport.timeout);
      this.id = opened.session;
      this.limits = opened.limits ?? this.limits;
    } catch (error) {
      this.stream?.cancel();
      this.transport.close();
      throw error;
    }
  }

  /** False if the session was closed or lost. */
  get isOpen(): boolean {
    return this.end === undefined;
  }

  /**
   * Makes a call of the contract, such as `session.call(v1.MemoryService.method.listRegions, {})`.
   *
   * Adds the token of the session. Throws a TypeError if the contract has no such field.
   */
  async call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: Init<I>,
    options: { timeout?: number } = {},
  ): Promise<MessageShape<O>> {
    check('the options of call', options, ['timeout']);
    const { timeout = this.transport.timeout } = options;
    return this.transport.call(method, this.request(method, request), timeout);
  }

  /** Yields the events of the session from now on. Of more than 1024 that wait, the oldest are dropped. */
  events(): AsyncGenerator<SessionEvent, void, void> {
    return this.news.iterate(this.end);
  }

  /**
   * Registers a file of the shared volume, of `length` bytes.
   *
   * The sidecar removes the file that it created when the region or the session ends.
   */
  async region(length: number, options: RegionOptions = {}): Promise<SharedRegion> {
    check('the options of region', options, ['path', 'create', 'offset', ...REGION_OPTIONS]);
    const { path = `javascript-${randomUUID()}`, create: mode = 'new', offset = 0 } = options;
    if (!(mode in CREATE_MODES)) {
      throw new TypeError(`create cannot be "${mode}"; use ${Object.keys(CREATE_MODES).join(', ')}`);
    }
    const value = { path, offset, length, createMode: CREATE_MODES[mode] };
    const description = await this.register(options, { case: 'shared', value });
    try {
      const { sharedVolume } = await this.device();
      const volumes = this.volume === undefined ? [DEFAULT_VOLUME, sharedVolume] : [this.volume];
      const file = await openFile(volumes.filter((volume) => volume !== ''), path, sharedVolume);
      return this.own(new SharedRegion(this, description, file, offset));
    } catch (error) {
      this.deregisterUnused(description);
      throw error;
    }
  }

  /** Registers memory of the sidecar alone, of `length` bytes. */
  async managedRegion(length: number, options: ManagedRegionOptions = {}): Promise<ManagedRegion> {
    check('the options of managedRegion', options, REGION_OPTIONS);
    return this.own(new ManagedRegion(this, await this.register(options, { case: 'managed', value: { length } })));
  }

  private async register(
    { access = [Access.LOCAL_WRITE], protectionDomain, connection, peerIdentity }: ManagedRegionOptions,
    backing: Init<typeof MemoryService.method.registerRegion.input>['backing'],
  ): Promise<RegionDescription> {
    const response = await this.create(
      MemoryService.method.registerRegion,
      { access, protectionDomain, connection: connection?.id, peerIdentity, backing },
      ({ region }) => this.deregisterUnused(region!),
    );
    return response.region!;
  }

  private deregisterUnused({ id: region }: RegionDescription): void {
    this.transport.forget(MemoryService.method.deregisterRegion, { session: this.id, region, keepContent: true });
  }

  /** Creates a connection that one later `dial` or `accept` uses, so that receives can be posted before. */
  async createConnection(options?: ConnectionOptions): Promise<Connection> {
    const response = await this.create(ConnectionService.method.createConnection, { options }, (late) =>
      this.abortUnused(late.connection!),
    );
    return this.news.adopt(new Connection(this, response.connection!));
  }

  /**
   * Connects to `host:port`, and returns when the peer has accepted. Throws RejectedError if the peer's application
   * rejects.
   */
  async dial(address: string, choices: DialOptions = {}): Promise<Connection> {
    check('the options of dial', choices, ['privateData', 'options', 'allowedPeers', 'connection']);
    const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(address);
    if (parts === null) {
      throw new TypeError(`"${address}" is no address; write host:port, or [address]:port for IPv6`);
    }
    const { privateData, options, allowedPeers, connection } = choices;
    return this.setUp(ConnectionService.method.connect, connection, {
      address: parts[1] ?? parts[2],
      port: Number(parts[3]),
      options,
      privateData,
      allowedPeers,
      connection: connection?.id,
      afterPosts: connection?.afterPosts,
    });
  }

  /** @internal Makes a Connect or Accept call, which waits for the peer. */
  async setUp<I extends DescMessage>(
    method: DescMethodUnary<I, typeof AcceptResponseSchema | typeof ConnectResponseSchema>,
    created: Connection | undefined,
    request: Init<I>,
  ): Promise<Connection> {
    const description = (await this.call(method, request, { timeout: Infinity })).connection!;
    if (created === undefined) {
      return this.news.adopt(new Connection(this, description));
    }
    created.establish(description);
    return created;
  }

  private abortUnused({ id: connection }: ConnectionDescription): void {
    this.transport.forget(ConnectionService.method.disconnect, { session: this.id, connection, abort: true });
  }

  /** Listens at a port; 0 is any free port, which `port` of the listener tells. */
  async listen(port = 0, options: ListenOptions = {}): Promise<Listener> {
    const known = ['address', 'privateData', 'backlog', 'options', 'acceptOptions', 'allowedPeers'] as const;
    check('the options of listen', options, known);
    const listener = new Listener(this, options);
    await listener.open(port);
    return this.own(listener);
  }

  /** Opens a work queue. `outstanding` is the number of requests under way at a time; 0 is the sidecar's default. */
  async queue(options: { outstanding?: number } = {}): Promise<Queue> {
    check('the options of queue', options, ['outstanding']);
    const { outstanding = 0 } = options;
    const queue = new Queue(this);
    await queue.open(outstanding);
    return this.own(queue);
  }

  /** Creates receives that connections share. `capacity` is their number; 0 is the sidecar's default. */
  async sharedReceives(capacity = 0, protectionDomain = 0n): Promise<SharedReceives> {
    const service = SharedReceiveQueueService.method;
    const response = await this.create(service.createSharedReceiveQueue, { capacity, protectionDomain }, (late) =>
      this.transport.forget(service.destroySharedReceiveQueue, {
        session: this.id,
        sharedReceiveQueue: late.sharedReceiveQueue!.id,
      }),
    );
    return this.own(new SharedReceives(this, response.sharedReceiveQueue!));
  }

  /** Allocates a protection domain, and returns its id. It ends with the session. */
  async allocateProtectionDomain(): Promise<bigint> {
    return (await this.create(MemoryService.method.allocateProtectionDomain, {}, () => {})).protectionDomain;
  }

  /** Returns the device of the sidecar: provider, version, capabilities and limits. */
  async device(): Promise<DeviceInfo> {
    this.description ??= (await this.call(DeviceService.method.getDevice, {})).device!;
    return this.description;
  }

  /** Lists the connections of the session. */
  async connections(): Promise<ConnectionDescription[]> {
    return (await this.call(ConnectionService.method.listConnections, {})).connections;
  }

  /** Lists the regions of the session. */
  async regions(): Promise<RegionDescription[]> {
    return (await this.call(MemoryService.method.listRegions, {})).regions;
  }

  /** Disconnects all connections, and ends the session. Throws if earlier data may not have arrived. */
  async close(): Promise<void> {
    await this.closeWithin(GRACE_SECONDS);
  }

  /** Aborts all connections, and ends the session. */
  async abort(): Promise<void> {
    await this.closeWithin(0).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async closeWithin(grace: number): Promise<void> {
    if (this.isClosed) {
      return;
    }
    this.isClosed = true;
    // The iterators of listeners end without an error.
    await Promise.all([...this.owned].map((made) => made instanceof Listener && made.close()));
    let loss: unknown;
    if (this.end === undefined) {
      loss = await this.closeAtSidecar(grace);
    } else if (this.news.connections().some((connection) => connection.mayLoseData())) {
      loss = new UnconfirmedError(`session "${this.name}"`, this.end);
    }
    const reason = new ClosedError(`session "${this.name}" is closed; open another one with connect()`);
    this.finish(reason);
    for (const made of [...this.owned]) {
      await (made instanceof Region ? made.release() : made.finish(reason));
    }
    this.owned.clear();
    this.stream?.cancel();
    this.transport.close();
    if (loss !== undefined) {
      throw loss;
    }
  }

  /** Lets the sidecar close the connections. Returns the reason why earlier data may be lost, if there is one. */
  private async closeAtSidecar(grace: number): Promise<unknown> {
    let loss: unknown;
    // CloseSession could overtake the work of queues, and so their connections are disconnected before.
    const queued = grace > 0 ? this.news.connections().filter((connection) => connection.needsDisconnect()) : [];
    const ends = queued.map((connection) => connection.startDisconnect(false, grace * 1000));
    for (const end of await Promise.allSettled(ends)) {
      // CloseSession aborts a connection that is late, and reports data that is not confirmed.
      if (end.status === 'rejected' && !['NOT_FOUND', 'DEADLINE_EXCEEDED'].includes(end.reason.code)) {
        loss ??= end.reason;
      }
    }
    try {
      const timeout = this.transport.timeout + grace * 1000;
      await this.call(DeviceService.method.closeSession, { grace: { seconds: grace } }, { timeout });
    } catch (error) {
      if (grace > 0 && this.end === undefined) {
        loss ??= error;
      }
    }
    return loss;
  }

  /** @internal Closes all objects except shared regions, for the next attempt of supervised work. */
  async reset(): Promise<void> {
    const made = [...this.owned].filter((object) => !(object instanceof SharedRegion));
    const receives = made.filter((object) => object instanceof SharedReceives);
    const others = made.filter((object) => !(object instanceof SharedReceives));
    await Promise.allSettled(others.map((object) => object.close()));
    await Promise.allSettled(this.news.connections().map((connection) => connection.abort()));
    // Connections that use shared receives keep them from being destroyed.
    await Promise.allSettled(receives.map((object) => object.close()));
  }

  /** @internal */
  checkOpen(): void {
    if (this.end !== undefined) {
      throw this.end;
    }
  }

  /** @internal Returns a checked request with the token of the session. */
  request<I extends DescMessage>(method: Method<I, DescMessage>, request: Init<I>): MessageInitShape<I> {
    this.checkOpen();
    const message = checked(method.input, request) as { session?: string };
    if (message.session === '') {
      message.session = this.id;
    }
    return message as MessageInitShape<I>;
  }

  /** @internal */
  forget(made: Owned): void {
    this.owned.delete(made);
  }

  private async create<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: Init<I>,
    undo: (late: MessageShape<O>) => void,
  ): Promise<MessageShape<O>> {
    return this.transport.create(method, this.request(method, request), undo);
  }

  private own<T extends Owned>(made: T): T {
    this.owned.add(made);
    return made;
  }

  private onEnd(failure: SidewarpError | undefined): void {
    const reason = failure?.message ?? 'the sidecar ended the session';
    this.opened.end(failure ?? new SidewarpError(reason, 'UNAVAILABLE'));
    if (!this.isClosed) {
      this.finish(
        new SessionLostError(
          `session "${this.name}" was lost, and with it its regions, connections and listeners: ${reason}; work under` +
            " way may be done or not; connect again, and take files over with create: 'reuse'",
          'UNAVAILABLE',
          { retry: 'afterReconnecting' },
        ),
      );
    }
  }

  private finish(reason: SidewarpError): void {
    this.end ??= reason;
    this.news.end(reason);
  }
}

/** Opens a session at the sidecar. Throws an error with the code UNAVAILABLE if no sidecar answers. */
export async function connect(options: ConnectOptions = {}): Promise<Session> {
  check('the options of connect', options, ['name', 'api', 'volume', 'timeout', 'wait']);
  const session = new Session(options);
  await session.open(options.wait ?? 0);
  return session;
}
