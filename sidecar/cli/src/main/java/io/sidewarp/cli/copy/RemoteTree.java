// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A directory at a server. Connects again after a failure, because the server ends a connection that has failed. */
final class RemoteTree implements Tree, AutoCloseable {

    private final RemoteFile root;
    private final FileName name;
    private final Supplier<CopyClient> connecting;
    private @Nullable CopyClient client;

    /**
     * @param root the directory
     * @param connecting connects to the server
     */
    RemoteTree(RemoteFile root, Supplier<CopyClient> connecting) {
        this.root = root;
        this.connecting = connecting;
        name = FileName.ofDirectory(root.name());
    }

    /** Returns the client of a connection, which is a new one after {@link #close()}. */
    CopyClient connect() {
        CopyClient connected = client;
        if (connected == null) {
            connected = connecting.get();
            client = connected;
        }
        return connected;
    }

    @Override
    public DirectoryListing list(FileName directory) throws IOException {
        return connect().list(name.resolve(directory).toString());
    }

    @Override
    public boolean makeDirectory(FileName directory, int mode) {
        return connect().makeDirectory(name.resolve(directory).toString(), mode);
    }

    @Override
    public void restrict(FileName directory, int mode) {
        connect().restrict(name.resolve(directory).toString(), mode);
    }

    /** Stores a file of this side. Returns its bytes. */
    long push(ServedDirectory source, FileName file, int mode) throws IOException {
        String stored = name.resolve(file).toString();
        try (SeekableByteChannel channel = source.open(file)) {
            return connect().push(channel, source.describe(file), stored, mode).octets();
        }
    }

    /**
     * Fetches a file.
     *
     * @param size bytes as the listing tells them
     * @return its bytes
     */
    long pull(FileName file, long size, ServedDirectory target, int mode) throws IOException {
        try (FileTarget created = target.create(file, mode)) {
            return connect().pull(name.resolve(file).toString(), size, created).octets();
        }
    }

    @Override
    public String describe(FileName file) {
        return new RemoteFile(root.server(), name.resolve(file).toString()).toString();
    }

    /** Closes the connection, if there is one. */
    @Override
    public void close() {
        CopyClient connected = client;
        client = null;
        if (connected != null) {
            connected.close();
        }
    }
}
