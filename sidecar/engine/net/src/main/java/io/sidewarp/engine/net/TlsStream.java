// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

import io.netty.channel.EventLoop;
import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.net.tls.TlsFailure;
import io.sidewarp.engine.net.tls.TlsFailure.Kind;
import io.sidewarp.engine.net.tls.TlsFailures;
import io.sidewarp.engine.verbs.PeerIdentity;
import io.sidewarp.engine.verbs.TlsAttributes;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.security.cert.CertificateException;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * TLS stream of one TCP connection. Turns records into input of MPA, and output of MPA into full records. The buffers
 * belong to the loop: a connection holds none between two records. Belongs to one event loop; only tasks of the
 * handshake run elsewhere.
 *
 * <p>Each direction ends with a close_notify, and the other direction continues (RFC 8446 section 6.1).
 */
final class TlsStream {

    /** Types of a record, from change_cipher_spec to application_data. */
    private static final int MIN_TYPE = 20;

    private static final int MAX_TYPE = 23;
    /** First byte of the version in each record. */
    private static final int MAJOR_VERSION = 3;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final byte[] NO_OVERFLOW = {};

    private final TcpTransport transport;
    private final EventLoop loop;
    private final ConnectionInput input;
    private final TlsBuffers buffers;
    private final EngineLoops loops;
    private final TlsCredentials credentials;
    private final SSLEngine engine;
    private final TlsListener listener;
    private final TlsRecordCounts counts;
    private final TlsTasks tasks;
    private final long beginMillis = System.currentTimeMillis();

    private final HeldInput held;
    private byte[] overflow = NO_OVERFLOW;
    private int plaintext;
    private boolean waitsForOutput;
    private boolean resuming;
    private boolean answered;
    private boolean secured;
    private boolean over;
    private boolean inputEnded;
    private boolean finWaits;
    private boolean closeWanted;
    private boolean outputEnded;

    private @Nullable TlsAttributes attributes;

    TlsStream(
            TcpTransport transport,
            EventLoop loop,
            ConnectionInput input,
            TlsBuffers buffers,
            EngineLoops loops,
            TlsCredentials credentials,
            SSLEngine engine,
            TlsListener listener) {
        this.transport = transport;
        this.loop = loop;
        this.input = input;
        this.buffers = buffers;
        this.held = new HeldInput(buffers);
        this.loops = loops;
        this.credentials = credentials;
        this.engine = engine;
        this.listener = listener;
        this.counts = new TlsRecordCounts(loops.rekeyRecords());
        this.tasks = new TlsTasks(engine, loop, loops.tlsWorkers(), this::onTasksDone);
    }

    /** Begins the handshake. */
    void begin() {
        try {
            engine.beginHandshake();
        } catch (SSLException e) {
            fail(e);
            return;
        }
        transport.requestOutput();
    }

    /** Returns whether the handshake is complete. */
    boolean isSecured() {
        return secured;
    }

    /** Returns whether the peer has sent a record. */
    boolean isAnswered() {
        return answered;
    }

    /** Returns the values of the connection, or null before the end of the handshake. */
    @Nullable
    TlsAttributes attributes() {
        return attributes;
    }

    // Input.

    private void failHandshake() {
        fail(new TlsFailure(
                Kind.PROTOCOL,
                "the peer sent more than " + TlsBuffers.MAX_HELD
                        + " bytes before the handshake was complete; its certificates may be too long"));
    }

    /** Continues with the held input, after a task or after output. */
    private void resume() {
        resuming = false;
        if (!over && !inputEnded && !transport.isLost()) {
            transport.resumeInput(() -> take(0));
        }
        if (finWaits && !transport.isLost() && !holdsFin()) {
            transport.onInputShutdown();
        }
    }

    /**
     * Takes the bytes that wait, and the input behind them.
     *
     * @param octets bytes in {@link TlsBuffers#room}
     */
    void take(int octets) {
        ByteBuffer source = held.with(octets);
        if (!answered && !over && !mayBeTls(source)) {
            fail(new TlsFailure(Kind.NOT_TLS, "the peer sent something else than TLS"));
        } else if (!tasks.isRunning()) {
            try {
                decrypt(source);
            } catch (SSLException e) {
                fail(e);
            }
        }
        if (!over && !inputEnded && !held.hold(source)) {
            failHandshake();
        }
    }

    /** Returns whether the first bytes of the peer can begin a record (RFC 8446 section 5.1). */
    private static boolean mayBeTls(ByteBuffer source) {
        int begin = source.position();
        int type = source.hasRemaining() ? source.get(begin) : MIN_TYPE;
        return type >= MIN_TYPE
                && type <= MAX_TYPE
                && (source.remaining() < 2 || source.get(begin + 1) == MAJOR_VERSION);
    }

