// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.rdmap.CompletionSink;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.Receives;
import io.sidewarp.engine.rdmap.StreamListener;
import io.sidewarp.engine.rdmap.StreamState;
import io.sidewarp.engine.rdmap.Wqe;
import io.sidewarp.engine.rdmap.WqeQueue;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Llp;
import io.sidewarp.engine.verbs.PostResult;
import io.sidewarp.engine.verbs.QueuePairAttributes;
import io.sidewarp.engine.verbs.QueuePairCounters;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.RdmapError;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.PostChecks;
import io.sidewarp.provider.ProviderQueuePair;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the engine. Posting threads fill work queues and ring a doorbell; the event loop of the connection
 * does everything else. A new queue pair uses the caller's loop, if that is one of the engine's, else another loop of
 * the engine. Once the connection has a loop, the queue pair uses that.
 */
public final class SoftwareQueuePair extends ProviderQueuePair implements CompletionSink, StreamListener {

    private final SoftwareDevice device;
    private final Pd protectionDomain;
    private volatile RegionUser regionUser;
    private final SoftwareCompletionQueue sendCompletions;
    private final SoftwareCompletionQueue receiveCompletions;
    private final WqeQueue sendQueue;
    private final WqeQueue receiveQueue;
    private final @Nullable SoftwareSharedReceiveQueue sharedReceives;
    private final Doorbell doorbell = new Doorbell(this::onWorkPosted);
    private final CompletableFuture<Void> sendPermitted = new CompletableFuture<>();

    private volatile EventLoop loop;
    private volatile int ord = Integer.MAX_VALUE;
    private volatile boolean extensions;
    private volatile boolean unconfirmed;
    private volatile @Nullable StreamError failure;
    private volatile Runnable receiveSupply = () -> {};
    // Changed only on the event loop.
    private volatile @Nullable RdmapStream stream;
    private @Nullable ConnectionSetup setup;
    private final StreamTimers timers;
    private boolean signalSend;
    private boolean signalReceive;
    private boolean urgent;

    SoftwareQueuePair(SoftwareDevice device, long number, QueuePairAttributes wanted, EventLoop loop) {
        super(number);
        this.device = device;
        this.protectionDomain = wanted.protectionDomain();
        this.regionUser = new RegionUser(protectionDomain, number);
        this.sendCompletions = (SoftwareCompletionQueue) wanted.sendCompletions();
        this.receiveCompletions = (SoftwareCompletionQueue) wanted.receiveCompletions();
        this.sendQueue = new WqeQueue(wanted.sendQueue());
        this.receiveQueue = new WqeQueue(wanted.receiveQueue());
        this.sharedReceives = (SoftwareSharedReceiveQueue) wanted.sharedReceives();
        this.loop = loop;
        this.timers = new StreamTimers(device.settings());
        protectionDomain.retainQueuePair();
        sendCompletions.retain();
        receiveCompletions.retain();
        if (sharedReceives != null) {
            sharedReceives.retain();
        }
    }

    /** Returns this queue pair as a user of regions. */
    RegionUser regionUser() {
        return regionUser;
    }

    /** Sets the verified identity of the peer, before the stream begins. Runs on the event loop. */
    void setPeer(String peer) {
        regionUser = new RegionUser(protectionDomain, number(), peer);
    }

    WqeQueue sendQueue() {
        return sendQueue;
    }

    Receives receives() {
        SoftwareSharedReceiveQueue shared = sharedReceives;
        return shared == null
                ? Receives.of(receiveQueue, this::supplyReceives)
                : Receives.of(shared.receives(), this::supplyReceives);
    }

    @Override
    public void setReceiveSupply(Runnable supply) {
        receiveSupply = supply;
    }

    private void supplyReceives() {
        receiveSupply.run();
    }

    EventLoop loop() {
        return loop;
    }

    // Posting.

    @Override
    public PostResult postSend(Wr request) {
        if (!takesSends()) {
            return PostResult.INVALID_STATE;
        }
        PostResult check = PostChecks.checkSend(request, regionUser, ord, extensions);
        if (check != PostResult.POSTED) {
            return check;
        }
        long sequence = sendQueue.claim();
        if (sequence < 0) {
            return PostResult.QUEUE_FULL;
        }
        sendQueue.slot(sequence).set(request);
        sendQueue.publish(sequence);
        ringDoorbell();
        return PostResult.POSTED;
    }

