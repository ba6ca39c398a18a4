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
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;

/** Stores the files that clients push, and offers the files that clients pull. */
final class CopyServer implements Server.GreetedHandler {

    private final Session session;
    private final ServedDirectory directory;
    private final boolean readOnly;
    private final long maxSize;
    private final ConnectionFlags flags;

    /**
     * @param readOnly true to reject all pushed files
     * @param maxSize size limit of a pushed file in bytes
     */
    CopyServer(Session session, ServedDirectory directory, boolean readOnly, long maxSize, ConnectionFlags flags) {
        this.session = session;
        this.directory = directory;
        this.readOnly = readOnly;
        this.maxSize = maxSize;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request, Hello hello) throws Exception {
        return Channel.serve(session, request, Service.COPY, flags, CopyMessage::decode, this::serve);
    }

    private String serve(Channel<CopyMessage> channel) throws IOException {
        return switch (channel.receive(CopyClient.PATIENCE)) {
            case CopyMessage.Put put -> {
                String told = store(channel, put);
                channel.awaitPeerClose(CopyClient.PATIENCE);
                yield told;
            }
            case CopyMessage.Get get -> {
                String told = offer(channel, get);
                channel.awaitPeerClose(CopyClient.PATIENCE);
                // The client does not acknowledge the last message. A close fails if that message may be lost.
                channel.connection().close();
                yield told;
            }
            case CopyMessage other -> throw Message.unexpected(other.type());
        };
    }

    private String store(Channel<CopyMessage> channel, CopyMessage.Put put) throws IOException {
        FileName name = FileName.of(put.name());
        checkStorable(name, put.size());
        try (FileTarget target = directory.create(name);
                Window window = Window.create(session, put.chunk(), put.slots(), Access.REMOTE_WRITE)) {
            Window.Layout layout = layout(put.size(), put.chunk(), put.slots(), window);
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
        try (SeekableByteChannel file = directory.open(name);
                Window window = Window.create(session, get.chunk(), get.slots(), Access.REMOTE_READ)) {
            long size = file.size();
            Window.Layout layout = layout(size, get.chunk(), get.slots(), window);
            channel.send(new CopyMessage.Window(size, window.region().address(), layout.chunk(), layout.slots()));
            Transfer transfer = new Transfer(name.toString(), size, ProgressLine.hidden());
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

    private void checkStorable(FileName name, long size) throws IOException {
        if (readOnly) {
            throw new Failure(
                    ExitCode.NO_PERMISSION, "\"" + name + "\" is not stored: the server runs with --read-only");
        }
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
    private static Window.Layout layout(long size, int chunk, int slots, Window window) {
        return new Window.Layout(size, Math.clamp(chunk, 1, window.chunk()), Math.clamp(slots, 1, window.slots()));
    }

    private static void awaitTaken(Channel<CopyMessage> channel, long index) {
        channel.receive(CopyClient.PATIENCE, CopyMessage.Taken.class).check(index);
    }
}