    private void decrypt(ByteBuffer source) throws SSLException {
        int end = input.end();
        try {
            while (mayDecrypt() && (source.hasRemaining() || !secured)) {
                if (input.capacity() - end < TlsBuffers.RECORD_ROOM) {
                    deliver(end);
                    input.makeRoom(TlsBuffers.RECORD_ROOM);
                    end = input.end();
                }
                SSLEngineResult result = engine.unwrap(source, input.from(end));
                end += result.bytesProduced();
                answered |= result.bytesConsumed() > 0;
                if (result.getStatus() == Status.CLOSED) {
                    deliver(end);
                    end = input.end();
                    onPeerClosed();
                    return;
                }
                boolean progress = result.bytesConsumed() > 0 || result.bytesProduced() > 0;
                advance(result);
                if (!progress || isFlooded(result)) {
                    return;
                }
            }
        } finally {
            deliver(end);
        }
    }

    /** Counts records without data. Returns whether there were too many, which ends the connection. */
    private boolean isFlooded(SSLEngineResult result) {
        if (!counts.isFlood(result.bytesProduced() > 0 || !secured)) {
            return false;
        }
        fail(new TlsFailure(
                Kind.PROTOCOL,
                "the peer sent more than " + TlsRecordCounts.MAX_WITHOUT_DATA
                        + " TLS records without data in a row, such as KeyUpdates; check the program of the peer"));
        return true;
    }

    /**
     * Returns whether input can be decrypted. During the handshake, output or a task may have to come first: no data
     * may reach MPA before the peer is authenticated.
     */
    private boolean mayDecrypt() {
        if (over || inputEnded || tasks.isRunning() || transport.isLost()) {
            return false;
        }
        if (secured) {
            return true;
        }
        HandshakeStatus status = engine.getHandshakeStatus();
        if (status == HandshakeStatus.NEED_TASK) {
            runTasks();
            return false;
        }
        if (status == HandshakeStatus.NEED_WRAP) {
            waitsForOutput = true;
            transport.requestOutput();
            return false;
        }
        return true;
    }

    /** Passes the plaintext up to the given offset on. */
    private void deliver(int end) {
        MpaConnection connection = transport.connection();
        if (end > input.end() && secured && connection != null && !transport.isLost()) {
            input.deliver(connection, end);
        }
    }

    /** Handles the state of the handshake after a call of the engine. */
    private void advance(SSLEngineResult result) {
        HandshakeStatus status = result.getHandshakeStatus();
        if (status == HandshakeStatus.FINISHED) {
            onFinished();
            status = engine.getHandshakeStatus();
        }
        if (status == HandshakeStatus.NEED_TASK) {
            runTasks();
        } else if (status == HandshakeStatus.NEED_WRAP) {
            transport.requestOutput();
        } else if (status == HandshakeStatus.NOT_HANDSHAKING && !secured) {
            onFinished();
        }
    }

    /** Releases what this stream holds of the loop. */
    void release() {
        held.release();
    }

    private void runTasks() {
        if (tasks.isRunning()) {
            return;
        }
        try {
            tasks.run();
        } catch (RejectedExecutionException e) {
            fail(new TlsFailure(
                    Kind.LIMIT, "too many TLS handshakes wait for a processor on this side; try again later"));
        }
    }

