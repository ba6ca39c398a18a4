// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import io.grpc.Status;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpException;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** A ring of processes. Each one writes into the memory of the next process. */
final class Ring implements AutoCloseable {

    private final Connection previous;
    private final Connection next;
    private final WorkQueue queue;
    private final Queue<CompletableFuture<WorkCompletion>> arrivals = new ArrayDeque<>();

    /**
     * Connects to the neighbours.
     *
     * @param region memory that the previous process writes into
     * @param steps number of calls of {@link #step} that follow
     */
    Ring(Session session, int rank, String[] addresses, SharedRegion region, int steps) throws InterruptedException {
        queue = session.openQueue(0);
        previous = session.createConnection(ConnectionOptions.builder()
                .privateData(region.address().encode())
                .build());
        // Each step takes one receive. All are there before the previous process can send.
        for (int step = 0; step < steps; step++) {
            arrivals.add(queue.submit(WorkRequest.receive(previous)));
        }
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        int port = Integer.parseInt(addresses[rank].replaceFirst(".*:", ""));
        try (Listener listener = session.listen("", port, request -> accepted.complete(request.accept(previous)))) {
            next = dial(session, addresses[(rank + 1) % addresses.length]);
            accepted.join();
        }
    }

    /** Connects to the next process, which may start later. */
    private static Connection dial(Session session, String address) throws InterruptedException {
        int colon = address.lastIndexOf(':');
        for (int attempt = 0; ; attempt++) {
            try {
                return session.connect(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
            } catch (SidewarpException e) {
                if (e.code() != Status.Code.UNAVAILABLE || attempt == 600) {
                    throw e;
                }
                Thread.sleep(100);
            }
        }
    }

    /**
     * Writes into the memory of the next process, and waits for what the previous process writes in this step.
     *
     * @param place offset in the next process's memory, in bytes
     * @return offset in this process's memory
     */
    long step(Sge local, long place) {
        RemoteAddress target = RemoteAddress.decode(next.privateData()).plus(place);
        queue.submit(WorkRequest.write(next, target, local).withImmediate(place))
                .join()
                .orThrow();
        // Immediate Data arrives after the Write that it belongs to.
        return arrivals.remove().join().orThrow().immediate().orElseThrow();
    }

    /** Leaves the ring when the neighbours need nothing from this process any more. */
    @Override
    public void close() {
        next.disconnect();
        previous.closed().join();
        queue.close();
    }
}
