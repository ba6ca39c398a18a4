// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.sctp.SctpTransport;
import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * One end of an SCTP association in memory. It is reliable, delivers whole messages, and delivers in any order when it
 * is shaken. Data, time and acknowledgements move only when a test takes a turn.
 */
public final class SctpPipe implements SctpTransport {

    /** A message in flight. */
    public record Message(int stream, int payloadProtocol, byte[] octets, long number) {

        /** Stream, Payload Protocol Identifier and octets, as in {@code 0:17 00 00 00 01}. */
        @Override
        public String toString() {
            return stream + ":" + payloadProtocol + " " + Octets.show(octets);
        }
    }

    private final List<Message> sent = new ArrayList<>();
    private final List<Message> log = new ArrayList<>();
    private SctpPipe peer;
    private SctpUser user;
    private RandomGenerator random;
    private int maxMessage = 1428;
    private int window = 64;
    private long submitted;
    private boolean holdingAcknowledgements;
    private long acknowledged;
    private boolean wanted;
    private boolean acknowledgementWanted;
    private long acknowledgedBefore;
    private long now;
    private long wake = Long.MAX_VALUE;
    private boolean shutdown;
    private String aborted;
    private boolean over;

    /** Connects two ends. */
    public static void connect(SctpPipe one, SctpPipe other) {
        one.peer = other;
        other.peer = one;
    }

    public void bind(SctpUser newUser) {
        user = newUser;
    }

    public void maxMessage(int octets) {
        maxMessage = octets;
    }

    /** Messages that are on their way at a time: with 0 SCTP takes none. */
    public void window(int messages) {
        window = messages;
    }

    /** Delivers messages from now on in an order and in portions that a random source determines. */
    public void shake(RandomGenerator source) {
        random = source;
    }

    /** Stops the peer's acknowledgements, or lets them arrive again. */
    public void holdAcknowledgements(boolean hold) {
        holdingAcknowledgements = hold;
    }

    /** All messages that were sent, delivered or not. */
    public List<Message> log() {
        return log;
    }

    /** Messages that have not been delivered. */
    public List<Message> inFlight() {
        return sent;
    }

    /** Delivers a message to this end as if the peer had sent it. */
    public void inject(int stream, int payloadProtocol, byte[] octets) {
        user.onMessage(stream, payloadProtocol, WireBuffer.copyOf(octets), 0, octets.length);
        user.onInputDone();
    }

    /** Delivers one of the messages that are on their way to this end. */
    public void deliver(int index) {
        Message message = peer.sent.remove(index);
        inject(message.stream(), message.payloadProtocol(), message.octets());
    }

    /** Takes everything off the way as if the peer had got it, and acknowledged. */
    public void acknowledge() {
        sent.clear();
    }

    /** Lets time pass. */
    public void advance(long nanos) {
        now += nanos;
    }

    /** Returns whether the association is gone for this end. */
    public boolean isOver() {
        return over;
    }

    public boolean isShutdown() {
        return shutdown;
    }

    /** Returns the reason of this end's abort of the association, or null. */
    public String aborted() {
        return aborted;
    }

    /** The association is lost. */
    public void lose(String cause) {
        if (!over) {
            over = true;
            user.onClosed(false, cause);
        }
    }

    /** Runs one turn of the event loop. Returns false if there was nothing to do. */
    public boolean turn() {
        if (over) {
            return false;
        }
        if (aborted != null || peer.aborted != null) {
            over = true;
            user.onClosed(false, aborted != null ? "aborted: " + aborted : "aborted by the peer");
            return true;
        }
        boolean busy = input();
        busy |= acknowledgements();
        if (wake <= now) {
            wake = Long.MAX_VALUE;
            user.onWake();
            busy = true;
        }
        busy |= output();
        if ((shutdown || peer.shutdown) && sent.isEmpty() && peer.sent.isEmpty() && !wanted) {
            over = true;
            user.onClosed(true, "shut down");
            busy = true;
        }
        return busy;
    }

    private boolean input() {
        if (peer.sent.isEmpty()) {
            return false;
        }
        int count = random == null ? peer.sent.size() : 1 + random.nextInt(peer.sent.size());
        for (int i = 0; i < count; i++) {
            int next = random == null ? 0 : random.nextInt(Math.min(8, peer.sent.size()));
            Message message = peer.sent.remove(next);
            user.onMessage(
                    message.stream(),
                    message.payloadProtocol(),
                    WireBuffer.copyOf(message.octets()),
                    0,
                    message.octets().length);
        }
        user.onInputDone();
        return true;
    }

    private boolean acknowledgements() {
        if (!holdingAcknowledgements) {
            acknowledged = submitted;
            for (Message message : sent) {
                acknowledged = Math.min(acknowledged, message.number());
            }
        }
        if (!acknowledgementWanted || acknowledged == acknowledgedBefore) {
            return false;
        }
        acknowledgementWanted = false;
        user.onAcknowledged();
        return true;
    }

    /** Has this end put out what it can, without taking anything in; false when there was nothing to do. */
    public boolean output() {
        if (over) {
            return false;
        }
        if (!wanted || sent.size() >= window || shutdown) {
            return false;
        }
        wanted = false;
        user.produce();
        return true;
    }

    @Override
    public void requestOutput() {
        wanted = true;
    }

    @Override
    public boolean send(int stream, int payloadProtocol, WireBuffer buffer, int offset, int length) {
        if (sent.size() >= window || shutdown) {
            wanted = true;
            return false;
        }
        Message message = new Message(stream, payloadProtocol, Octets.of(buffer, offset, length), submitted++);
        sent.add(message);
        log.add(message);
        return true;
    }

    @Override
    public int maxMessage() {
        return maxMessage;
    }

    @Override
    public long acknowledged() {
        return acknowledged;
    }

    @Override
    public void requestAcknowledged() {
        acknowledgementWanted = true;
        acknowledgedBefore = acknowledged;
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public void wakeAt(long nanoTime) {
        wake = nanoTime;
    }

    @Override
    public void shutdown() {
        shutdown = true;
    }

    @Override
    public void abort(String reason) {
        aborted = reason;
    }
}
