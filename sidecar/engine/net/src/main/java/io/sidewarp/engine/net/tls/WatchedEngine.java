// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.tls;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** TLS engine that writes the secrets of its connection to a key log, and otherwise does what another engine does. */
final class WatchedEngine extends SSLEngine {

    /** Offset of the random in the first record: headers of record and handshake message, and a version. */
    private static final int RANDOM_OFFSET = 5 + 4 + 2;

    private static final int RANDOM_LENGTH = 32;

    /** Engine that works on the current thread. */
    private static final ThreadLocal<@Nullable WatchedEngine> CURRENT = new ThreadLocal<>();

    private final SSLEngine engine;
    private final TlsKeyLog log;
    private byte @Nullable [] clientRandom;

    WatchedEngine(SSLEngine engine, TlsKeyLog log) {
        this.engine = engine;
        this.log = log;
    }

    /** Handles the derivation of a secret on the current thread. */
    static void onDerived(byte[] info, byte[] secret) {
        WatchedEngine current = CURRENT.get();
        byte[] random = current == null ? null : current.clientRandom;
        if (current != null && random != null) {
            current.log.write(random, info, secret);
        }
    }

    /** Takes the random of the ClientHello from the first record of a connection. */
    private void look(ByteBuffer record, int offset) {
        if (clientRandom == null && record.limit() - offset >= RANDOM_OFFSET + RANDOM_LENGTH) {
            clientRandom = new byte[RANDOM_LENGTH];
            record.get(offset + RANDOM_OFFSET, clientRandom);
        }
    }

    @Override
    public SSLEngineResult wrap(ByteBuffer[] sources, int offset, int length, ByteBuffer target) throws SSLException {
        int begin = target.position();
        CURRENT.set(this);
        try {
            SSLEngineResult result = engine.wrap(sources, offset, length, target);
            if (engine.getUseClientMode() && target.position() > begin) {
                look(target.duplicate().flip(), begin);
            }
            return result;
        } finally {
            CURRENT.remove();
        }
    }

    @Override
    public SSLEngineResult unwrap(ByteBuffer source, ByteBuffer[] targets, int offset, int length) throws SSLException {
        if (!engine.getUseClientMode()) {
            look(source, source.position());
        }
        CURRENT.set(this);
        try {
            return engine.unwrap(source, targets, offset, length);
        } finally {
            CURRENT.remove();
        }
    }

    @Override
    public @Nullable Runnable getDelegatedTask() {
        Runnable task = engine.getDelegatedTask();
        return task == null ? null : () -> run(task);
    }

    private void run(Runnable task) {
        CURRENT.set(this);
        try {
            task.run();
        } finally {
            CURRENT.remove();
        }
    }

    @Override
    public String getPeerHost() {
        return engine.getPeerHost();
    }

    @Override
    public int getPeerPort() {
        return engine.getPeerPort();
    }

    @Override
    public void closeInbound() throws SSLException {
        engine.closeInbound();
    }

    @Override
    public boolean isInboundDone() {
        return engine.isInboundDone();
    }

    @Override
    public void closeOutbound() {
        engine.closeOutbound();
    }

    @Override
    public boolean isOutboundDone() {
        return engine.isOutboundDone();
    }

    @Override
    public String[] getSupportedCipherSuites() {
        return engine.getSupportedCipherSuites();
    }

    @Override
    public String[] getEnabledCipherSuites() {
        return engine.getEnabledCipherSuites();
    }

    @Override
    public void setEnabledCipherSuites(String[] suites) {
        engine.setEnabledCipherSuites(suites);
    }

    @Override
    public String[] getSupportedProtocols() {
        return engine.getSupportedProtocols();
    }

    @Override
    public String[] getEnabledProtocols() {
        return engine.getEnabledProtocols();
    }

    @Override
    public void setEnabledProtocols(String[] protocols) {
        engine.setEnabledProtocols(protocols);
    }

    @Override
    public SSLSession getSession() {
        return engine.getSession();
    }

    @Override
    public SSLSession getHandshakeSession() {
        return engine.getHandshakeSession();
    }

    @Override
    public void beginHandshake() throws SSLException {
        engine.beginHandshake();
    }

    @Override
    public HandshakeStatus getHandshakeStatus() {
        return engine.getHandshakeStatus();
    }

    @Override
    public void setUseClientMode(boolean mode) {
        engine.setUseClientMode(mode);
    }

    @Override
    public boolean getUseClientMode() {
        return engine.getUseClientMode();
    }

    @Override
    public void setNeedClientAuth(boolean need) {
        engine.setNeedClientAuth(need);
    }

    @Override
    public boolean getNeedClientAuth() {
        return engine.getNeedClientAuth();
    }

    @Override
    public void setWantClientAuth(boolean want) {
        engine.setWantClientAuth(want);
    }

    @Override
    public boolean getWantClientAuth() {
        return engine.getWantClientAuth();
    }

    @Override
    public void setEnableSessionCreation(boolean flag) {
        engine.setEnableSessionCreation(flag);
    }

    @Override
    public boolean getEnableSessionCreation() {
        return engine.getEnableSessionCreation();
    }

    @Override
    public SSLParameters getSSLParameters() {
        return engine.getSSLParameters();
    }

    @Override
    public void setSSLParameters(SSLParameters parameters) {
        engine.setSSLParameters(parameters);
    }

    @Override
    public String getApplicationProtocol() {
        return engine.getApplicationProtocol();
    }

    @Override
    public String getHandshakeApplicationProtocol() {
        return engine.getHandshakeApplicationProtocol();
    }
}
