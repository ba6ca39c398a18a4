// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * A parameter server. Workers pull weights by RDMA Read, and push gradients by RDMA Write with Immediate.
 *
 * <pre>
 * Parameters.java serve PORT [WORKERS [MIB]]
 * Parameters.java work HOST:PORT [VERSIONS [MIB]]
 * </pre>
 *
 * <p>MIB is the size of the weights, 256 by default, and the same for all programs. The server needs that much memory
 * for the weights and again for each worker. The workers end when they have made VERSIONS of the weights together, 20
 * by default. Each version moves each weight half of the way to 3.
 */
record Parameters(Session session, long size) {

    /** The model begins with a page that has the number of the latest version, in 8 bytes. The weights follow. */
    static final int PAGE = 4096;

    public static void main(String[] arguments) throws InterruptedException {
        int number = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 0;
        long size = (arguments.length > 3 ? Long.parseLong(arguments[3]) : 256) << 20;
        try (SidewarpClient client = SidewarpClient.connect();
                Session session = client.openSession("parameters")) {
            if (arguments[0].equals("serve")) {
                new Parameters(session, size).serve(Integer.parseInt(arguments[1]), number > 0 ? number : 1);
            } else {
                Worker.work(session, arguments[1], number > 0 ? number : 20, size);
            }
        }
    }

    private void serve(int port, int workers) throws InterruptedException {
        CountDownLatch remaining = new CountDownLatch(workers);
        SharedRegion model = session.createSharedRegion("model", PAGE + size, Access.REMOTE_READ, Access.REMOTE_ATOMIC);
        try (Listener listener = session.listen("", port, incoming -> {
            serveWorker(model, incoming);
            remaining.countDown();
        })) {
            System.out.println("listening at port " + listener.port());
            remaining.await();
        }
        double sum = 0;
        for (long at = PAGE; at < model.length(); at += Float.BYTES) {
            sum += model.segment().get(JAVA_FLOAT, at);
        }
        System.out.printf("the mean weight is %.3f%n", sum * Float.BYTES / size);
    }

    private void serveWorker(SharedRegion model, IncomingConnection incoming) {
        // Each worker has its own inbox, so workers do not overwrite each other's gradients.
        try (SharedRegion inbox = session.createSharedRegion("inbox-" + incoming.id(), size, Access.REMOTE_WRITE);
                WorkQueue queue = session.openQueue(0)) {
            ByteBuffer addresses = ByteBuffer.allocate(2 * RemoteAddress.ENCODED_LENGTH);
            model.address().encode(addresses);
            inbox.address().encode(addresses);
            Connection connection = session.createConnection(
                    ConnectionOptions.builder().privateData(addresses.array()).build());
            // A message that finds no receive ends the connection. So the receive is there before the worker is.
            CompletableFuture<WorkCompletion> push = queue.submit(WorkRequest.receive(connection));
            incoming.accept(connection);
            // After the worker has disconnected, the last receive is flushed. That is no success.
            for (WorkCompletion arrived = push.join(); arrived.isSuccess(); arrived = push.join()) {
                // Immediate Data arrives after the Write that it belongs to. The gradient is complete now.
                long version = arrived.immediate().orElseThrow();
                push = queue.submit(WorkRequest.receive(connection));
                add(inbox.segment(), model.segment().asSlice(PAGE));
                System.out.println("version " + version);
                // The answer permits the worker to use its inbox again.
                connection.perform(WorkRequest.immediate(connection, version));
            }
        }
    }

    private synchronized void add(MemorySegment gradient, MemorySegment weights) {
        for (long at = 0; at < size; at += Float.BYTES) {
            weights.set(JAVA_FLOAT, at, weights.get(JAVA_FLOAT, at) + gradient.get(JAVA_FLOAT, at));
        }
    }
}
