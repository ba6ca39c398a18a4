// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Events of a session, for its connections and for the application.

import { create } from '@bufbuild/protobuf';
import type { Connection } from './connection.js';
import { ClosedError, type SidewarpError } from './errors.js';
import {
  ConnectionState,
  ConnectionStateChangeSchema,
  type ConnectionStateChange,
  type OpenSessionResponse,
} from './gen/sidewarp/v1/device_pb.js';
import { RdmaErrorSchema } from './gen/sidewarp/v1/types_pb.js';
import { Mailbox } from './mailbox.js';
import type { Session } from './session.js';

/** Events that wait for an iterator, and events of connections that this process does not know yet. */
const WAITING_EVENTS = 1024;
const EARLY_EVENTS = 256;

/** An event of the session, such as `{ case: 'draining', value }`. */
export type SessionEvent = Exclude<OpenSessionResponse['event'], { case: undefined } | { case: 'opened' }>;

/** The open connections of a session, which learn of their changes, and the iterators of the application. */
export class Events {
  private readonly known = new Map<bigint, Connection>();
  private readonly early = new Map<bigint, ConnectionStateChange>();
  private readonly iterators = new Set<Mailbox<SessionEvent>>();

  constructor(private readonly session: Session) {}

  connections(): Connection[] {
    return [...this.known.values()];
  }

  /** Adds a connection. Its first events may have come already. */
  adopt(connection: Connection): Connection {
    this.known.set(connection.id, connection);
    const early = this.early.get(connection.id);
    this.early.delete(connection.id);
    if (early !== undefined) {
      this.onConnection(early);
    }
    return connection;
  }

  /** Begins an iteration at once. The end of the session ends it, with an error if the session was lost. */
  iterate(end: Error | undefined): AsyncGenerator<SessionEvent, void, void> {
    const box = new Mailbox<SessionEvent>();
    this.iterators.add(box);
    if (end !== undefined) {
      box.end(end);
    }
    return this.eventsOf(box);
  }

  private async *eventsOf(box: Mailbox<SessionEvent>): AsyncGenerator<SessionEvent, void, void> {
    try {
      while (true) {
        yield await box.take('an event');
      }
    } catch (error) {
      if (!(error instanceof ClosedError)) {
        throw error;
      }
    } finally {
      this.iterators.delete(box);
    }
  }

  onEvent(event: OpenSessionResponse['event']): void {
    if (event.case === undefined || event.case === 'opened') {
      return;
    }
    if (event.case === 'connection') {
      this.onConnection(event.value);
    } else if (event.case === 'eventsLost') {
      void this.findClosed();
    }
    for (const box of this.iterators) {
      box.put(event);
      if (box.size > WAITING_EVENTS) {
        box.drop();
      }
    }
  }

  end(reason: SidewarpError): void {
    for (const connection of this.known.values()) {
      connection.lose(reason);
    }
    for (const box of this.iterators) {
      box.end(reason);
    }
  }

  private onConnection(event: ConnectionStateChange): void {
    const connection = this.known.get(event.connection);
    if (connection === undefined) {
      this.early.set(event.connection, event);
      const [oldest] = this.early.keys();
      if (this.early.size > EARLY_EVENTS) {
        this.early.delete(oldest!);
      }
      return;
    }
    if (event.state === ConnectionState.CLOSED) {
      this.known.delete(connection.id);
    }
    connection.onEvent(event);
  }

  /** Finds connections that closed while events were lost. Their last events may be among these. */
  private async findClosed(): Promise<void> {
    const known = [...this.known.keys()];
    const listed = await this.session.connections().catch(() => undefined);
    if (listed === undefined) {
      return;
    }
    const open = new Set(listed.map(({ id }) => id));
    for (const connection of known.filter((id) => !open.has(id))) {
      const message = 'closed; the event with the reason was lost';
      const error = create(RdmaErrorSchema);
      const state = ConnectionState.CLOSED;
      this.onConnection(create(ConnectionStateChangeSchema, { connection, state, message, error }));
    }
  }
}
