// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.FileRegion;
import io.netty.channel.unix.Errors;
import io.netty.util.AbstractReferenceCounted;
import io.sidewarp.engine.linux.SocketCalls;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * The first bytes of a staging buffer on their way into a socket. The socket may not take all of them at once. A
 * channel then takes the rest as a {@link FileRegion}, Netty's type for an object that writes itself. The channel asks
 * again when there is room. One connection uses the same instance again and again.
 */
final class StagedWrite extends AbstractReferenceCounted implements FileRegion {

    private final SocketCalls calls;
    private final int descriptor;
    private @Nullable StagingBuffer buffer;
    private int octets;
    private int sent;
    private int flags;

    /** @param descriptor of the socket, open as long as this is used */
    StagedWrite(SocketCalls calls, int descriptor) {
        this.calls = calls;
        this.descriptor = descriptor;
    }

    /**
     * Begins to write another buffer.
     *
     * @return whether the socket took all of it; if not, a channel has to take this region
     */
    boolean begin(StagingBuffer newBuffer, int length, int newFlags) throws IOException {
        buffer = newBuffer;
        octets = length;
        sent = 0;
        flags = newFlags;
        send();
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
        int result = calls.send(descriptor, from.address() + sent, octets - sent, flags);
        // Returns 0 for EAGAIN and throws for all other errors.
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
