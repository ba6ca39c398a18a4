// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp.kernel;

import io.sidewarp.engine.net.sctp.MessageSocket;
import io.sidewarp.engine.net.sctp.SctpAssociation;
import io.sidewarp.engine.net.sctp.SctpAssociationFacts;
import io.sidewarp.engine.net.sctp.SctpAssociationHandler;
import io.sidewarp.engine.net.sctp.SctpDestination;
import io.sidewarp.engine.net.sctp.SctpSettings;
import io.sidewarp.engine.net.sctp.StackAssociation;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An association of a {@link KernelEndpoint}, with its own socket. */
final class KernelAssociation extends StackAssociation {

    private static final Logger LOG = LoggerFactory.getLogger(KernelAssociation.class);

    /** Messages and events that are taken before other associations get their turn. */
    private static final int BATCH = 128;

    /** Bytes reserved for a SACK in the packet of a message (RFC 5043 section 9). */
    private static final int ROOM_FOR_SACK = 16;

    private final KernelEndpoint endpoint;
    private final KernelSocket socket;
    private final KernelFacts facts;
    private final int key;
    private final Runnable input = this::onInput;
    private final InetSocketAddress localAddress;
    private final Set<InetAddress> silentPaths = new HashSet<>();
    private volatile InetSocketAddress remoteAddress;
    private int messageSize = SctpSettings.LEAST_MESSAGE;
    private long retransmittedAtEnd;
    private boolean inputScheduled;
    private boolean writable;

    KernelAssociation(
            KernelEndpoint endpoint,
            KernelSocket socket,
            InetSocketAddress remote,
            SctpAssociationHandler handler,
            @Nullable CompletableFuture<SctpAssociation> connected) {
        super(endpoint.loops(), endpoint.loop(), endpoint.settings(), endpoint.messages(), handler, connected);
        this.endpoint = endpoint;
        this.socket = socket;
        this.facts = new KernelFacts(endpoint.area(), socket);
        this.remoteAddress = remote;
        this.localAddress = new InetSocketAddress(endpoint.localAddresses().getFirst(), socket.port());
        this.key = endpoint.poller().add(socket.descriptor(), this::onReady);
    }

    /** @param connected gets the exception unchanged when the socket fails at once */
    void connect(SctpDestination destination, Duration timeout, CompletableFuture<SctpAssociation> connected) {
        try {
            socket.connect(destination.addresses(), destination.port());
            begin(timeout, () -> {});
        } catch (IOException | RuntimeException | Error e) {
            connected.completeExceptionally(e);
            endNow(String.valueOf(e.getMessage()));
        }
    }

    /** Takes an association that the peer began and that is up already. */
    void accept(int inboundStreams, int outboundStreams) {
        guard(() -> {
            onUp(inboundStreams, outboundStreams);
            onInput();
        });
    }

    private void onReady(boolean nowWritable) {
        writable |= nowWritable;
        onInput();
    }

    private void onInput() {
        inputScheduled = false;
        touch();
        boolean more = false;
        try {
            more = drain(BATCH);
        } catch (RuntimeException | Error e) {
            fail(e);
        }
        inputDone();
        if (more && !inputScheduled) {
            inputScheduled = true;
            loop().execute(input);
        }
    }

    /** Checks for changes that no event reports. */
    void look() {
        if (isLive()) {
            guard(() -> {
                refresh();
                retry();
            });
        }
    }

    /** Asks the kernel again for values that depend on the paths. */
    private void refresh() {
        int size = socket.fragmentationPoint() - ROOM_FOR_SACK & ~3;
        if (size > 0) {
            // Where less fits, SCTP fragments (RFC 5043 section 9).
            messageSize = Math.max(size, SctpSettings.LEAST_MESSAGE);
        }
    }

    @Override
    protected boolean admit() {
        // Associations of peers were counted when they came. The association may be over by now; the socket reports
        // this next.
        InetSocketAddress primary = socket.primary();
        if (primary != null) {
            remoteAddress = primary;
        }
        refresh();
        return true;
    }

    @Override
    public void onPath(InetAddress path, boolean active) {
        if (active && silentPaths.remove(path)) {
            LOG.info("the path to {} of the association with {} answers again", path.getHostAddress(), remoteAddress);
        } else if (!active && silentPaths.add(path)) {
            LOG.warn(
                    "the path to {} of the association with {} does not answer; data uses another path if there is one",
                    path.getHostAddress(),
                    remoteAddress);
        }
        refresh();
    }

    @Override
    protected MessageSocket socket() {
        return socket;
    }

    @Override
    protected int messageSize() {
        if (socket.takeFragmented()) {
            refresh();
        }
        return messageSize;
    }

    @Override
    protected boolean mayHaveRoom() {
        return writable;
    }

    @Override
    protected void onFull() {
        writable = false;
    }

    @Override
    protected void flush() {
        // The kernel sends by itself.
    }

    @Override
    protected void onFinished() {
        retransmittedAtEnd = facts.retransmitted();
        endpoint.remove(this);
        endpoint.poller().remove(key, socket.descriptor());
    }

    @Override
    protected long countAcknowledged() {
        return socket.acknowledged();
    }

    @Override
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public int remoteUdpPort() {
        return KernelEndpoint.NO_UDP_PORT;
    }

    @Override
    public long retransmittedChunks() {
        return isLive() ? facts.retransmitted() : retransmittedAtEnd;
    }

    @Override
    public SctpAssociationFacts facts() {
        if (!isLive()) {
            return SctpAssociationFacts.NONE;
        }
        long unacknowledged = submitted() - socket.acknowledged();
        return facts.read(submitted(), unacknowledged);
    }
}