    private void onTasksDone() {
        if (over && !transport.isLost()) {
            // The end of the connection waited for the task.
            transport.requestOutput();
        } else if (!transport.isLost()) {
            if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
                transport.requestOutput();
            }
            resume();
        }
    }

    private void onFinished() {
        if (secured || over) {
            return;
        }
        SSLSession session = engine.getSession();
        if (!TlsCredentials.ALPN.equals(engine.getApplicationProtocol())) {
            fail(new TlsFailure(
                    Kind.PROTOCOL,
                    "the peer speaks TLS without naming the protocol " + TlsCredentials.ALPN
                            + " (ALPN); check that it is a Sidewarp peer"));
            return;
        }
        try {
            PeerIdentity peer = credentials.trust().identify(session.getPeerCertificates());
            boolean resumed = session.getCreationTime() < beginMillis;
            TlsAttributes agreed = new TlsAttributes(peer, session.getCipherSuite(), resumed);
            attributes = agreed;
            secured = true;
            listener.onTlsSecured(agreed);
        } catch (SSLException | CertificateException e) {
            fail(e);
        }
    }

    private void onPeerClosed() {
        if (!secured) {
            fail(new TlsFailure(Kind.PROTOCOL, "the peer closed TLS during the handshake"));
            return;
        }
        inputEnded = true;
        release();
        transport.endInput();
    }

    /** Returns whether the peer's FIN waits for held input. {@link TcpTransport#onInputShutdown} follows later. */
    boolean holdsFin() {
        finWaits = !over && !inputEnded && (tasks.isRunning() || waitsForOutput || resuming);
        return finWaits;
    }

    /** Handles the peer's FIN. Returns whether the TLS stream of the peer had ended before, as it must. */
    boolean onInputShutdown() {
        if (inputEnded) {
            return true;
        }
        if (!over) {
            onLost("the peer closed the TCP connection");
        }
        return false;
    }

    /** Handles the end of the TCP connection before the end of the TLS stream. */
    void onLost(String cause) {
        if (over) {
            return;
        }
        over = true;
        inputEnded = true;
        release();
        if (secured) {
            listener.onTlsFailed(new TlsFailure(Kind.TRUNCATED, cause));
        } else if (answered) {
            listener.onTlsFailed(new TlsFailure(Kind.PROTOCOL, cause + " during the TLS handshake"));
        } else {
            listener.onTlsFailed(new TlsFailure(
                    Kind.NOT_TLS, cause + " without an answer to TLS; it may not speak TLS on this port"));
        }
    }

    // Output.

    /** Requests a close_notify behind the output so far. */
    void close() {
        closeWanted = true;
        if (!outputEnded) {
            transport.requestOutput();
        }
    }

    /** Returns whether output is due that MPA did not ask for. */
    boolean wantsOutput() {
        return overflow.length > 0 || closeWanted && !outputEnded;
    }

    /** Returns the bytes of MPA in the output of the last {@link #produce}. */
    int plaintext() {
        return plaintext;
    }

    /** Returns the array whose first bytes are the output of the last {@link #produce}. The loop uses it again. */
    MemorySegment records() {
        return buffers.records();
    }

    /**
     * Makes {@link #records}.
     *
     * @param wire buffer for the bytes of MPA, not longer than which the records become
     * @param room most bytes of records
     * @return bytes of records, 0 when there is nothing to send
     */
    int produce(MpaConnection connection, WireBuffer wire, int room) {
        plaintext = 0;
        ByteBuffer out = buffers.output();
        out.put(overflow);
        overflow = NO_OVERFLOW;
        try {
            control(out);
            if (secured && !over && !outputEnded && out.position() == 0) {
                plaintext = connection.produce(wire, 0, TlsBuffers.plaintextRoom(Math.min(room, wire.capacity())));
                ByteBuffer source = wire.nio();
                encrypt(source.clear().limit(plaintext), out);
                source.clear();
            } else if (out.position() > 0) {
                transport.requestOutput();
            }
            if (closeWanted && plaintext == 0 && !outputEnded && !tasks.isRunning()) {
                outputEnded = true;
                engine.closeOutbound();
                control(out);
            }
        } catch (SSLException e) {
            fail(e);
        }
        if (waitsForOutput && !resuming && !tasks.isRunning()) {
            waitsForOutput = false;
            resuming = true;
            loop.execute(this::resume);
        }
        return give(out.flip(), wire.capacity());
    }

    /** Keeps what is longer than a buffer. Returns the other bytes. */
    private int give(ByteBuffer out, int capacity) {
        int octets = Math.min(out.remaining(), capacity);
        if (octets < out.remaining()) {
            overflow = new byte[out.remaining() - octets];
            out.position(octets).get(overflow);
            transport.requestOutput();
        }
        return octets;
    }

    private void encrypt(ByteBuffer source, ByteBuffer out) throws SSLException {
        while (source.hasRemaining()) {
            if (counts.isNewKeyDue()) {
                takeNewKey(out);
            }
            SSLEngineResult result = engine.wrap(source, out);
            if (result.getStatus() != Status.OK) {
                throw new SSLException("cannot encrypt: " + result);
            }
            counts.onSent();
            if (result.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING) {
                advance(result);
            }
        }
    }

    /** Sends a KeyUpdate (RFC 8446 section 4.6.3), which also asks the peer for a new key. */
    private void takeNewKey(ByteBuffer out) throws SSLException {
        if (!inputEnded) {
            engine.beginHandshake();
            control(out);
            counts.onNewKey();
            loops.onNewTlsKey();
        } else if (counts.isKeyUsedUp()) {
            throw new SSLException("the key is used up, and a peer that has closed its side takes no new one");
        }
    }

    /** Writes the records that the engine wants to send on its own. */
    private void control(ByteBuffer out) throws SSLException {
        int begin = out.position();
        while (!tasks.isRunning() && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
            int before = out.position();
            SSLEngineResult result = engine.wrap(NOTHING, out);
            advance(result);
            if (out.position() == before && result.getStatus() != Status.OK
                    || out.position() - begin > TlsBuffers.MAX_HELD) {
                return;
            }
        }
        if (!tasks.isRunning() && outputEnded && out.position() == begin) {
            engine.wrap(NOTHING, out);
        }
    }

    // Failures.

    private void fail(Exception thrown) {
        fail(TlsFailures.explain(thrown, credentials, answered));
    }

    private void fail(TlsFailure failure) {
        if (over) {
            return;
        }
        boolean wasSecured = secured;
        over = true;
        inputEnded = true;
        release();
        closeWanted = true;
        listener.onTlsFailed(failure);
        transport.onTlsFailed(failure, wasSecured);
    }
}
