// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// The gRPC channel to a sidecar: its address, unary calls and streams.

import { resolve } from 'node:path';
import type { DescMessage, DescMethod, DescMethodUnary, MessageShape } from '@bufbuild/protobuf';
import { create, fromBinary, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import * as grpc from '@grpc/grpc-js';
import { fromStatus, type SidewarpError } from './errors.js';
import { late, LONGEST_TIMER } from './mailbox.js';

export const DEFAULT_API = 'unix:///run/sidewarp/api.sock';

const OPTIONS: grpc.ClientOptions = {
  'grpc.max_receive_message_length': 64 << 20,
  // Work must not be carried out twice.
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  // A new channel connects at once, although an earlier channel could not connect.
  'grpc.use_local_subchannel_pool': 1,
  // A sidecar that is still starting is found soon.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};

/** A method whose requests and responses are I and O. */
export type Method<I extends DescMessage, O extends DescMessage> = DescMethod & { input: I; output: O };

/** Returns the address for gRPC. */
function address(target: string): string {
  if (!target.startsWith('unix:')) {
    if (!/^(\[[^\]/]+\]|[^/:]+):\d+$/.test(target)) {
      throw new TypeError(
        `cannot use "${target}" as a sidecar's address; write unix:///run/sidewarp/api.sock or localhost:7470`,
      );
    }
    return target;
  }
  const path = target.slice('unix:'.length).replace(/^\/\//, '');
  if (path === '') {
    throw new TypeError(`the address "${target}" has no path; write unix:///run/sidewarp/api.sock`);
  }
  return `unix:${resolve(path)}`;
}

export class Transport {
  private readonly client: grpc.Client;

  /** @param timeout limit in milliseconds of calls that do not wait for a peer */
  constructor(
    readonly target: string,
    readonly timeout: number,
  ) {
    this.client = new grpc.Client(address(target), grpc.credentials.createInsecure(), OPTIONS);
  }

  /** Waits until the sidecar takes calls. */
  awaitReady(wait: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.client.waitForReady(Date.now() + wait, (error) => {
        if (error === undefined) {
          resolve();
        } else {
          reject(late(`an answer of the sidecar at ${this.target}`, wait));
        }
      });
    });
  }

  /** Makes a unary call, which fails after `limit` milliseconds. `Infinity` is for calls that wait for a peer. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    limit = this.timeout,
  ): Promise<MessageShape<O>> {
    const { path, serialize, deserialize } = codec(method);
    return new Promise((resolve, reject) => {
      const options = limit === Infinity ? {} : { deadline: Date.now() + limit };
      const message = create(method.input, request);
      this.client.makeUnaryRequest(path, serialize, deserialize, message, options, (error, response) => {
        if (error === null) {
          resolve(response!);
        } else {
          reject(fromStatus(error, this.target));
        }
      });
    });
  }

  /**
   * Makes a call that creates an object, and waits at most `timeout` milliseconds.
   *
   * Such a call must not be cancelled, because only its answer names the object. After the limit the call goes on, and
   * `undo` gets the answer.
   */
  async create<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    undo: (late: MessageShape<O>) => void,
  ): Promise<MessageShape<O>> {
    const call = this.call(method, request, Infinity);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      if (this.timeout <= LONGEST_TIMER) {
        timer = setTimeout(() => {
          reject(late(`the answer to ${method.name}`, this.timeout));
          call.then(undo, () => {});
        }, this.timeout);
      }
    });
    try {
      return await Promise.race([call, limit]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes a call whose outcome matters to nobody, such as the release of an unused object. */
  forget<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): void {
    this.call(method, request).catch(() => {});
  }

  /** Begins a call with a stream of responses. */
  read<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    request: MessageInitShape<I>,
    onMessage: (message: MessageShape<O>) => void,
    onEnd: (failure: SidewarpError | undefined) => void,
  ): grpc.ClientReadableStream<MessageShape<O>> {
    const { path, serialize, deserialize } = codec(method);
    const message = create(method.input, request);
    const call = this.client.makeServerStreamRequest(path, serialize, deserialize, message);
    this.listen(call, onMessage, onEnd);
    return call;
  }

  /** Begins a call with streams in both directions. */
  exchange<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    onMessage: (message: MessageShape<O>) => void,
    onEnd: (failure: SidewarpError | undefined) => void,
  ): grpc.ClientDuplexStream<MessageShape<I>, MessageShape<O>> {
    const { path, serialize, deserialize } = codec(method);
    const call = this.client.makeBidiStreamRequest(path, serialize, deserialize);
    this.listen(call, onMessage, onEnd);
    return call;
  }

  /** Makes a call with a stream of requests. */
  async send<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    requests: Iterable<MessageInitShape<I>>,
  ): Promise<MessageShape<O>> {
    const { path, serialize, deserialize } = codec(method);
    let call!: grpc.ClientWritableStream<MessageShape<I>>;
    const answer = new Promise<MessageShape<O>>((resolve, reject) => {
      call = this.client.makeClientStreamRequest(path, serialize, deserialize, (error, response) => {
        if (error === null) {
          resolve(response!);
        } else {
          reject(fromStatus(error, this.target));
        }
      });
    });
    const failed = answer.then(
      () => true,
      () => true,
    );
    for (const request of requests) {
      if (!call.write(create(method.input, request))) {
        const drained = new Promise<false>((resolve) => call.once('drain', () => resolve(false)));
        if (await Promise.race([drained, failed])) {
          break;
        }
      }
    }
    call.end();
    return answer;
  }

  private listen<T>(
    call: grpc.ClientReadableStream<T> | grpc.ClientDuplexStream<unknown, T>,
    onMessage: (message: T) => void,
    onEnd: (failure: SidewarpError | undefined) => void,
  ): void {
    let ended = false;
    // Behind the messages that the stream still holds. The error comes before the end.
    const end = (failure: SidewarpError | undefined) =>
      setImmediate(() => {
        if (!ended) {
          ended = true;
          onEnd(failure);
        }
      });
    call.on('data', onMessage);
    call.on('error', (error: grpc.ServiceError) => end(fromStatus(error, this.target)));
    call.on('end', () => end(undefined));
  }

  close(): void {
    this.client.close();
  }
}

function codec<I extends DescMessage, O extends DescMessage>(method: Method<I, O>) {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (message: MessageShape<I>) => Buffer.from(toBinary(method.input, message)),
    deserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  };
}
