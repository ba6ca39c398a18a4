// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Message;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SeekableByteChannel;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Stores the files that clients push, and offers the files that clients pull. */
final class CopyServer implements Server.GreetedHandler {

    private final Session session;
    private final ServedDirectory directory;
    private final boolean readOnly;
    private final long maxSize;
    private final long maxWindow;
    private final ConnectionFlags flags;

    /** Directories that clients have made. A client connects again after a failure, and then sets permissions. */
    private final Set<String> made = ConcurrentHashMap.newKeySet();

    /**
     * @param readOnly true to reject all pushed files
     * @param maxSize size limit of a pushed file in bytes
     * @param maxWindow size limit of a transfer's window in bytes
     */
    CopyServer(
            Session session,
            ServedDirectory directory,
            boolean readOnly,
            long maxSize,
            long maxWindow,
            ConnectionFlags flags) {
        this.session = session;
        this.directory = directory;
        this.readOnly = readOnly;
        this.maxSize = maxSize;
        this.maxWindow = maxWindow;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request, Hello hello) throws Exception {
        return Channel.serve(session, request, Service.COPY, flags, CopyMessage::decode, this::serve);
    }

    /** Carries out the requests of a client, one after the other. */
    private String serve(Channel<CopyMessage> channel) throws IOException {
        String told = "";
        int requests = 0;
        boolean offered = false;
        Optional<CopyMessage> request = Optional.of(channel.receive(CopyClient.PATIENCE));
        while (request.isPresent()) {
            told = switch (request.get()) {
                case CopyMessage.Put put -> store(channel, put);
                case CopyMessage.Get get -> offer(channel, get);
                case CopyMessage.ListDirectory list -> list(channel, list);
                case CopyMessage.MakeDirectory make -> make(channel, make);
                case CopyMessage.Restrict restrict -> restrict(channel, restrict);
                case CopyMessage other -> throw Message.unexpected(other.type());
            };
            requests++;
            offered = request.get() instanceof CopyMessage.Get;
            request = next(channel);
        }
        if (offered) {
            // The client does not acknowledge the last message. A close fails if that message may be lost.
            channel.connection().close();
        }
        return requests == 1 ? told : requests + " requests of a directory, the last: " + told;
    }

    /** Returns the next request, or empty when the client has no more. */
    private static Optional<CopyMessage> next(Channel<CopyMessage> channel) {
        try {
            return channel.next(CopyClient.PATIENCE);
        } catch (Failure e) {
            if (e.exitCode() == ExitCode.PROTOCOL) {
                throw e;
            }
            // Everything that the client asked for is done.
            return Optional.empty();
        }
    }

    private String store(Channel<CopyMessage> channel, CopyMessage.Put put) throws IOException {
        FileName name = FileName.of(put.name());
        checkStorable(name, put.size());
        Window.Layout wanted = new Window.Layout(put.size(), put.chunk(), put.slots());
        try (FileTarget target = directory.create(name, put.mode());
                Window window = Window.create(session, wanted, maxWindow, Access.REMOTE_WRITE)) {
            Window.Layout layout = layout(wanted, window);
            channel.send(new CopyMessage.Window(put.size(), window.region().address(), layout.chunk(), layout.slots()));
            Transfer transfer = new Transfer(name.toString(), put.size(), ProgressLine.hidden());
            for (long index = 0; index < layout.chunks(); index++) {
                layout.check(channel.receive(CopyClient.PATIENCE, CopyMessage.Chunk.class), index);
                transfer.write(target.channel(), layout.buffer(window.region(), index));
                channel.send(new CopyMessage.Taken(index));
            }
            CopyMessage.Finish finish = channel.receive(CopyClient.PATIENCE, CopyMessage.Finish.class);
            byte[] digest = transfer.digest();
            transfer.verify(finish, digest);
            target.commit();
            channel.send(new CopyMessage.Stored());
            return "stored " + name + ", " + transfer.verified(digest);
        }
    }

