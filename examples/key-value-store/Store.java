// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.SessionState;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.SupervisedSession;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A key-value store. Clients look up values in the memory of the server, by RDMA Read.
 *
 * <pre>
 * Store.java serve PORT
 * Store.java get HOST:PORT KEY [COUNT]
 * </pre>
 *
 * <p>Version 0 means that there is no such key. The program of the server takes no part in a look-up. It changes the
 * key "clock" all the time, so {@code get} meets torn reads there, and repeats them. All programs go on after the death
 * of their own sidecar or of the other one.
 */
class Store {

    // These numbers outlive failures.
    private static int found;
    private static long torn;
    private static long latest;

    public static void main(String[] arguments) throws InterruptedException {
        try (SidewarpClient client = SidewarpClient.connect()) {
            if (arguments[0].equals("serve")) {
                serve(client, Integer.parseInt(arguments[1]));
            } else {
                get(client, arguments[1], arguments[2], arguments.length > 3 ? Integer.parseInt(arguments[3]) : 1);
            }
        }
    }

    private static void serve(SidewarpClient client, int port) throws InterruptedException {
        try (SupervisedSession session = client.supervise("store")
                .region("table", (long) Table.SLOTS * Table.SLOT, Access.REMOTE_READ)
                .listen("", port, (state, incoming) -> {
                    // The STag is another one after the death of this sidecar. Clients connect again and learn it.
                    byte[] address = state.region("table").address().encode();
                    incoming.accept(
                            ConnectionOptions.builder().privateData(address).build());
                    System.out.println("a client has connected");
                })
                .start(state -> tick(state, port))) {
            Thread.currentThread().join();
        }
    }

    private static void tick(SessionState state, int port) throws InterruptedException {
        SharedRegion table = state.region("table");
        if (!table.fileExisted()) {
            Table.put(table, "greeting", version -> "hello, memory", 0);
        }
        System.out.println("listening at port " + port + (table.fileExisted() ? ", and the table is still there" : ""));
        while (!state.ended().isDone()) {
            // A real server does not pause inside of a change. The pause makes torn reads frequent enough to see.
            Table.put(table, "clock", version -> (version + " ").repeat(1000), 1);
            Thread.sleep(4);
        }
    }

    private static void get(SidewarpClient client, String address, String key, int count) {
        int colon = address.lastIndexOf(':');
        String copy = "copy-" + ProcessHandle.current().pid();
        CompletableFuture<Void> done = new CompletableFuture<>();
        try (SupervisedSession session = client.supervise("store")
                .region(copy, Table.SLOT, Access.LOCAL_WRITE)
                .connect("server", address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)))
                .start(state -> {
                    try {
                        look(state.connection("server"), state.region(copy), key, count);
                        done.complete(null);
                    } catch (AssertionError e) {
                        done.completeExceptionally(e);
                    }
                })) {
            done.join();
        }
    }

    private static void look(Connection server, SharedRegion copy, String key, int count) {
        RemoteAddress table = RemoteAddress.decode(server.privateData());
        while (found < count) {
            Table.Entry entry = Table.lookUp(place -> load(server, copy, table.plus(place), place), key);
            // All words of the clock are its version. A torn read would break this rule.
            String expected = key.equals("clock") ? (entry.version() + " ").repeat(1000) : entry.value();
            if (entry.version() < latest || !entry.value().equals(expected)) {
                throw new AssertionError("version " + entry.version() + " after " + latest);
            }
            latest = entry.version();
            if (++found % 100 == 0 || found == count) {
                String begin =
                        entry.value().substring(0, Math.min(20, entry.value().length()));
                System.out.printf("version %d: %s (%d torn reads)%n", latest, begin, torn);
            }
        }
    }

    private static Table.Entry load(Connection server, SharedRegion copy, RemoteAddress slot, int place) {
        while (true) {
            server.read(copy.slice(), slot);
            Optional<Table.Entry> entry = Table.decode(place, copy.buffer());
            if (entry.isPresent()) {
                return entry.orElseThrow();
            }
            torn++;
        }
    }
}
