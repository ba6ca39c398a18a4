// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.copy;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.Failures;
import io.sidewarp.cli.text.ProgressLine;
import io.sidewarp.cli.text.Sizes;
import io.sidewarp.cli.wire.Channel;
import io.sidewarp.cli.wire.ConnectionFlags;
import io.sidewarp.cli.wire.Frame;
import io.sidewarp.cli.wire.Hello;
import io.sidewarp.cli.wire.Server;
import io.sidewarp.cli.wire.Service;
import io.sidewarp.client.Access;
import io.sidewarp.client.IncomingConnection;
import io.sidewarp.client.Session;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;

/** Stores what clients push, and offers what they pull. */
final class CopyServer implements Server.GreetedHandler {

    private final Session session;
    private final ServedDirectory directory;
    private final boolean readOnly;
    private final long maxSize;
    private final ConnectionFlags flags;

    /**
     * @param readOnly true to store nothing
     * @param maxSize bytes of the largest file that is stored
     */
    CopyServer(Session session, ServedDirectory directory, boolean readOnly, long maxSize, ConnectionFlags flags) {
        this.session = session;
        this.directory = directory;
        this.readOnly = readOnly;
        this.maxSize = maxSize;
        this.flags = flags;
    }

    @Override
    public String serve(IncomingConnection request, Hello hello) throws IOException {
        if (hello.service() != Service.COPY) {
            Server.reject(request, "this is \"" + Service.COPY.server() + "\"");
            throw new Failure(ExitCode.PROTOCOL, "refused, it asked for another service");
        }
        try (Channel channel = Channel.accept(session, request, new Hello(Service.COPY), flags)) {
            try {
                Frame frame = channel.receive(CopyClient.PATIENCE);
                String told = switch (frame.type()) {
                    case CopyMessage.Put.TYPE -> store(channel, frame.read(CopyMessage.Put::decode));
                    case CopyMessage.Get.TYPE -> offer(channel, frame.read(CopyMessage.Get::decode));
                    default -> throw frame.unexpected();
                };
                channel.awaitPeerClose(CopyClient.PATIENCE);
                if (frame.type() == CopyMessage.Get.TYPE) {
                    // No message answers the last one. This fails when the client may not have received it.
                    channel.connection().close();
                }
                return told;
            } catch (IOException | RuntimeException e) {
                channel.sendError(Failures.of(e));
                channel.awaitPeerClose(CopyClient.PATIENCE);
                throw e;
            }
        }
    }

    private String store(Channel channel, CopyMessage.Put put) throws IOException {
        FileName name = FileName.of(put.name());
        checkStorable(name, put.size());
        try (Target target = directory.create(name);
                Window window = Window.create(session, put.chunk(), put.slots(), Access.REMOTE_WRITE)) {
            Window.Layout layout = layout(put.size(), put.chunk(), put.slots(), window);
            channel.send(new CopyMessage.Window(put.size(), window.region().address(), layout.chunk(), layout.slots()));
            Transfer transfer = new Transfer(name.toString(), put.size(), ProgressLine.hidden());
            for (long index = 0; index < layout.chunks(); index++) {
                Frame frame = channel.receive(CopyClient.PATIENCE);
                CopyMessage.Chunk chunk = frame.expect(CopyMessage.Chunk.TYPE, CopyMessage.Chunk::decode);
                if (chunk.index() != index || chunk.octets() != layout.octets(index)) {
                    throw frame.unexpected();
                }
                transfer.write(target.channel(), layout.buffer(window.region(), index));
                channel.send(new CopyMessage.Taken(index));
            }
            CopyMessage.Finish finish =
                    channel.receive(CopyClient.PATIENCE).expect(CopyMessage.Finish.TYPE, CopyMessage.Finish::decode);
            byte[] digest = transfer.digest();
            transfer.verify(finish, digest);
            target.commit();
            channel.send(new CopyMessage.Stored());
            return "stored " + name + ", " + transfer.verified(digest);
        }
    }

    private String offer(Channel channel, CopyMessage.Get get) throws IOException {
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
                            + Sizes.format(maxSize));
        }
        if (directory.usableSpace() < size) {
            throw new Failure(
                    ExitCode.NO_RESOURCES,
                    "\"" + name + "\" is not stored: it has " + Sizes.format(size) + ", and the server's disk has only "
                            + Sizes.format(directory.usableSpace()));
        }
    }

    /** Returns a layout with a window no larger than the client's own, whose size its request states. */
    private static Window.Layout layout(long size, int chunk, int slots, Window window) {
        return new Window.Layout(size, Math.clamp(chunk, 1, window.chunk()), Math.clamp(slots, 1, window.slots()));
    }

    private static void awaitTaken(Channel channel, long index) {
        Frame frame = channel.receive(CopyClient.PATIENCE);
        if (frame.expect(CopyMessage.Taken.TYPE, CopyMessage.Taken::decode).index() != index) {
            throw frame.unexpected();
        }
    }
}
