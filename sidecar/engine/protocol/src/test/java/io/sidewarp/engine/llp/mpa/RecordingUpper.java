// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp.mpa;

import io.sidewarp.engine.llp.LowerLayer;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A DDP that sends given ULPDUs and records received ULPDUs. */
final class RecordingUpper implements UpperLayer {

    final Deque<byte[]> toSend = new ArrayDeque<>();
    final List<Long> committed = new ArrayList<>();
    final List<byte[]> ulpdus = new ArrayList<>();
    final List<String> events = new ArrayList<>();
    int produceCalls;
    Runnable onUlpdu = () -> {};
    Runnable onDrained = () -> {};
    private final LowerLayer llp;

    RecordingUpper(LowerLayer llp) {
        this.llp = llp;
    }

    void send(byte[]... messages) {
        toSend.addAll(List.of(messages));
        llp.requestOutput();
    }

    @Override
    public void onUlpdu(WireBuffer buffer, int offset, int length) {
        byte[] ulpdu = new byte[length];
        buffer.getBytes(offset, ulpdu, 0, length);
        ulpdus.add(ulpdu);
        onUlpdu.run();
    }

    @Override
    public void onInputDone() {
        events.add("inputDone");
    }

    @Override
    public void produce() {
        produceCalls++;
        while (!toSend.isEmpty()) {
            byte[] next = toSend.getFirst();
            if (!llp.claim(next.length)) {
                return;
            }
            llp.buffer().putBytes(llp.offset(), next, 0, next.length);
            llp.commit();
            committed.add(llp.committedPosition());
            toSend.removeFirst();
        }
        onDrained.run();
    }

    @Override
    public void onTransferred() {
        events.add("transferred");
    }

    @Override
    public void onError(LlpError error) {
        events.add("error " + error.code());
    }

    @Override
    public void onPeerClosed() {
        events.add("peerClosed");
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        events.add("closed " + graceful);
    }
}
