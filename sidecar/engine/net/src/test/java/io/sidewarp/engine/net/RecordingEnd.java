// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.CrcPolicy;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.MpaPolicy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The layer above an MPA connection on a real socket. Accepts, sends what a test hands over, and keeps received ULPDUs.
 */
final class RecordingEnd implements MpaStartupListener, UpperLayer {

    private final BlockingQueue<byte[]> ulpdus = new LinkedBlockingQueue<>();
    private final Deque<byte[]> toSend = new ArrayDeque<>();
    private final CompletableFuture<Void> peerClosed = new CompletableFuture<>();
    private final CompletableFuture<String> closed = new CompletableFuture<>();
    private volatile MpaConnection mpa;
    private volatile Runnable listener = () -> {};
    private volatile boolean failsToProduce;

    static MpaPolicy withoutCrc(MpaPolicy policy) {
        return policy.withCrc(CrcPolicy.REFUSED);
    }

    void bind(MpaConnection connection) {
        mpa = connection;
        connection.attach(this);
    }

    byte[] nextUlpdu() throws InterruptedException {
        byte[] ulpdu = ulpdus.poll(10, TimeUnit.SECONDS);
        assertThat(ulpdu).as("a ULPDU within ten seconds").isNotNull();
        return ulpdu;
    }

    /** Called on the loop, once. */
    void onNextUlpdu(Runnable task) {
        listener = task;
    }

    /** ULPDUs that came and were not taken. */
    int waitingUlpdus() {
        return ulpdus.size();
    }

    /** Has a task run on the loop when the peer closes its direction. */
    void whenPeerClosed(Runnable task) {
        peerClosed.thenRun(task);
    }

    void awaitPeerClosed() throws Exception {
        peerClosed.get(10, TimeUnit.SECONDS);
    }

    /** Returns the reason for the end of the connection. */
    String awaitClosed() throws Exception {
        return closed.get(10, TimeUnit.SECONDS);
    }

    /** Throws when it is asked for output. */
    void failToProduce() {
        failsToProduce = true;
    }

    void sendFrom(EventLoop loop, byte[] ulpdu) {
        loop.execute(() -> send(ulpdu, 1));
    }

    /** Sends the same ULPDU this number of times. Must run on the loop. */
    void send(byte[] ulpdu, int count) {
        for (int i = 0; i < count; i++) {
            toSend.add(ulpdu);
        }
        mpa.requestOutput();
    }

    /** Must run on the loop. */
    void close() {
        mpa.close();
    }

    /** Must run on the loop. */
    void abort() {
        mpa.abort();
    }

    /** ULPDUs that are still to be sent; on the loop. */
    int unsentUlpdus() {
        return toSend.size();
    }

    @Override
    public void onRequest(MpaStartup request) {
        mpa.accept(MpaOptions.defaults().with(RecordingEnd::withoutCrc));
    }

    @Override
    public void onEstablished(MpaStartup agreed) {}

    @Override
    public void onRejected(MpaStartup reply) {
        throw new AssertionError("rejected");
    }

    @Override
    public void onUnenhancedPeer(String message) {
        throw new AssertionError(message);
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        throw new AssertionError(message);
    }

    @Override
    public void onUlpdu(WireBuffer buffer, int offset, int length) {
        byte[] ulpdu = new byte[length];
        buffer.getBytes(offset, ulpdu, 0, length);
        // A test that takes this one may give a listener for the next at once.
        Runnable told = listener;
        listener = () -> {};
        ulpdus.add(ulpdu);
        told.run();
    }

    @Override
    public void onInputDone() {}

    @Override
    public void produce() {
        if (failsToProduce) {
            throw new IllegalStateException("told to fail");
        }
        while (!toSend.isEmpty() && mpa.claim(toSend.getFirst().length)) {
            byte[] ulpdu = toSend.removeFirst();
            mpa.buffer().putBytes(mpa.offset(), ulpdu, 0, ulpdu.length);
            mpa.commit();
        }
    }

    @Override
    public void onTransferred() {}

    @Override
    public void onError(LlpError error) {
        throw new AssertionError(error);
    }

    @Override
    public void onPeerClosed() {
        peerClosed.complete(null);
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        closed.complete(cause);
    }
}
