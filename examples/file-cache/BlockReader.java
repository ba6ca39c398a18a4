// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.Sge;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/** The client of {@link Cache}: reads a file from the memory of the server, block by block. */
final class BlockReader {

    private static final int BLOCK = 256 << 10;
    private static final int WINDOW = 8 * BLOCK;

    private BlockReader() {}

    static void get(Session session, String address, String name, Path target) throws IOException {
        int colon = address.lastIndexOf(':');
        int port = Integer.parseInt(address.substring(colon + 1));
        ConnectionOptions options = ConnectionOptions.builder()
                .privateData(name.getBytes(StandardCharsets.UTF_8))
                .build();
        try (SharedRegion window = session.createSharedRegion(
                        "window-" + ProcessHandle.current().pid(), WINDOW, Access.LOCAL_WRITE);
                WorkQueue queue = session.openQueue(0);
                Connection connection = session.connect(address.substring(0, colon), port, options);
                FileChannel file = FileChannel.open(target, CREATE, TRUNCATE_EXISTING, WRITE)) {
            ByteBuffer welcome = ByteBuffer.wrap(connection.privateData());
            RemoteAddress remote = RemoteAddress.decode(welcome);
            long length = welcome.getLong();
            // Several Reads are under way, so that the network does not wait for this program.
            Queue<CompletableFuture<WorkCompletion>> reads = new ArrayDeque<>();
            long next = 0;
            for (long begin = 0; begin < length; begin += BLOCK) {
                for (; next < length && next < begin + WINDOW; next += BLOCK) {
                    Sge part = window.slice(next % WINDOW, Math.min(BLOCK, length - next));
                    reads.add(queue.submit(WorkRequest.read(connection, remote.plus(next), part)));
                }
                int octets = (int) reads.remove().join().orThrow().length();
                file.write(window.buffer(begin % WINDOW, octets));
            }
            System.out.println(name + ": " + length + " bytes");
        }
    }
}
