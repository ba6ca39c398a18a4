// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.llp.sctp.SctpUser;
import io.sidewarp.engine.memory.WireBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Sends messages of a test, and records all notifications. */
final class RecordingUser implements SctpUser {

    /** A user message. */
    record Message(int stream, int payloadProtocol, byte[] octets) {}

    /** End of an association. */
    record End(boolean graceful, String cause) {}

    final CompletableFuture<OptionalInt> established = new CompletableFuture<>();
    final CompletableFuture<End> closed = new CompletableFuture<>();
    final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
    final AtomicLong acknowledgements = new AtomicLong();
    final CompletableFuture<Void> woken = new CompletableFuture<>();
    final SctpAssociation association;
    private final WireBuffer buffer = WireBuffer.allocate(1 << 16);
    private final ArrayDeque<Message> waiting = new ArrayDeque<>();
    volatile int inboundStreams;
    volatile int outboundStreams;

    private int largest;

    RecordingUser(SctpAssociation association) {
        this.association = association;
    }

    /** Any thread. */
    void send(int stream, int payloadProtocol, byte[] octets) {
        association.loop().execute(() -> {
            waiting.addLast(new Message(stream, payloadProtocol, octets));
            association.requestOutput();
        });
    }

    /** Hands them over at once. Any thread. */
    void sendTogether(int stream, int payloadProtocol, List<byte[]> all) {
        association.loop().execute(() -> {
            all.forEach(octets -> waiting.addLast(new Message(stream, payloadProtocol, octets)));
            association.requestOutput();
        });
    }

    Message takeMessage() throws InterruptedException {
        Message message = messages.poll(20, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("no message came in 20 s");
        }
        return message;
    }

    End end() throws Exception {
        return closed.get(30, TimeUnit.SECONDS);
    }

    @Override
    public void onEstablished(int inbound, int outbound, OptionalInt adaptation) {
        inboundStreams = inbound;
        outboundStreams = outbound;
        established.complete(adaptation);
    }

    @Override
    public void onMessage(int stream, int payloadProtocol, WireBuffer received, int offset, int length) {
        byte[] octets = new byte[length];
        received.getBytes(offset, octets, 0, length);
        messages.add(new Message(stream, payloadProtocol, octets));
    }

    @Override
    public void onInputDone() {}

    @Override
    public void produce() {
        while (!waiting.isEmpty()) {
            Message next = waiting.getFirst();
            largest = Math.max(largest, association.maxMessage());
            if (next.octets().length > largest) {
                // The path is not known yet to carry it.
                association.loop().schedule(association::requestOutput, 1, TimeUnit.MILLISECONDS);
                return;
            }
            buffer.putBytes(0, next.octets(), 0, next.octets().length);
            if (!association.send(next.stream(), next.payloadProtocol(), buffer, 0, next.octets().length)) {
                return;
            }
            waiting.removeFirst();
            association.requestAcknowledged();
        }
    }

    @Override
    public void onAcknowledged() {
        acknowledgements.set(association.acknowledged());
        association.requestAcknowledged();
    }

    @Override
    public void onWake() {
        woken.complete(null);
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        closed.complete(new End(graceful, cause));
    }
}