    @Override
    public PostResult postReceive(Wr request) {
        if (!takesReceives()) {
            return PostResult.INVALID_STATE;
        }
        if (sharedReceives != null) {
            return PostResult.INVALID_REQUEST;
        }
        PostResult check = PostChecks.checkReceive(request, regionUser);
        if (check != PostResult.POSTED) {
            return check;
        }
        if (!receiveQueue.post(request, (wanted, wqe) -> wqe.set(wanted))) {
            return PostResult.QUEUE_FULL;
        }
        if (!loop.inEventLoop()) {
            // As in Doorbell, the queue pair may have ended meanwhile. Then this receive has to be flushed, too.
            VarHandle.fullFence();
            if (!takesReceives()) {
                ringDoorbell();
            }
        }
        return PostResult.POSTED;
    }

    private void ringDoorbell() {
        EventLoop owner = loop;
        if (owner.inEventLoop()) {
            onWorkPosted();
        } else {
            doorbell.ring(owner);
        }
    }

    private void onWorkPosted() {
        RdmapStream current = stream;
        if (current != null) {
            current.onWorkPosted();
        } else if (state() == QueuePairState.CLOSED) {
            flushUnconnected();
        }
    }

    // Completions, on the event loop.

    @Override
    public void onSendCompletion(Wqe wqe, CqeStatus status, @Nullable StreamError error) {
        long sequence = sendCompletions.claim();
        if (sequence < 0) {
            onOverrun();
            return;
        }
        WrOpcode opcode = wqe.operation();
        boolean success = status == CqeStatus.SUCCESS;
        long length = opcode.isAtomic() ? Long.BYTES : wqe.length();
        Cqe entry = sendCompletions.entry(sequence);
        entry.set(wqe.id(), number(), opcode, status, success ? length : 0);
        entry.setError(error);
        entry.setResult(false, success ? wqe.result() : 0);
        sendCompletions.publish(sequence);
        signalSend = true;
        urgent |= !success;
    }

    @Override
    public void onReceiveCompletion(
            Wqe wqe, CqeStatus status, long length, int control, int invalidatedStag, @Nullable StreamError error) {
        long sequence = receiveCompletions.claim();
        if (sequence < 0) {
            onOverrun();
            return;
        }
        int opcode = RdmapControl.opcode(control);
        boolean solicited = RdmapControl.isSolicited(opcode);
        Cqe entry = receiveCompletions.entry(sequence);
        entry.set(wqe.id(), number(), WrOpcode.RECEIVE, status, length);
        entry.setError(error);
        entry.setReceived(solicited, RdmapControl.invalidates(opcode), invalidatedStag);
        entry.setResult(RdmapControl.isImmediate(opcode), wqe.result());
        receiveCompletions.publish(sequence);
        signalReceive = true;
        urgent |= solicited || status != CqeStatus.SUCCESS;
    }

    @Override
    public void onCompletionsDone() {
        boolean now = urgent;
        urgent = false;
        if (signalSend) {
            signalSend = false;
            sendCompletions.signal(now);
        }
        if (signalReceive) {
            signalReceive = false;
            receiveCompletions.signal(now);
        }
    }

    /** Fails the queue pair, because the completion is lost. Queue pairs that use other queues continue. */
    private void onOverrun() {
        RdmapStream current = stream;
        if (current != null && current.state() != StreamState.TERMINATED) {
            loop.execute(() -> current.fail(RdmapError.LOCAL_CATASTROPHIC));
        }
    }

    // Set-up.

    @Override
    public CompletableFuture<ConnectionAttributes> connect(
            List<InetSocketAddress> remotes, ConnectionParameters parameters) {
        SoftwareLowerLayer sctp = parameters.llp() == Llp.SCTP ? device.sctp() : null;
        if (parameters.llp() == Llp.SCTP && sctp == null) {
            return CompletableFuture.failedFuture(SoftwareDevice.withoutSctp());
        }
        ConnectionFailedException refusal = device.refusal(parameters.llp(), parameters.security());
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        synchronized (this) {
            if (!beginSetup()) {
                return CompletableFuture.failedFuture(notIdle());
            }
            if (sctp != null) {
                loop = sctp.loop();
            }
        }
        OutgoingSetup outgoing = sctp == null
                ? new OutgoingTcpSetup(device, this, remotes, parameters)
                : sctp.connect(this, remotes, parameters);
        loop.execute(() -> {
            if (state() == QueuePairState.CONNECTING) {
                setup = outgoing;
                outgoing.start();
            } else {
                // The queue pair was aborted before the set-up could begin.
                outgoing.abort();
            }
        });
        return outgoing.result();
    }