    private String offer(Channel<CopyMessage> channel, CopyMessage.Get get) throws IOException {
        FileName name = FileName.of(get.name());
        try (SeekableByteChannel file = directory.open(name)) {
            return offer(channel, name.toString(), file, file.size(), get.chunk(), get.slots());
        }
    }

    private String list(Channel<CopyMessage> channel, CopyMessage.ListDirectory list) throws IOException {
        FileName name = FileName.ofDirectory(list.name());
        byte[] content = directory.list(name).withoutHidden().encode();
        ReadableByteChannel source = Channels.newChannel(new ByteArrayInputStream(content));
        return offer(channel, "the listing of \"" + name + "\"", source, content.length, list.chunk(), list.slots());
    }

    private String make(Channel<CopyMessage> channel, CopyMessage.MakeDirectory make) throws IOException {
        FileName name = FileName.of(make.name());
        checkWritable(name);
        boolean created = directory.makeDirectory(name, make.mode() & Permissions.ALL);
        if (created) {
            made.add(name.toString());
        }
        channel.send(new CopyMessage.Made(created));
        return (created ? "made the directory " : "found the directory ") + name;
    }

    private String restrict(Channel<CopyMessage> channel, CopyMessage.Restrict restrict) throws IOException {
        FileName name = FileName.of(restrict.name());
        checkWritable(name);
        if (!made.contains(name.toString())) {
            throw new Failure(
                    ExitCode.NO_PERMISSION,
                    "\"" + name
                            + "\" keeps its permissions: no client has made this directory since the server started");
        }
        directory.restrict(name, restrict.mode());
        channel.send(new CopyMessage.Stored());
        return "restricted the directory " + name;
    }

    private String offer(
            Channel<CopyMessage> channel, String name, ReadableByteChannel file, long size, int chunk, int slots)
            throws IOException {
        Window.Layout wanted = new Window.Layout(size, chunk, slots);
        try (Window window = Window.create(session, wanted, maxWindow, Access.REMOTE_READ)) {
            Window.Layout layout = layout(wanted, window);
            channel.send(new CopyMessage.Window(size, window.region().address(), layout.chunk(), layout.slots()));
            Transfer transfer = new Transfer(name, size, ProgressLine.hidden());
            for (long index = 0; index < layout.chunks(); index++) {
                if (index >= layout.slots()) {
                    awaitTaken(channel, index - layout.slots());
                }
                transfer.read(file, layout.buffer(window.region(), index));
                channel.send(new CopyMessage.Chunk(index, layout.octets(index)));
            }
            for (long index = Math.max(0, layout.chunks() - layout.slots()); index < layout.chunks(); index++) {
                awaitTaken(channel, index);
            }
            byte[] digest = transfer.digest();
            channel.send(new CopyMessage.Finish(size, digest));
            return "sent " + name + ", " + transfer.summary(digest);
        }
    }

    private void checkWritable(FileName name) {
        if (readOnly) {
            throw new Failure(
                    ExitCode.NO_PERMISSION, "\"" + name + "\" is not stored: the server runs with --read-only");
        }
    }

    private void checkStorable(FileName name, long size) throws IOException {
        checkWritable(name);
        if (size < 0 || size > maxSize) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "\"" + name + "\" is not stored: it has " + Sizes.format(size) + ", and the server's --max-size is "
                            + Sizes.format(maxSize) + "; send a smaller file, or raise --max-size");
        }
        if (directory.usableSpace() < size) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "\"" + name + "\" is not stored: it has " + Sizes.format(size) + ", and the server's disk has only "
                            + Sizes.format(directory.usableSpace()) + " left; free space on that disk");
        }
    }

    /** Returns a layout with the chunk size and slots of the client's request, limited to those of the window. */
    private static Window.Layout layout(Window.Layout wanted, Window window) {
        int chunk = Math.clamp(wanted.chunk(), 1, window.chunk());
        return new Window.Layout(wanted.size(), chunk, Math.clamp(wanted.slots(), 1, window.slots()));
    }

    private static void awaitTaken(Channel<CopyMessage> channel, long index) {
        channel.receive(CopyClient.PATIENCE, CopyMessage.Taken.class).check(index);
    }
}
