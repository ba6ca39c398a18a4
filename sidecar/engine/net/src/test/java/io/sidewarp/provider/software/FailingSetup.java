// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ConnectionRequest;
import io.sidewarp.engine.verbs.ConnectionRequestHandler;
import io.sidewarp.engine.verbs.ListenAttributes;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.MpaPolicy;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.VerbsListener;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A set-up without a peer. There is no memory for its answer. */
final class FailingSetup extends IncomingSetup {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    private final EventLoop loop;
    private final SilentListener listener;
    volatile boolean dropped;

    FailingSetup(SoftwareDevice device) {
        this(device, device.loops().choose());
    }

    private FailingSetup(SoftwareDevice device, EventLoop loop) {
        this(device, loop, new SilentListener(device, loop));
    }

    private FailingSetup(SoftwareDevice device, EventLoop loop, SilentListener listener) {
        super(device, listener, loop, ADDRESS, ADDRESS);
        this.loop = loop;
        this.listener = listener;
    }

    /** Has the application get the request, and give an answer. */
    <T> CompletableFuture<T> ask(Function<ConnectionRequest, CompletableFuture<T>> application) throws Exception {
        loop.submit(() -> ask()).get(10, TimeUnit.SECONDS);
        return application.apply(this);
    }

    /** Requests that wait for their answer. */
    int waiting() throws Exception {
        return loop.submit(listener::waiting).get(10, TimeUnit.SECONDS);
    }

    @Override
    protected void answer(ConnectionParameters accepted) {
        throw new OutOfMemoryError("on purpose");
    }

    @Override
    protected void answer(MpaOptions rejection) {
        throw new OutOfMemoryError("on purpose");
    }

    @Override
    protected void drop() {
        dropped = true;
    }

    @Override
    protected void abort() {}

    @Override
    protected void onLapse() {}

    @Override
    protected void refuseOnLoop() {}

    @Override
    @Nullable
    protected String refusalOf(ConnectionParameters wanted) {
        return null;
    }

    @Override
    public byte[] privateData() {
        return new byte[0];
    }

    @Override
    public int mpaRevision() {
        return 1;
    }

    @Override
    public ReadDepths peerDepths() {
        return ReadDepths.UNKNOWN;
    }

    @Override
    public int replyRoom() {
        return MpaOptions.MAX_PRIVATE_DATA;
    }

    /** A listener that is bound nowhere. */
    private static final class SilentListener extends SoftwareListener {

        private static final ConnectionRequestHandler NOBODY = request -> {};

        SilentListener(SoftwareDevice device, EventLoop loop) {
            super(
                    device,
                    loop,
                    new ListenAttributes(Llp.TCP, MpaPolicy.defaults(), 1, 1, Duration.ofSeconds(10)),
                    NOBODY);
        }

        @Override
        protected CompletableFuture<VerbsListener> listen(InetSocketAddress address) {
            return CompletableFuture.completedFuture(this);
        }

        @Override
        protected CompletableFuture<Void> unbind() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public InetSocketAddress localAddress() {
            return ADDRESS;
        }

        @Override
        public OptionalInt udpPort() {
            return OptionalInt.empty();
        }
    }
}
