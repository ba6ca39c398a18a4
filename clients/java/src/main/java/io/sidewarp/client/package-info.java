// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The thin Java client of a Sidewarp sidecar: RDMA from Java.
 *
 * {@snippet :
 * try (SidewarpClient client = SidewarpClient.connect();
 *         Session session = client.openSession("example");
 *         SharedRegion region = session.createSharedRegion("hello", 4096, Access.LOCAL_WRITE);
 *         Connection connection = session.connect("peer.example", 7471)) {
 *     RemoteAddress there = RemoteAddress.decode(connection.privateData()); // the peer told where to write
 *     region.buffer().put("hello, memory".getBytes(StandardCharsets.UTF_8));
 *     connection.write(region.slice(0, 13), there);
 *     connection.flush(); // the peer has it in memory now
 *     connection.read(region.slice(2048, 13), there);
 * }
 * }
 *
 * <p>Blocking methods throw {@link io.sidewarp.client.SidewarpException}. Call them from any thread, including virtual
 * threads, but not from callbacks that are documented to run on the client's event loop.
 */
@NullMarked
package io.sidewarp.client;

import org.jspecify.annotations.NullMarked;
