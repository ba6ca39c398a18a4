// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.FileRegion;
import io.netty.channel.unix.Errors;
import io.netty.util.AbstractReferenceCounted;
import io.sidewarp.engine.linux.SocketCalls;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Writes the first bytes of a staging buffer to a socket. If the socket does not take all bytes at once, a Netty
 * channel writes the rest. For the channel, this object is a {@link FileRegion}, Netty's type for an object that writes
 * itself. The channel calls {@link #transferTo} again when the socket has room. A connection reuses one instance.
 */
final class StagedWrite extends AbstractReferenceCounted implements FileRegion {

    private final SocketCalls calls;
    private final int descriptor;
    private @Nullable StagingBuffer buffer;
    private int octets;
    private int sent;
    private int flags;

    /** @param descriptor file descriptor of the socket, which must stay open while this object is in use */
    StagedWrite(SocketCalls calls, int descriptor) {
        this.calls = calls;
        this.descriptor = descriptor;
    }

    /**
     * Begins to write another buffer.
     *
     * @param records array with the bytes to write, or null if they are in the buffer. The buffer gets those that the
     *     socket does not take at once.
     * @return whether the socket took all bytes; if not, the caller must write this object to the channel
     */
    boolean begin(StagingBuffer newBuffer, @Nullable MemorySegment records, int length, int newFlags)
            throws IOException {
        buffer = newBuffer;
        octets = length;
        sent = 0;
        flags = newFlags;
        if (records == null) {
            send();
        } else {
            onResult(calls.send(descriptor, records, length, newFlags));
            MemorySegment.copy(records, sent, newBuffer.wire().segment(), sent, octets - sent);
        }
        return isDone();
    }

    private boolean isDone() {
        return sent == octets;
    }

    private long send() throws IOException {
        StagingBuffer from = buffer;
        if (from == null) {
            return 0;
        }
        return onResult(calls.send(descriptor, from.address() + sent, octets - sent, flags));
    }

    private int onResult(int result) throws IOException {
        // Errors.ioResult returns 0 for EAGAIN, and throws for all other errors.
        int taken = result >= 0 ? result : Errors.ioResult("send", result);
        sent += taken;
        if (isDone()) {
            buffer = null;
        }
        return taken;
    }

    @Override
    public long transferTo(WritableByteChannel ignored, long position) throws IOException {
        return send();
    }

    @Override
    public long position() {
        return 0;
    }

    @Override
    @Deprecated
    public long transfered() {
        return sent;
    }

    @Override
    public long transferred() {
        return sent;
    }

    @Override
    public long count() {
        return octets;
    }

    @Override
    public FileRegion retain() {
        super.retain();
        return this;
    }

    @Override
    public FileRegion retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public FileRegion touch() {
        return this;
    }

    @Override
    public FileRegion touch(Object hint) {
        return this;
    }

    @Override
    protected void deallocate() {
        buffer = null;
    }
}
