// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.programs;

import io.sidewarp.client.Access;
import io.sidewarp.client.ClientOptions;
import io.sidewarp.client.Connection;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.nio.file.Path;

/**
 * A client that writes to a peer without end. The peer's private data holds the address to write to. Prints {@value
 * #FLOWING} when some writes are complete and others are outstanding.
 *
 * <p>Arguments: the API's address, the shared volume, the peer's host and port.
 */
public final class EndlessWriter {

    public static final String FLOWING = "flowing";

    /** Octets of a write. */
    public static final int OCTETS = 1 << 20;

    private static final int DEPTH = 16;

    private EndlessWriter() {}

    public static void main(String[] arguments) {
        ClientOptions options =
                ClientOptions.defaults().withTarget(arguments[0]).withSharedVolume(Path.of(arguments[1]));
        try (SidewarpClient client = SidewarpClient.connect(options);
                Session session = client.openSession("endless-writer");
                SharedRegion region = session.createSharedRegion("endless", OCTETS, Access.REMOTE_READ);
                Connection connection = session.connect(arguments[2], Integer.parseInt(arguments[3]));
                WorkQueue queue = session.openQueue(DEPTH)) {
            WorkRequest write =
                    WorkRequest.write(connection, RemoteAddress.decode(connection.privateData()), region.slice());
            long[] complete = {0};
            queue.onCompletion(completion -> {
                completion.orThrow();
                complete[0]++;
                if (complete[0] == 2 * DEPTH) {
                    System.out.println(FLOWING);
                }
            });
            while (true) {
                queue.post(0, write);
            }
        }
    }
}
