// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.Listener;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Writes a text into the memory of another process, and reads it back from there.
 *
 * <pre>
 * Hello.java serve PORT
 * Hello.java greet HOST:PORT [TEXT]
 * </pre>
 *
 * <p>The text has at most 4095 bytes.
 */
class Hello {

    private static final int SIZE = 4096;

    public static void main(String[] arguments) {
        try (SidewarpClient client = SidewarpClient.connect()) {
            client.awaitReady(Duration.ofMinutes(1));
            if (arguments[0].equals("serve")) {
                serve(client, Integer.parseInt(arguments[1]));
            } else {
                greet(client, arguments[1], arguments.length > 2 ? arguments[2] : "hello, memory");
            }
        }
    }

    private static void serve(SidewarpClient client, int port) {
        CompletableFuture<Connection> peer = new CompletableFuture<>();
        try (Session session = client.openSession("hello");
                SharedRegion inbox =
                        session.createSharedRegion("inbox", SIZE, Access.REMOTE_WRITE, Access.REMOTE_READ)) {
            // Each peer that connects gets the address of the region as private data. It needs no other message.
            ConnectionOptions welcome = ConnectionOptions.builder()
                    .privateData(inbox.address().encode())
                    .build();
            try (Listener listener = session.listen("", port, incoming -> peer.complete(incoming.accept(welcome)))) {
                System.out.println("listening at port " + listener.port());
                // This program takes no part in the transfer. It only waits until the peer has finished.
                peer.join().closed().join();
            }
            System.out.println("received: " + inbox.segment().getString(0));
        }
    }

    private static void greet(SidewarpClient client, String address, String text) {
        int colon = address.lastIndexOf(':');
        byte[] octets = text.getBytes(StandardCharsets.UTF_8);
        try (Session session = client.openSession("hello");
                SharedRegion region = session.createSharedRegion("outbox", 2 * SIZE, Access.LOCAL_WRITE);
                Connection connection =
                        session.connect(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)))) {
            RemoteAddress inbox = RemoteAddress.decode(connection.privateData());
            region.buffer().put(octets);
            connection.write(region.slice(0, octets.length), inbox);
            // A Write is complete when its memory may be changed again. After the flush, the peer has the text.
            connection.flush();
            connection.read(region.slice(SIZE, octets.length), inbox);
            System.out.println("read back: " + region.segment().getString(SIZE));
        }
    }
}
