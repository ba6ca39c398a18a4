// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionFailedException.Kind;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.provider.PostChecks;
import io.sidewarp.provider.ProviderQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A queue pair of the device. */
final class KernelQueuePair extends ProviderQueuePair implements CompletionRoutes.Owner {

    /** Interval of the checks whether posted work has completed. */
    private static final Duration LOOK = Duration.ofMillis(2);
    /** Time for the device to flush posted work. After this time, this class flushes the rest. */
    private static final Duration FLUSH_LIMIT = Duration.ofSeconds(1);
    /** Maximum time from an error, or from a close of this side, to the end of the stream. */
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

    private static final String UNCONFIRMED =
            "the connection ended before the peer confirmed the data sent last, and the device"
                    + " does not report whether the peer closed, terminated or reset it";

    private final KernelDevice device;
    private final KernelDomain domain;
    private final RegionUser regionUser;
    private final KernelCompletionQueue sendCompletions;
    private final KernelCompletionQueue receiveCompletions;
    private final @Nullable KernelSharedReceiveQueue sharedReceives;
    private final int maxSge;
    private final long qp;
    private final int qpNumber;
    private final Arena arena = Arena.ofShared();
    private final DeviceWorkQueue sends;
    private final DeviceWorkQueue receives;
    private final WorkCounters counters = new WorkCounters();
    private volatile boolean gone;
    /** True if both sides closed in good order, as far as the device reports. */
    private volatile boolean gracefulEnd;

    // Used only on the loop.
    private @Nullable Connecting setup;
    private @Nullable CmId connection;
    private String cause = "closed";
    /** True after a flush was posted that confirms sent data before this side closes. */
    private boolean confirming;
    /** True after this side has asked the device to close. */
    private boolean disconnecting;

    KernelQueuePair(KernelDevice device, KernelDomain domain, long number, QueuePairAttributes wanted, int maxSge) {
        super(number);
        this.device = device;
        this.domain = domain;
        this.regionUser = new RegionUser(domain.facade(), number);
        this.sendCompletions = (KernelCompletionQueue) wanted.sendCompletions();
        this.receiveCompletions = (KernelCompletionQueue) wanted.receiveCompletions();
        this.sharedReceives = (KernelSharedReceiveQueue) wanted.sharedReceives();
        this.maxSge = maxSge;
        this.qp = create(wanted);
        this.qpNumber = Native.getInt(qp + VerbsLayout.QP_NUM);
        this.sends = new DeviceWorkQueue(
                arena,
                CompletionRoutes.sendTag(number),
                wanted.sendQueue(),
                maxSge,
                (request, failed) -> device.dataPath().postSend(qp, request, failed));
        sends.setFlushSink(domain.sinkAddress(), domain.sinkKey());
        this.receives = new DeviceWorkQueue(
                arena,
                CompletionRoutes.receiveTag(number),
                wanted.receiveQueue(),
                maxSge,
                (request, failed) -> device.dataPath().postReceive(qp, request, failed));
        domain.facade().retainQueuePair();
        domain.lifetime().retain();
        sendCompletions.retain();
        receiveCompletions.retain();
        if (sharedReceives != null) {
            sharedReceives.retain();
        }
    }

