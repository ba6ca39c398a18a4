// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import io.sidewarp.client.Access;
import io.sidewarp.client.ConnectionOptions;
import io.sidewarp.client.ConnectionRejectedException;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Listener;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * A file cache. The server keeps files in regions, and clients read blocks of them by RDMA Read.
 *
 * <pre>
 * Cache.java serve PORT DIRECTORY
 * Cache.java get HOST:PORT NAME FILE
 * </pre>
 *
 * <p>The server loads a file when a client asks for it the first time, and keeps it until the end.
 */
class Cache {

    /** Private data for the clients of each loaded file: address and length. */
    private final Map<String, byte[]> loaded = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        try (SidewarpClient client = SidewarpClient.connect();
                Session session = client.openSession("cache")) {
            if (arguments[0].equals("serve")) {
                new Cache().serve(session, Integer.parseInt(arguments[1]), Path.of(arguments[2]).toRealPath());
            } else {
                BlockReader.get(session, arguments[1], arguments[2], Path.of(arguments[3]));
            }
        } catch (ConnectionRejectedException e) {
            System.err.println("rejected: " + new String(e.privateData(), StandardCharsets.UTF_8));
            System.exit(1);
        }
    }

    private void serve(Session session, int port, Path directory) {
        try (Listener listener = session.listen("", port, incoming -> answer(session, directory, incoming))) {
            System.out.println("listening at port " + listener.port());
            listener.closed().join();
        }
    }

    private void answer(Session session, Path directory, IncomingConnection incoming) {
        // The private data of the client is the name of the file. The answer of the server needs no message either.
        String name = new String(incoming.privateData(), StandardCharsets.UTF_8);
        try {
            byte[] answer = load(session, directory, name);
            incoming.accept(ConnectionOptions.builder().privateData(answer).build());
        } catch (IOException | InvalidPathException e) {
            incoming.reject("there is no such file".getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Returns the private data for a client. */
    private synchronized byte[] load(Session session, Path directory, String name) throws IOException {
        Path path = directory.resolve(name).toRealPath();
        // Files of ConfigMaps are links in their volume. No link that leads out of the directory is served.
        if (name.contains("/") || !path.startsWith(directory) || !Files.isRegularFile(path)) {
            throw new NoSuchFileException(name);
        }
        if (!loaded.containsKey(name)) {
            long length = Files.size(path);
            // A region has at least one byte.
            SharedRegion region = session.createSharedRegion("of-" + name, Math.max(1, length), Access.REMOTE_READ);
            try (FileChannel file = FileChannel.open(path);
                    Arena arena = Arena.ofConfined()) {
                region.segment().copyFrom(file.map(FileChannel.MapMode.READ_ONLY, 0, length, arena));
            }
            ByteBuffer answer = ByteBuffer.allocate(RemoteAddress.ENCODED_LENGTH + Long.BYTES);
            region.address().encode(answer);
            loaded.put(name, answer.putLong(length).array());
            System.out.println("loaded " + name);
        }
        return loaded.get(name);
    }
}
