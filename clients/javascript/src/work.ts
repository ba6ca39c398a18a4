// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Work requests and their completions.

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Connection } from './connection.js';
import { codeName, retryName, WorkError } from './errors.js';
import {
  CompletionStatus,
  Opcode,
  WorkRequestSchema,
  type WorkCompletion,
  type WorkRequest,
} from './gen/sidewarp/v1/transfer_pb.js';
import { RemoteAddressSchema, type RdmaError } from './gen/sidewarp/v1/types_pb.js';
import { checked, long, unknown, type Init } from './messages.js';
import { RemoteAddress, slices, type Local, type Region } from './region.js';
import type { SharedReceives } from './shared-receives.js';

/** A place at the peer: a RemoteAddress, or an object with `stag` and `taggedOffset`. */
export type Remote = RemoteAddress | Init<typeof RemoteAddressSchema>;
export type Receiver = Connection | SharedReceives;

export interface OrderOptions {
  /** Waits until earlier Reads and atomic operations of the connection are complete. */
  fence?: boolean;
}

export interface DataOptions extends OrderOptions {
  /** Delays the completion until the peer has placed the data. */
  flush?: boolean;
  /** Wakes a peer that waits for solicited events. */
  solicited?: boolean;
}

export interface WriteOptions extends DataOptions {
  /** Number of 64 bits that takes one receive of the peer after the Write. */
  immediate?: bigint | number;
}

export interface SendOptions extends DataOptions {
  /** STag of the peer that is invalidated when the message is delivered. */
  invalidate?: number;
}

export interface AtomicOptions extends OrderOptions {
  /** Local part of 8 bytes that gets the earlier number, too. */
  local?: Local;
}

type Kind = MessageInitShape<typeof WorkRequestSchema>['work'];

/** A work request: prepare it once, and post it any number of times. */
export class Work {
  /** True if the peer gets data, and must confirm it. @internal */
  readonly carriesData: boolean;
  /** True if a success is an answer of the peer. @internal */
  readonly isAnswered: boolean;
  private readonly message: WorkRequest;

  private constructor(
    readonly receiver: Receiver,
    work: Kind,
    { fence = false, flush: withFlush = false }: DataOptions = {},
  ) {
    const shared = receiver.isShared;
    const target = shared ? { sharedReceiveQueue: receiver.id } : { connection: receiver.id };
    // A value that does not fit fails here, and not in the stream of a queue, where it would end all other work.
    this.message = checked(WorkRequestSchema, { ...target, work, fence, withFlush });
    const kind = work?.case;
    this.carriesData = kind === 'write' || kind === 'send' || kind === 'immediate';
    this.isAnswered =
      kind === 'read' || kind === 'fetchAdd' || kind === 'compareSwap' || kind === 'flush' || withFlush;
  }

  get isReceive(): boolean {
    return this.message.work.case === 'receive';
  }

  /** RDMA Write to the peer's memory. */
  static write(connection: Connection, local: Local, remote: Remote, options: WriteOptions = {}): Work {
    check('the options of write', options, ['fence', 'flush', 'solicited', 'immediate']);
    const { immediate, solicited } = options;
    const value = { local: elements(local), remote: place(remote), immediate: word(immediate), solicited };
    return new Work(connection, { case: 'write', value }, options);
  }

  /** RDMA Read from the peer's memory into one local part. */
  static read(connection: Connection, local: Local, remote: Remote, options: OrderOptions = {}): Work {
    check('the options of read', options, ['fence']);
    const value = { local: elements(local), remote: place(remote) };
    return new Work(connection, { case: 'read', value }, options);
  }

  /** Sends a message, which takes one receive of the peer. */
  static send(connection: Connection, local: Local, options: SendOptions = {}): Work {
    check('the options of send', options, ['fence', 'flush', 'solicited', 'invalidate']);
    const { solicited, invalidate: invalidateStag } = options;
    const value = { local: elements(local), solicited, invalidateStag };
    return new Work(connection, { case: 'send', value }, options);
  }

  /** Receives one message, for a connection or for shared receives. */
  static receive(receiver: Receiver, local: Local = []): Work {
    return new Work(receiver, { case: 'receive', value: { local: elements(local) } });
  }

  /** Sends a number of 64 bits in the completion of one receive of the peer. */
  static immediate(connection: Connection, data: bigint | number, options: DataOptions = {}): Work {
    check('the options of immediate', options, ['fence', 'flush', 'solicited']);
    const value = { data: word(data), solicited: options.solicited };
    return new Work(connection, { case: 'immediate', value }, options);
  }

