// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Memory regions: files of the shared volume, and memory of the sidecar.

import { constants } from 'node:fs';
import { access, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ClosedError, SidewarpError } from './errors.js';
import {
  CreateMode,
  MemoryService,
  type Region as Description,
  type StoreRequestSchema,
} from './gen/sidewarp/v1/memory_pb.js';
import { long } from './messages.js';
import type { Session } from './session.js';

export const DEFAULT_VOLUME = '/run/sidewarp/shared';
const STORE_PIECE = 128 << 10;
const ENCODED_LENGTH = 12;

/**
 * Ways to get the file of a shared region. `new`: the file must not exist. `reuse`: an existing file is opened, or
 * taken over with its content from a sidecar that was killed. `replace`: such a file is replaced. `never`: it must
 * exist.
 */
export type Create = 'new' | 'reuse' | 'replace' | 'never';
export const CREATE_MODES: Record<Create, CreateMode> = {
  new: CreateMode.MUST_BE_NEW,
  reuse: CreateMode.OPEN_OR_CREATE,
  replace: CreateMode.REPLACE,
  never: CreateMode.UNSPECIFIED,
};

/** A place in the memory of a peer: the STag and the tagged offset that the peer's application advertised. */
export class RemoteAddress {
  readonly taggedOffset: bigint;

  constructor(
    readonly stag: number,
    taggedOffset: bigint | number,
  ) {
    this.taggedOffset = long(taggedOffset, 'taggedOffset');
  }

  /** Returns the address a number of bytes further. */
  plus(bytes: bigint | number): RemoteAddress {
    return new RemoteAddress(this.stag, this.taggedOffset + BigInt(bytes));
  }

  /** Returns 12 bytes for private data, as the clients in Java and Python use them. */
  encode(): Buffer {
    const bytes = Buffer.alloc(ENCODED_LENGTH);
    bytes.writeUInt32BE(this.stag, 0);
    bytes.writeBigUInt64BE(BigInt.asUintN(64, this.taggedOffset), 4);
    return bytes;
  }

  /** Reads the first 12 bytes of private data. */
  static decode(bytes: Uint8Array): RemoteAddress {
    if (bytes.length < ENCODED_LENGTH) {
      throw new RangeError(
        `the address of a region has ${ENCODED_LENGTH} bytes; got ${bytes.length}. Does the peer send an address?`,
      );
    }
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, ENCODED_LENGTH);
    return new RemoteAddress(buffer.readUInt32BE(0), buffer.readBigUInt64BE(4));
  }

  toString(): string {
    return `0x${this.stag.toString(16).padStart(8, '0')}+${this.taggedOffset}`;
  }
}

/** A part of a region, in bytes: a local element of a work request. */
export class Slice {
  constructor(
    readonly region: Region,
    readonly offset: number,
    readonly length: number,
  ) {}

  /** Address of the part for peers. */
  get address(): RemoteAddress {
    return this.region.address.plus(this.offset);
  }
}

/** Local memory of a work request: a region, which stands for all of its bytes, a part of one, or several of them. */
export type Local = Region | Slice | readonly (Region | Slice)[];

export function slices(local: Local): Slice[] {
  if (local instanceof Slice) {
    return [local];
  }
  if (local instanceof Region) {
    return [local.slice()];
  }
  if (!Array.isArray(local)) {
    throw new TypeError('local memory must be a region, region.slice(begin, end), or an array of them');
  }
  return local.flatMap(slices);
}

/** Memory that is registered with the sidecar. */
export abstract class Region {
  readonly id: bigint;
  /** Length in bytes. */
  readonly length: number;
  protected closed = false;

  /** @internal */
  constructor(
    /** @internal */
    readonly session: Session,
    /** Description of the contract, as it was when the region was registered. */
    readonly description: Description,
  ) {
    this.id = description.id;
    this.length = Number(description.length);
  }

  /** @internal */
  get isClosed(): boolean {
    return this.closed;
  }

  /** Address for peers. It is only of use with a remote right. */
  get address(): RemoteAddress {
    return new RemoteAddress(this.description.stag, this.description.baseTaggedOffset);
  }

  /** Returns the part from byte `begin` to byte `end`, which is not in the part. */
  slice(begin = 0, end = this.length): Slice {
    if (!Number.isSafeInteger(begin) || !Number.isSafeInteger(end) || begin < 0 || begin > end || end > this.length) {
      throw new RangeError(`region ${this.id} has ${this.length} bytes; slice(${begin}, ${end}) is not inside of it`);
    }
    return new Slice(this, begin, end - begin);
  }

