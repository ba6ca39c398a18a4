// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Errors of a sidecar or a peer. docs/errors.md lists them with their codes and `retry`.

import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { status, type ServiceError } from '@grpc/grpc-js';
import { StatusSchema } from './gen/google/rpc/status_pb.js';
import { ConnectionRejectedSchema } from './gen/sidewarp/v1/connection_pb.js';
import {
  ErrorAdviceSchema,
  RdmaErrorSchema,
  Retry as ContractRetry,
  type RdmaError,
} from './gen/sidewarp/v1/types_pb.js';
import type { Completion } from './work.js';

/** Name of a gRPC status code, such as `NOT_FOUND`. */
export type Code = keyof typeof status;
/** Time at which the same request may succeed. */
export type Retry = 'never' | 'afterReconnecting' | 'later';

const RETRY_BY_CODE: Partial<Record<Code, Retry>> = {
  RESOURCE_EXHAUSTED: 'later',
  UNAVAILABLE: 'later',
  DEADLINE_EXCEEDED: 'later',
  ABORTED: 'later',
  CANCELLED: 'later',
  UNAUTHENTICATED: 'afterReconnecting',
};

export interface ErrorDetails {
  retry?: Retry;
  rdma?: RdmaError;
  cause?: unknown;
}

/** An error of a sidecar or a peer. The message says what failed and what to do. */
export class SidewarpError extends Error {
  /** Name of the gRPC status code. */
  readonly code: Code;
  /** Time at which the same request may succeed. */
  readonly retry: Retry;
  /** Error of the protocol stack, if there is one: layer, type and code as in a Terminate message. */
  readonly rdma: RdmaError | undefined;

  constructor(message: string, code: Code, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.retry = details.retry ?? RETRY_BY_CODE[code] ?? 'never';
    this.rdma = details.rdma;
  }

  /** False if something in the request, or at the peer, must be changed first. */
  get retryable(): boolean {
    return this.retry !== 'never';
  }

  /** True if the peer refused access to its memory: wrong STag, bounds or rights. */
  get isRemoteAccess(): boolean {
    return this.rdma !== undefined && this.rdma.remote && this.rdma.layer < 2 && this.rdma.type === 1;
  }
}

/** The peer's application rejected a connection. `privateData` is its answer. */
export class RejectedError extends SidewarpError {
  readonly privateData: Buffer;
  /** RDMA Reads that the peer serves at a time, and wants to have served. Undefined if it did not tell. */
  readonly peerIrd: number | undefined;
  readonly peerOrd: number | undefined;

  constructor(
    message: string,
    code: Code,
    details: ErrorDetails,
    rejected: MessageShape<typeof ConnectionRejectedSchema>,
  ) {
    super(message, code, details);
    this.privateData = Buffer.from(rejected.privateData);
    this.peerIrd = rejected.peerIrd;
    this.peerOrd = rejected.peerOrd;
  }
}

/** A work request failed. `completion` describes the failure. */
export class WorkError extends SidewarpError {
  readonly completion: Completion;

  constructor(completion: Completion, code: Code, retry: Retry | undefined) {
    const text = completion.message || 'the sidecar gave no reason';
    const rdma = completion.error === undefined ? '' : ` [${rdmaText(completion.error)}]`;
    super(
      `${completion.opcode} on connection ${completion.connection} failed with ${completion.status}: ${text}${rdma}`,
      code,
      { retry, rdma: completion.error },
    );
    this.completion = completion;
  }
}

/** The session ended, for example because the sidecar was killed. Its objects are gone; connect again. */
export class SessionLostError extends SidewarpError {}

/** Earlier Writes and Sends may not have arrived. A flush that succeeds tells what has arrived. */
export class UnconfirmedError extends SidewarpError {
  constructor(what: string, cause: SidewarpError) {
    super(
      `earlier Writes and Sends of ${what} may not have arrived: ${cause.message}; a flush that succeeds tells what` +
        ' has arrived',
      'UNAVAILABLE',
      { retry: 'afterReconnecting', rdma: cause.rdma, cause },
    );
  }
}

/** The application closed the object that it now uses. */
export class ClosedError extends SidewarpError {
  constructor(message: string) {
    super(message, 'FAILED_PRECONDITION');
  }
}

export function codeName(code: number): Code {
  return (status[code] ?? 'UNKNOWN') as Code;
}

export function retryName(retry: ContractRetry): Retry | undefined {
  return ([undefined, 'never', 'afterReconnecting', 'later'] as const)[retry];
}

function rdmaText(error: RdmaError): string {
  const hex = (value: number, digits: number) => `0x${value.toString(16).padStart(digits, '0')}`;
  const numbers = `${hex(error.layer, 1)}/${hex(error.type, 1)}/${hex(error.code, 2)}`;
  return `${numbers}${error.name && ` ${error.name}`}, ${error.remote ? 'reported by the peer' : 'found here'}`;
}

/** Returns the error for a gRPC status and its details. */
export function fromStatus(failure: ServiceError, target: string): SidewarpError {
  let code = codeName(failure.code);
  let text = failure.details || 'the sidecar gave no reason';
  if (code === 'CANCELLED') {
    // The sidecar ended the call. This side does not look at the status of calls that it cancels.
    code = 'UNAVAILABLE';
    text = `the sidecar at ${target} ended the call: ${text}`;
  } else if (code === 'UNAVAILABLE') {
    text = explain(text, target);
  }
  const details = failure.metadata
    ?.get('grpc-status-details-bin')
    .flatMap((value) => fromBinary(StatusSchema, value as Buffer).details);
  const find = <Desc extends DescMessage>(schema: Desc): MessageShape<Desc> | undefined => {
    for (const detail of details ?? []) {
      const found = anyUnpack(detail, schema);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };
  const rdma = find(RdmaErrorSchema);
  const retry = retryName(find(ErrorAdviceSchema)?.retry ?? ContractRetry.UNSPECIFIED);
  const message = `${text} (${code})${rdma === undefined ? '' : ` [${rdmaText(rdma)}]`}`;
  const rejected = find(ConnectionRejectedSchema);
  return rejected === undefined
    ? new SidewarpError(message, code, { retry, rdma })
    : new RejectedError(message, code, { retry, rdma }, rejected);
}

/** Explains a failure of the connection to the sidecar, as Node words it. Other texts come from the sidecar. */
function explain(text: string, target: string): string {
  const head = `no sidecar answers at ${target}`;
  if (text.includes('ENOENT')) {
    return (
      `${head}: the socket does not exist; start the sidecar, mount the volume that holds its socket, or set` +
      ' SIDEWARP_API to where it listens'
    );
  }
  if (text.includes('EACCES')) {
    return `${head}: permission denied; run as the sidecar's user or in its group (the socket has mode 0660)`;
  }
  if (text.includes('ECONNREFUSED')) {
    return `${head}: connection refused; the sidecar is stopped or still starting (connect has the option wait)`;
  }
  if (/ECONNRESET|EPIPE|Connection dropped/.test(text)) {
    return `the sidecar at ${target} closed the connection; it has stopped or crashed`;
  }
  if (text.includes('No connection established')) {
    return `${head}: ${text}; check the address, which SIDEWARP_API sets`;
  }
  return text;
}