    private long create(QueuePairAttributes wanted) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment attr = call.allocate(VerbsLayout.QP_INIT_ATTR_LENGTH, Long.BYTES);
            attr.set(LONG, VerbsLayout.QP_INIT_SEND_CQ, sendCompletions.handle());
            attr.set(LONG, VerbsLayout.QP_INIT_RECV_CQ, receiveCompletions.handle());
            attr.set(LONG, VerbsLayout.QP_INIT_SRQ, sharedReceives == null ? 0 : sharedReceives.handle());
            // A request with a flush takes two elements.
            attr.set(INT, VerbsLayout.QP_INIT_MAX_SEND_WR, 2 * wanted.sendQueue());
            attr.set(INT, VerbsLayout.QP_INIT_MAX_RECV_WR, wanted.receiveQueue());
            attr.set(INT, VerbsLayout.QP_INIT_MAX_SEND_SGE, maxSge);
            attr.set(INT, VerbsLayout.QP_INIT_MAX_RECV_SGE, maxSge);
            attr.set(INT, VerbsLayout.QP_INIT_TYPE, VerbsLayout.QP_TYPE_RC);
            long created = VerbsCalls.createQp(domain.handle(), attr);
            KernelErrors.check("cannot create a queue pair", created);
            int access = VerbsLayout.ACCESS_REMOTE_WRITE | VerbsLayout.ACCESS_REMOTE_READ;
            int result = modify(created, VerbsLayout.QPS_INIT, access);
            if (result < 0) {
                int ignored = VerbsCalls.destroyQp(created);
                KernelErrors.check("cannot create a queue pair", result);
            }
            return created;
        }
    }

    private static int modify(long qp, int newState, int access) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment attr = call.allocate(VerbsLayout.QP_ATTR_LENGTH, Long.BYTES);
            attr.set(INT, VerbsLayout.QP_ATTR_STATE, newState);
            attr.set(INT, VerbsLayout.QP_ATTR_ACCESS_FLAGS, access);
            int mask = VerbsLayout.QP_MASK_STATE | (access == 0 ? 0 : VerbsLayout.QP_MASK_ACCESS_FLAGS);
            return VerbsCalls.modifyQp(qp, attr, mask);
        }
    }

    long handle() {
        return qp;
    }

    /** Returns the device's number of this queue pair. The device reuses numbers. */
    int qpNumber() {
        return qpNumber;
    }

    boolean isShared() {
        return sharedReceives != null;
    }

    boolean uses(KernelCompletionQueue queue) {
        return queue == sendCompletions || queue == receiveCompletions;
    }

    @Override
    public DeviceWorkQueue sends() {
        return sends;
    }

    @Override
    public DeviceWorkQueue receives() {
        return receives;
    }

    @Override
    public WorkCounters work() {
        return counters;
    }

    @Override
    public boolean isGone() {
        return gone;
    }

    // Posting.

    @Override
    public PostResult postSend(Wr request) {
        boolean possible = switch (request.opcode()) {
            case RDMA_WRITE, RDMA_READ, SEND, FLUSH -> request.sgeCount() <= maxSge && !request.isLocalFence();
            default -> false;
        };
        // The lock prevents a post after the last check of posted work.
        synchronized (this) {
            if (!takesSends()) {
                return PostResult.INVALID_STATE;
            }
            PostResult check =
                    PostChecks.checkSend(request, regionUser, attributes().ord(), false);
            if (check != PostResult.POSTED || !possible) {
                return PostResult.INVALID_REQUEST;
            }
            return sends.post(request);
        }
    }

    @Override
    public synchronized PostResult postReceive(Wr request) {
        if (!takesReceives()) {
            return PostResult.INVALID_STATE;
        }
        PostResult check = PostChecks.checkReceive(request, regionUser);
        if (check != PostResult.POSTED || isShared() || request.sgeCount() > maxSge) {
            return PostResult.INVALID_REQUEST;
        }
        return receives.post(request);
    }
    // Set-up.

    @Override
    public CompletableFuture<ConnectionAttributes> connect(
            List<InetSocketAddress> remotes, ConnectionParameters parameters) {
        if (remotes.size() > 1) {
            throw new IllegalArgumentException("this connects to one address at a time, not to " + remotes);
        }
        CompletableFuture<ConnectionAttributes> result = new CompletableFuture<>();
        if (!beginSetup()) {
            result.completeExceptionally(notIdle());
            return result;
        }
        OutgoingConnection outgoing = new OutgoingConnection(device, this, remotes.getFirst(), parameters, result);
        device.loop().execute(() -> {
            if (state() == QueuePairState.CONNECTING) {
                setup = outgoing;
                outgoing.start();
            } else {
                result.completeExceptionally(
                        new ConnectionFailedException(Kind.ABORTED, "closed before it was connected"));
            }
        });
        return result;
    }

    /**
     * Begins a set-up, which is aborted when this side gives up. Returns false when the queue pair is not IDLE, or is
     * about to end. Runs on the loop.
     */
    boolean beginAccept(Connecting newSetup) {
        if (!beginSetup()) {
            return false;
        }
        setup = newSetup;
        return true;
    }
    /**
     * Enters RDMA mode. Runs on the loop.
     *
     * @return false when this side has given up meanwhile; the set-up is told by {@link Connecting#abort}
     */
    boolean onEstablished(CmId established, ConnectionAttributes agreed) {
        if (state() != QueuePairState.CONNECTING) {
            return false;
        }
        setup = null;
        connection = established;
        setAttributes(agreed);
        change(QueuePairState.RTS, "established");
        return true;
    }

    /** Ends after start-up failed. The end includes a call of {@link Connecting#abort}. Runs on the loop. */
    void onSetupFailed(String message) {
        finish(message);
    }

    // Ending, on the loop.

    /**
     * Handles the end of the connection. Devices report a peer that closed in the same way as a peer that terminated or
     * reset the connection.
     *
     * @param orderly whether the device reports no error
     */
    void onDisconnected(boolean orderly) {
        // Takes the completion of a flush that succeeded before the end.
        drain();
        gracefulEnd = orderly && disconnecting && state() == QueuePairState.CLOSING && !sends.hasFailed();
        if (state() == QueuePairState.RTS) {
            cause = "closed by the peer";
            if (!sends.isUnconfirmed()) {
                change(QueuePairState.CLOSING, cause);
            }
        }
        end();
    }

    /** Ends the stream. Reports an error if data was sent that may not have arrived. */
    private void end() {
        if (isOpen() && !gracefulEnd && sends.isUnconfirmed()) {
            cause = UNCONFIRMED;
            change(QueuePairState.TERMINATE, cause);
        }
        finish(cause);
    }

    /** Handles an error that the device found. */
    void onError(String message) {
        if (isOpen()) {
            cause = message;
            change(QueuePairState.TERMINATE, message);
            device.loop().schedule(CLOSE_LIMIT, () -> finish(message));
            CmId current = connection;
            if (current != null) {
                int ignored = current.disconnect();
            }
        }
    }

    private boolean isOpen() {
        return state() == QueuePairState.RTS || state() == QueuePairState.CLOSING;
    }

    private void change(QueuePairState newState, String message) {
        synchronized (this) {
            setState(newState);
        }
        tell(newState, null, message);
    }

    private void finish(String message) {
        synchronized (this) {
            if (state() == QueuePairState.CLOSED) {
                return;
            }
            setState(QueuePairState.CLOSED);
        }
        // Asks the device to flush posted work. A device that has already done this refuses the change.
        int ignored = modify(qp, VerbsLayout.QPS_ERR, 0);
        awaitFlush(message, System.nanoTime() + FLUSH_LIMIT.toNanos());
    }

    private void awaitFlush(String message, long until) {
        drain();
        if (sends.outstanding() + receives.outstanding() > 0 && System.nanoTime() - until < 0) {
            device.loop().schedule(LOOK, () -> awaitFlush(message, until));
            return;
        }
        gone = true;
        device.onClosed(this);
        sends.flush();
        sendCompletions.deliverAll(sends, number());
        receives.flush();
        receiveCompletions.deliverAll(receives, number());
        try {
            Connecting unfinished = setup;
            if (unfinished != null) {
                unfinished.abort();
            } else {
                destroy();
            }
            tell(QueuePairState.CLOSED, null, message);
        } finally {
            release();
        }
    }

    /** Releases the objects that this queue pair used, so that the application may close them. */
    private void release() {
        domain.facade().releaseQueuePair();
        sendCompletions.release();
        receiveCompletions.release();
        if (sharedReceives != null) {
            sharedReceives.release();
        }
        completeClosed();
    }

    private void drain() {
        sendCompletions.drain();
        if (receiveCompletions != sendCompletions) {
            receiveCompletions.drain();
        }
    }

    /**
     * Gives everything back to the device. If the device is still connecting, the set-up calls this after the device
     * has returned. Runs on the loop.
     */
    void destroy() {
        int ignored = VerbsCalls.destroyQp(qp);
        // From now on the device completes no receive of a shared queue for this queue pair.
        drain();
        device.routes().remove(this, qpNumber);
        CmId current = connection;
        if (current != null) {
            current.destroy();
        }
        arena.close();
        sendCompletions.lifetime().release();
        receiveCompletions.lifetime().release();
        if (sharedReceives != null) {
            sharedReceives.lifetime().release();
        }
        domain.lifetime().release();
    }

    @Override
    public CompletableFuture<Void> disconnect() {
        beginEnd();
        device.loop().execute(() -> {
            if (state() == QueuePairState.RTS) {
                cause = "closed";
                change(QueuePairState.CLOSING, cause);
                awaitSends(System.nanoTime() + CLOSE_LIMIT.toNanos());
            } else if (state() == QueuePairState.IDLE || state() == QueuePairState.CONNECTING) {
                finish("closed before it was connected");
            }
        });
        return closed();
    }

    /**
     * Waits until the peer has confirmed all sends, and then disconnects. Devices drop unfinished work when they
     * disconnect. Some devices do not wait until the peer has received finished work.
     */
    private void awaitSends(long until) {
        if (state() != QueuePairState.CLOSING) {
            return;
        }
        drain();
        if (sends.outstanding() > 0 && System.nanoTime() - until < 0) {
            device.loop().schedule(LOOK, () -> awaitSends(until));
            return;
        }
        if (!confirming
                && sends.outstanding() == 0
                && sends.isUnconfirmed()
                && attributes().ord() > 0) {
            confirming = sends.confirm();
            if (confirming) {
                device.loop().schedule(LOOK, () -> awaitSends(until));
                return;
            }
        }
        CmId current = connection;
        if (confirming && sends.isUnconfirmed() || current == null || current.disconnect() < 0) {
            end();
        } else {
            disconnecting = true;
            device.loop().schedule(CLOSE_LIMIT, this::end);
        }
    }

    @Override
    public CompletableFuture<Void> abort() {
        beginEnd();
        device.loop().execute(() -> finish("closed"));
        return closed();
    }

    // State and counters.

    @Override
    public boolean isUnconfirmed() {
        return state() == QueuePairState.CLOSED && !gracefulEnd && sends.isUnconfirmed();
    }

    /** Counts the work of this side. The device does not report Writes and Reads of the peer. */
    @Override
    public QueuePairCounters counters() {
        return counters.copy();
    }

    /** A set-up in progress. Runs on the loop. */
    interface Connecting {

        /**
         * Ends the set-up because this side gives up. Calls {@link KernelQueuePair#destroy} when the device has
         * finished with the set-up.
         */
        void abort();
    }
}