  /** Copies bytes, or a text in UTF-8, into the region from byte `offset` on. */
  async store(data: Uint8Array | string, offset = 0): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.slice(offset, offset + bytes.length);
    this.checkOpen();
    await this.put(bytes, offset);
  }

  /** Returns a copy of `length` bytes from byte `offset` on. */
  async load(offset = 0, length = this.length - offset): Promise<Buffer> {
    this.slice(offset, offset + length);
    this.checkOpen();
    return length === 0 ? Buffer.alloc(0) : this.get(offset, length);
  }

  protected abstract put(bytes: Uint8Array, offset: number): Promise<void>;

  protected abstract get(offset: number, length: number): Promise<Buffer>;

  /** Deregisters the region. Peers cannot use it any more afterwards. The sidecar removes a file that it created. */
  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    await this.release();
    if (this.session.isOpen) {
      try {
        await this.session.call(MemoryService.method.deregisterRegion, { region: this.id });
      } catch (error) {
        if (this.session.isOpen && (error as SidewarpError).code !== 'NOT_FOUND') {
          throw error;
        }
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal Ends the region on this side. */
  async release(): Promise<void> {
    this.closed = true;
    this.session.forget(this);
  }

  private checkOpen(): void {
    if (this.closed) {
      throw new ClosedError(`region ${this.id} is closed; register it again`);
    }
  }
}

/** A file of the shared volume. The sidecar maps it; this process reads and writes it. */
export class SharedRegion extends Region {
  /** @internal */
  constructor(
    session: Session,
    description: Description,
    private readonly file: FileHandle,
    private readonly begin: number,
  ) {
    super(session, description);
  }

  /** Path of the file in the shared volume. */
  get path(): string {
    return this.description.path;
  }

  /** True if the file existed before, and so has content. */
  get fileExisted(): boolean {
    return this.description.fileExisted;
  }

  protected async put(bytes: Uint8Array, offset: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.file.write(bytes, done, bytes.length - done, this.begin + offset + done)).bytesWritten;
    }
  }

  protected async get(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.file.read(bytes, done, length - done, this.begin + offset + done);
      if (bytesRead === 0) {
        throw new SidewarpError(
          `the file "${this.path}" of region ${this.id} ends before byte ${offset + length}; it was truncated.` +
            ' Register a region with another file',
          'DATA_LOSS',
        );
      }
      done += bytesRead;
    }
    return bytes;
  }

  /** @internal */
  override async release(): Promise<void> {
    await super.release();
    await this.file.close();
  }
}

/** Memory of the sidecar alone, for processes that do not mount the shared volume. */
export class ManagedRegion extends Region {
  protected async put(bytes: Uint8Array, offset: number): Promise<void> {
    const session = this.session;
    const header = { session: session.id, region: this.id, offset: BigInt(offset) };
    function* pieces(): Generator<MessageInitShape<typeof StoreRequestSchema>> {
      yield { header };
      for (let begin = 0; begin < bytes.length; begin += STORE_PIECE) {
        yield { data: bytes.subarray(begin, begin + STORE_PIECE) as Uint8Array<ArrayBuffer> };
      }
    }
    session.checkOpen();
    await session.transport.send(MemoryService.method.store, pieces());
  }

  protected get(offset: number, length: number): Promise<Buffer> {
    const { session } = this;
    const request = { session: session.id, region: this.id, offset: BigInt(offset), length: BigInt(length) };
    session.checkOpen();
    return new Promise((resolve, reject) => {
      const pieces: Uint8Array[] = [];
      session.transport.read(
        MemoryService.method.load,
        request,
        ({ data }) => pieces.push(data),
        (failure) => (failure === undefined ? resolve(Buffer.concat(pieces)) : reject(failure)),
      );
    });
  }
}

/** Opens a file of the shared volume in this process. A file that cannot be written is opened for reading. */
export async function openFile(volumes: string[], path: string, sidecarVolume: string): Promise<FileHandle> {
  for (const volume of volumes) {
    const file = join(volume, path);
    try {
      await access(file, constants.F_OK);
    } catch {
      continue;
    }
    try {
      return await open(file, 'r+').catch(() => open(file, 'r'));
    } catch (cause) {
      throw new SidewarpError(
        `the sidecar registered "${path}", but this process cannot open it: ${(cause as Error).message}; run as a` +
          " member of the file's group, in a pod by fsGroup or supplementalGroups",
        'FAILED_PRECONDITION',
        { cause },
      );
    }
  }
  throw new SidewarpError(
    "the sidecar's shared volume is not mounted in this process: there is no file" +
      ` "${path}" in ${volumes.join(' or in ')}; mount the volume that the sidecar mounts at ${sidecarVolume}, and` +
      ' set SIDEWARP_VOLUME to where',
    'FAILED_PRECONDITION',
  );
}
