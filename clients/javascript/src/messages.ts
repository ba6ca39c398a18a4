// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Builds messages of the contract from plain objects, and refuses fields that the contract does not have.

import type { DescField, DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect';

type Loose<T> = T extends bigint
  ? bigint | number
  : T extends Uint8Array | string | number | boolean | null | undefined
    ? T
    : T extends (infer U)[]
      ? Loose<U>[]
      : { [K in keyof T]: Loose<T[K]> };

/** Fields of a message. A field of 64 bits takes a bigint, or a number that is a safe integer. */
export type Init<Desc extends DescMessage> = Loose<MessageInitShape<Desc>>;

const LONG_SCALARS = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
  ScalarType.SINT64,
]);

/**
 * Returns a message with the given fields.
 *
 * Throws a TypeError that names the field if the contract has no such field, or if the value does not fit.
 */
export function checked<Desc extends DescMessage>(schema: Desc, init: Init<Desc>): MessageShape<Desc> {
  const target = reflect(schema);
  fill(target, init, schema.name);
  return target.message as MessageShape<Desc>;
}

function fill(target: ReflectMessage, init: unknown, path: string): void {
  if (typeof init !== 'object' || init === null || Array.isArray(init)) {
    throw new TypeError(`${path} must be an object with fields of ${target.desc.name}; got ${describe(init)}`);
  }
  for (const [name, value] of Object.entries(init)) {
    if (value === undefined || name.startsWith('$')) {
      continue;
    }
    const member = target.members.find((candidate) => candidate.localName === name);
    if (member === undefined) {
      throw unknown(path, name, target.members.map((candidate) => candidate.localName));
    }
    if (member.kind === 'field') {
      setField(target, member, value, `${path}.${name}`);
      continue;
    }
    const choices = member.fields.map((field) => field.localName);
    const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    const extra = keys.find((key) => key !== 'case' && key !== 'value');
    if (extra !== undefined || !keys.includes('case')) {
      const form = `{ case: '${choices[0]}', value: ... }`;
      throw new TypeError(`${path}.${name} must have the form ${form}; got ${extra ?? describe(value)}`);
    }
    const chosen = value as { case?: string; value?: unknown };
    if (chosen.case !== undefined) {
      const field = member.fields.find((candidate) => candidate.localName === chosen.case);
      if (field === undefined) {
        throw unknown(`${path}.${name}`, chosen.case, choices);
      }
      setField(target, field, chosen.value, `${path}.${chosen.case}`);
    }
  }
}

function setField(target: ReflectMessage, field: DescField, value: unknown, path: string): void {
  if (field.fieldKind === 'message') {
    const nested = reflect(field.message);
    fill(nested, value, path);
    target.set(field, nested);
  } else if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) {
      throw new TypeError(`${path} must be an array; got ${describe(value)}`);
    }
    const list = target.get(field);
    value.forEach((element, index) => {
      const place = `${path}[${index}]`;
      if (field.listKind === 'message') {
        const nested = reflect(field.message);
        fill(nested, element, place);
        list.add(nested);
      } else {
        attempt(place, element, () => list.add(element));
      }
    });
  } else if (field.fieldKind === 'scalar' && LONG_SCALARS.has(field.scalar)) {
    attempt(path, value, () => target.set(field, long(value, path)));
  } else {
    attempt(path, value, () => target.set(field, value));
  }
}

/** Returns a number of 64 bits as bigint. Refuses numbers that have lost bits. */
export function long(value: unknown, path: string): bigint {
  if (typeof value === 'bigint') {
    return value;
  }
  if (!Number.isSafeInteger(value)) {
    throw new TypeError(`${path} must be a bigint or a safe integer; got ${describe(value)}`);
  }
  return BigInt(value as number);
}

function attempt(path: string, value: unknown, set: () => void): void {
  try {
    set();
  } catch (error) {
    throw error instanceof TypeError
      ? error
      : new TypeError(`${path} cannot be ${describe(value)}: ${(error as Error).message}`);
  }
}

/** Returns the error for a name that does not exist, with the nearest one that does. */
export function unknown(path: string, name: string, names: readonly string[]): TypeError {
  const near = nearest(name, names);
  const hint = near === undefined ? `it has ${names.join(', ')}` : `did you mean "${near}"?`;
  return new TypeError(`${path} has no field "${name}"; ${hint}`);
}

function nearest(name: string, names: readonly string[]): string | undefined {
  const plain = (text: string) => text.replaceAll(/[_-]/g, '').toLowerCase();
  const limit = Math.ceil(name.length / 3);
  const distances = names.map((candidate) => ({ candidate, steps: distance(plain(name), plain(candidate)) }));
  distances.sort((a, b) => a.steps - b.steps);
  const best = distances[0];
  return best !== undefined && best.steps <= limit ? best.candidate : undefined;
}

/** Returns the number of characters to insert, remove or replace. */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const current = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = previous[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[to.length]!;
}

function describe(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value);
  }
  return typeof value === 'object' && value !== null ? value.constructor?.name ?? 'an object' : String(value);
}
