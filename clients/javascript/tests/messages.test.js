// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Messages of the contract: fields that do not exist, values that do not fit, addresses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Access, RemoteAddress, SidewarpError, connect } from 'sidewarp';
import * as v1 from 'sidewarp/v1';

const refused = (schema, init, pattern) => assert.throws(() => v1.checked(schema, init), pattern);

test('a misspelt field is refused with its near match', () => {
  const remote = { stag: 1, tagged_offset: 5n };
  refused(v1.RemoteAddressSchema, remote, {
    name: 'TypeError',
    message: 'RemoteAddress has no field "tagged_offset"; did you mean "taggedOffset"?',
  });
  refused(v1.WriteRequestSchema, { work: { remote } }, /WriteRequest\.work\.remote has no field .* "taggedOffset"/);
  refused(v1.SgeSchema, { ofset: 1n }, /did you mean "offset"/);
  refused(v1.WorkRequestSchema, { work: { case: 'wirte', value: {} } }, /did you mean "write"/);
  refused(v1.SgeSchema, { nonsense: 1 }, /Sge has no field "nonsense"; it has region, offset, length/);
});

test('a member of a group needs its form', () => {
  const form = /must have the form \{ case: 'shared'/;
  refused(v1.RegisterRegionRequestSchema, { backing: { managed: { length: 8n } } }, form);
  refused(v1.RegisterRegionRequestSchema, { managed: { length: 8n } }, /has no field "managed"/);
});

test('a value that does not fit is refused with its field', () => {
  refused(v1.SgeSchema, { offset: '5' }, /Sge\.offset must be a bigint or a safe integer; got "5"/);
  refused(v1.SgeSchema, { offset: 2 ** 60 }, /Sge\.offset/);
  refused(v1.SgeSchema, { offset: -1 }, /Sge\.offset cannot be -1/);
  refused(v1.ListenRequestSchema, { port: 'x' }, /ListenRequest\.port cannot be "x"/);
  refused(v1.RegisterRegionRequestSchema, { access: ['ACCESS_LOCAL_WRITE'] }, /access\[0\] cannot be/);
  refused(v1.WriteWorkSchema, { local: {} }, /WriteWork\.local must be an array/);
  refused(v1.WriteWorkSchema, { remote: 5 }, /WriteWork\.remote must be an object/);
});

test('numbers and bigints set fields of 64 bits', () => {
  const message = v1.checked(v1.SgeSchema, { region: 7n, offset: 4096, length: undefined });
  assert.deepEqual([message.region, message.offset, message.length], [7n, 4096n, 0n]);
  const register = v1.checked(v1.RegisterRegionRequestSchema, {
    access: [Access.REMOTE_READ],
    backing: { case: 'shared', value: { path: 'a', length: 8 } },
  });
  assert.equal(register.backing.value.length, 8n);
  // A message that was received can be sent.
  assert.deepEqual(v1.checked(v1.RegisterRegionRequestSchema, register), register);
});

test('an address has the encoding of the other clients', () => {
  const address = new RemoteAddress(0x01020304, 0xfffffffffffffff0n);
  assert.equal(address.encode().toString('hex'), '01020304fffffffffffffff0');
  assert.deepEqual(RemoteAddress.decode(address.encode()), address);
  assert.deepEqual(new RemoteAddress(1, 2).plus(6), new RemoteAddress(1, 8n));
  assert.throws(() => RemoteAddress.decode(Buffer.alloc(11)), /has 12 bytes; got 11/);
});

test('errors of the address say what to do', async () => {
  const unreachable = connect({ api: 'unix:///nowhere/api.sock', timeout: 5000 });
  const message = /the socket does not exist.*SIDEWARP_API/;
  await assert.rejects(unreachable, { code: 'UNAVAILABLE', retry: 'later', message });
  await assert.rejects(connect({ api: 'nonsense' }), /cannot use "nonsense"/);
  await assert.rejects(connect({ ap: 'x' }), /has no field "ap"; did you mean "api"/);
  await assert.rejects(connect({ api: 'unix:///nowhere/api.sock', wait: 200 }), (error) => {
    assert.ok(error instanceof SidewarpError && error.retryable);
    return error.code === 'DEADLINE_EXCEEDED';
  });
});
