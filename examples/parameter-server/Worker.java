// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** The worker of {@link Parameters}: pulls weights and pushes gradients. */
final class Worker {

    private Worker() {}

    static void work(Session session, String address, int versions, long size) {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        int made = 0;
        try (SharedRegion region = session.createSharedRegion(
                        "weights-" + ProcessHandle.current().pid(), size, Access.LOCAL_WRITE);
                WorkQueue queue = session.openQueue(0);
                Connection connection = session.connect(host, Integer.parseInt(address.substring(colon + 1)))) {
            ByteBuffer addresses = ByteBuffer.wrap(connection.privateData());
            RemoteAddress model = RemoteAddress.decode(addresses);
            RemoteAddress inbox = RemoteAddress.decode(addresses);
            MemorySegment values = region.segment();
            // Claims a version by FetchAdd in the server's memory. No other worker gets the same number.
            for (long version = claim(connection, model); version <= versions; version = claim(connection, model)) {
                queue.submit(WorkRequest.read(connection, model.plus(Parameters.PAGE), region.slice()))
                        .join()
                        .orThrow();
                // The gradient replaces the weights in this memory. Other workers may change the weights meanwhile.
                for (long at = 0; at < size; at += Float.BYTES) {
                    values.set(JAVA_FLOAT, at, (3 - values.get(JAVA_FLOAT, at)) / 2);
                }
                CompletableFuture<WorkCompletion> answer = queue.submit(WorkRequest.receive(connection));
                WorkRequest push =
                        WorkRequest.write(connection, inbox, region.slice()).withImmediate(version);
                queue.submit(push).join().orThrow();
                answer.join().orThrow();
                made++;
            }
        }
        System.out.println("made " + made + " versions");
    }

    private static long claim(Connection connection, RemoteAddress model) {
        return connection.fetchAdd(model, 1) + 1;
    }
}