  /**
   * Adds to 64 bits of the peer's memory. `Completion.original` is the earlier number. The remote place is aligned to 8
   * bytes.
   */
  static fetchAdd(connection: Connection, remote: Remote, add: bigint | number, options: AtomicOptions = {}): Work {
    check('the options of fetchAdd', options, ['fence', 'local']);
    const value = { local: elements(options.local ?? []), remote: place(remote), add: word(add) };
    return new Work(connection, { case: 'fetchAdd', value }, options);
  }

  /** Replaces 64 bits of the peer's memory by `swap` if they equal `compare`. Otherwise as `fetchAdd`. */
  static compareSwap(
    connection: Connection,
    remote: Remote,
    compare: bigint | number,
    swap: bigint | number,
    options: AtomicOptions = {},
  ): Work {
    check('the options of compareSwap', options, ['fence', 'local']);
    const numbers = { compare: word(compare), swap: word(swap) };
    const value = { local: elements(options.local ?? []), remote: place(remote), ...numbers };
    return new Work(connection, { case: 'compareSwap', value }, options);
  }

  /** Completes when the peer has placed the data of all earlier work. */
  static flush(connection: Connection): Work {
    return new Work(connection, { case: 'flush', value: {} });
  }

  /** Takes the STag of a region out of use. The region must be limited to this connection. */
  static invalidate(connection: Connection, region: Region): Work {
    return new Work(connection, { case: 'localInvalidate', value: { region: region.id } });
  }

  /** Gives a region an STag with new low 8 bits, without registering it again. */
  static enable(connection: Connection, region: Region, key: number): Work {
    return new Work(connection, { case: 'enable', value: { region: region.id, key } });
  }

  /** @internal */
  toMessage(id = 0n): WorkRequest {
    return { ...this.message, id };
  }
}

/** Outcome of a work request. */
export interface Completion {
  /** Id of the connection. 0n if a receive of shared receives took no message. */
  readonly connection: bigint;
  readonly opcode: keyof typeof Opcode;
  readonly status: keyof typeof CompletionStatus;
  /** Bytes transferred; for a receive, the length of the message. */
  readonly length: number;
  /** Receives: true if the sender asked for an event. */
  readonly solicited: boolean;
  /** Receives: the local STag that the sender invalidated. */
  readonly invalidatedStag: number | undefined;
  /** Receives: the Immediate Data that took the receive, as a number. */
  readonly immediate: bigint | undefined;
  /** Atomic operations: the earlier number in the peer's memory. */
  readonly original: bigint | undefined;
  /** Failures: the protocol error, and the text for people. */
  readonly error: RdmaError | undefined;
  readonly message: string;
}

/** Returns the completion of a message of the contract. Throws a WorkError for a failure. */
export function completionOf(response: WorkCompletion): Completion {
  const { connection, solicited, invalidatedStag, immediate, original, error, message } = response;
  const completion: Completion = {
    connection,
    opcode: (Opcode[response.opcode] ?? 'UNSPECIFIED') as keyof typeof Opcode,
    status: (CompletionStatus[response.status] ?? 'UNSPECIFIED') as keyof typeof CompletionStatus,
    length: Number(response.length),
    solicited,
    invalidatedStag,
    immediate,
    original,
    error,
    message,
  };
  if (response.status !== CompletionStatus.SUCCESS) {
    throw new WorkError(completion, codeName(response.code), retryName(response.retry));
  }
  return completion;
}

/** Throws a TypeError if an object of options has a name that is none of them. */
export function check(path: string, options: object, names: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw unknown(path, name, names);
    }
  }
}

function elements(local: Local) {
  return slices(local).map(({ region, offset, length }) => ({
    region: region.id,
    offset: BigInt(offset),
    length: BigInt(length),
  }));
}

function place(remote: Remote) {
  return remote instanceof RemoteAddress
    ? { stag: remote.stag, taggedOffset: remote.taggedOffset }
    : checked(RemoteAddressSchema, remote);
}

function word(number: bigint | number): bigint;
function word(number: bigint | number | undefined): bigint | undefined;
function word(number: bigint | number | undefined): bigint | undefined {
  if (number === undefined) {
    return undefined;
  }
  const value = long(number, 'a number of 64 bits');
  if (value < -(2n ** 63n) || value >= 2n ** 64n) {
    throw new RangeError(`${value} has more than 64 bits`);
  }
  return BigInt.asUintN(64, value);
}
