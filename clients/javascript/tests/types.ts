// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

// Compiles only if the types of the package refuse what each comment names. Nothing runs this file.

import { Access, connect, type ConnectionOptions } from 'sidewarp';
import * as v1 from 'sidewarp/v1';

const session = await connect({ api: 'unix:///run/sidewarp/api.sock' });
const region = await session.region(4096, { access: [Access.LOCAL_WRITE, Access.REMOTE_READ] });
const connection = await session.dial('peer.example:7471', { options: { ord: 4, timeout: { seconds: 5 } } });
const local = [{ region: region.id, offset: 0, length: 13n }];

await connection.write(region.slice(0, 13), { stag: 1, taggedOffset: 5n });
await connection.write(region, connection.remote.plus(8), { immediate: 7, flush: true });
await session.call(v1.TransferService.method.write, {
  connection: connection.id,
  work: { local, remote: { stag: 1, taggedOffset: 0x1000 } },
});
const original: bigint | undefined = (await connection.fetchAdd(connection.remote, 1)).original;
const length: number = (await connection.receive(region)).length;
console.log(original, length);

// @ts-expect-error the name in the .proto file
await connection.write(region, { stag: 1, tagged_offset: 5n });
await session.call(v1.TransferService.method.write, {
  connection: connection.id,
  // @ts-expect-error the name in the .proto file, deep in a request
  work: { local, remote: { stag: 1, tagged_offset: 5n } },
});
// @ts-expect-error a field that the contract does not have
v1.checked(v1.SgeSchema, { region: 1n, ofset: 0n });
// @ts-expect-error a text in place of a number
v1.checked(v1.SgeSchema, { region: '1' });
// @ts-expect-error a misspelt option
await session.dial('peer.example:7471', { privatData: Buffer.from('x') });
// @ts-expect-error a misspelt option of the contract
const options: ConnectionOptions = { sendqueue: 3 };
// @ts-expect-error a text in place of a right
await session.region(4096, { access: ['ACCESS_LOCAL_WRITE'] });
console.log(options);
