// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Listeners, and the connection requests that they bring.

import type { ClientReadableStream } from '@grpc/grpc-js';
import type { Connection } from './connection.js';
import { ClosedError, SidewarpError } from './errors.js';
import {
  ConnectionService,
  type ConnectionOptionsSchema,
  type ConnectionRequest,
  type ListenResponse,
} from './gen/sidewarp/v1/connection_pb.js';
import { Mailbox } from './mailbox.js';
import type { Init } from './messages.js';
import type { Session } from './session.js';
import { check } from './work.js';

/** Options of a connection, such as `{ ord: 4, timeout: { seconds: 5 } }`. */
export type ConnectionOptions = Init<typeof ConnectionOptionsSchema>;

export interface AcceptOptions {
  /** Private data of the answer. That of the listener by default. */
  privateData?: Uint8Array;
  /** Options of the connection. Those of the listener by default. */
  options?: ConnectionOptions;
  /** Connection of `session.createConnection`, for example to post receives that the peer's first message needs. */
  connection?: Connection;
}

export interface ListenOptions {
  /** IP address. All addresses of the sidecar by default. */
  address?: string;
  /** Private data for each peer that is accepted without other. */
  privateData?: Uint8Array;
  /** Connection requests that may wait for a decision. 0: the sidecar's default. */
  backlog?: number;
  /** Requirements for a peer's start-up, and defaults for accepted connections. */
  options?: ConnectionOptions;
  /** Options for each connection that is accepted without others. */
  acceptOptions?: ConnectionOptions;
  /** Patterns of the SPIFFE IDs of peers that may connect. They need TLS. */
  allowedPeers?: string[];
}

/** A connection request. Accept or reject it before the set-up time of the listener is over. */
export class Incoming {
  /** @internal */
  constructor(
    private readonly session: Session,
    /** Request of the contract: address of the peer, its read depths, and the room for private data. */
    readonly request: ConnectionRequest,
    private readonly defaults: ListenOptions,
  ) {}

  /** Private data of the peer. */
  get privateData(): Buffer {
    return Buffer.from(this.request.privateData);
  }

  /** SPIFFE ID of the peer, which TLS has verified; empty without TLS. */
  get peerIdentity(): string {
    return this.request.peerIdentity;
  }

  /** Accepts the request. */
  async accept(choices: AcceptOptions = {}): Promise<Connection> {
    check('the options of accept', choices, ['privateData', 'options', 'connection']);
    const { connection } = choices;
    return this.session.setUp(ConnectionService.method.accept, connection, {
      request: this.request.id,
      options: connection === undefined ? (choices.options ?? this.defaults.acceptOptions) : undefined,
      privateData: choices.privateData ?? this.defaults.privateData,
      connection: connection?.id,
      afterPosts: connection?.afterPosts,
    });
  }

  /** Rejects the request. The peer gets RejectedError with the private data. */
  async reject(privateData?: Uint8Array): Promise<void> {
    await this.session.call(ConnectionService.method.reject, { request: this.request.id, privateData });
  }
}

/** Listens for connections until it is closed. Iterating accepts all requests, and yields the connections. */
export class Listener {
  address = '';
  port = 0;
  /** UDP port for peers where SCTP is encapsulated in UDP; otherwise 0. */
  udpPort = 0;
  private readonly requests = new Mailbox<Incoming>();
  private readonly opened = new Mailbox<void>();
  private call: ClientReadableStream<ListenResponse> | undefined;

  /** @internal */
  constructor(
    private readonly session: Session,
    private readonly options: ListenOptions,
  ) {}

  /** @internal */
  async open(port: number): Promise<void> {
    const { address, backlog, options, allowedPeers } = this.options;
    const request = this.session.request(ConnectionService.method.listen, {
      address,
      port,
      backlog,
      options,
      allowedPeers,
      llp: options?.llp,
    });
    this.call = this.session.transport.read(
      ConnectionService.method.listen,
      request,
      ({ event }) => {
        if (event.case === 'listening') {
          this.address = event.value.address;
          this.port = event.value.port;
          this.udpPort = event.value.udpPort;
          this.opened.put();
        } else if (event.case === 'request') {
          this.requests.put(new Incoming(this.session, event.value, this.options));
        }
      },
      (failure) => this.finish(failure ?? new SidewarpError('the sidecar ended the listener', 'UNAVAILABLE')),
    );
    try {
      await this.opened.take('the listener', this.session.transport.timeout);
    } catch (error) {
      this.call.cancel();
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.requests.ended;
  }

  /** Returns the next connection request, to accept or reject it. Waits at most `timeout` milliseconds. */
  request(timeout?: number): Promise<Incoming> {
    return this.requests.take('a connection', timeout);
  }

  /** Accepts the next connection request. Waits at most `timeout` milliseconds for it. */
  async accept(choices: AcceptOptions & { timeout?: number } = {}): Promise<Connection> {
    const { timeout, ...others } = choices;
    return (await this.request(timeout)).accept(others);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Connection, void, void> {
    while (true) {
      let incoming: Incoming;
      try {
        incoming = await this.request();
      } catch (error) {
        if (error instanceof ClosedError) {
          return;
        }
        throw error;
      }
      let connection: Connection;
      try {
        connection = await incoming.accept();
      } catch (error) {
        // The peer has left, or its request lapsed.
        if (error instanceof SidewarpError && !this.isClosed && this.session.isOpen) {
          continue;
        }
        throw error;
      }
      yield connection;
    }
  }

  /** Ends listening. Connections stay open. Requests that wait are refused. */
  async close(): Promise<void> {
    this.session.forget(this);
    this.finish(new ClosedError('the listener is closed; open another one with session.listen()'));
    this.call?.cancel();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  finish(reason: SidewarpError): void {
    this.requests.end(reason);
    this.opened.end(reason);
  }
}