    /**
     * Binds this queue pair to an inbound connection's loop and set-up. Returns false when it is not IDLE, or is about
     * to end.
     */
    synchronized boolean beginAccept(EventLoop connectionLoop, ConnectionSetup incoming) {
        if (!beginSetup()) {
            return false;
        }
        loop = connectionLoop;
        setup = incoming;
        return true;
    }

    /** Enters RDMA mode after start-up. Runs on the event loop. */
    void onEstablished(RdmapStream newStream, ConnectionAttributes agreed) {
        stream = newStream;
        setup = null;
        setAttributes(agreed);
        ord = agreed.ord();
        extensions = newStream.extensions();
        if (agreed.initiator() || agreed.llp() == Llp.SCTP) {
            onOutputPermitted();
        }
        changeState(QueuePairState.RTS, null, "established");
    }

    /** Takes a stream that only sends a Terminate, which ends start-up. Runs on the event loop. */
    void onRefused(RdmapStream newStream) {
        stream = newStream;
        setup = null;
    }

    /** Ends after start-up failed. Runs on the event loop. */
    void onSetupFailed(String message) {
        setup = null;
        finish(null, message);
    }

    // Events of the stream.

    @Override
    public void onStreamState(StreamState newState, @Nullable StreamError error, String message) {
        switch (newState) {
            case OPEN -> {}
            case CLOSING -> {
                changeState(QueuePairState.CLOSING, error, message);
                timers.beginClosing(loop, stream);
            }
            case TERMINATED -> {
                changeState(QueuePairState.TERMINATE, error, message);
                timers.beginTerminate(loop, this::abortOnLoop);
            }
            case CLOSED -> finish(error, message);
        }
    }

    @Override
    public void onOutputPermitted() {
        sendPermitted.complete(null);
    }

    @Override
    public CompletableFuture<Void> sendPermitted() {
        return sendPermitted.copy();
    }

    private void finish(@Nullable StreamError error, String message) {
        if (state() == QueuePairState.CLOSED) {
            return;
        }
        timers.cancel();
        RdmapStream ended = stream;
        unconfirmed = ended != null && ended.isUnconfirmed();
        keep(error);
        setState(QueuePairState.CLOSED);
        VarHandle.fullFence();
        try {
            // Looks again: a thread that has not seen this state may have posted a receive after the stream's last
            // look.
            onWorkPosted();
            changeState(QueuePairState.CLOSED, error, message);
        } finally {
            release();
        }
    }

    private void release() {
        protectionDomain.releaseQueuePair();
        sendCompletions.release();
        receiveCompletions.release();
        if (sharedReceives != null) {
            sharedReceives.release();
        }
        device.onClosed(this);
        completeClosed();
    }

    private void keep(@Nullable StreamError error) {
        if (error != null) {
            failure = error;
        }
    }

    private void changeState(QueuePairState newState, @Nullable StreamError error, String message) {
        keep(error);
        setState(newState);
        tell(newState, error, message);
    }

    /** Completes receives of a queue pair that never had a stream. */
    private void flushUnconnected() {
        receiveQueue.drain(wqe -> onReceiveCompletion(wqe, CqeStatus.FLUSHED, 0, 0, 0, null));
        onCompletionsDone();
    }

    // Teardown.

    @Override
    public CompletableFuture<Void> disconnect() {
        beginEnd();
        onLoop(() -> {
            RdmapStream current = stream;
            if (current == null) {
                abortOnLoop();
            } else {
                current.close();
            }
        });
        return closed();
    }

    @Override
    public CompletableFuture<Void> abort() {
        beginEnd();
        onLoop(this::abortOnLoop);
        return closed();
    }

    private void abortOnLoop() {
        RdmapStream current = stream;
        if (current != null) {
            current.abort();
        } else if (setup != null) {
            setup.abort();
        } else {
            finish(null, "closed before it was connected");
        }
    }

    private void onLoop(Runnable task) {
        EventLoop owner = loop;
        if (owner.inEventLoop()) {
            task.run();
        } else if (owner.isShuttingDown()) {
            completeClosed();
        } else {
            owner.execute(task);
        }
    }

    // Attributes and counters.

    @Override
    public ConnectionAttributes attributes() {
        ConnectionAttributes agreed = super.attributes();
        RdmapStream current = stream;
        return current == null ? agreed : agreed.withMulpdu(current.mulpdu());
    }

    @Override
    public @Nullable StreamError error() {
        return failure;
    }

    @Override
    public boolean isUnconfirmed() {
        return unconfirmed;
    }

    @Override
    public QueuePairCounters counters() {
        RdmapStream current = stream;
        return current == null ? QueuePairCounters.NONE : current.counters();
    }
}
