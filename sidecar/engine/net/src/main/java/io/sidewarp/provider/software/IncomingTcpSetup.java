// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.net.TlsListener;
import io.sidewarp.engine.net.TlsStart;
import io.sidewarp.engine.net.tls.TlsCredentials;
import io.sidewarp.engine.net.tls.TlsFailure;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.engine.verbs.TlsAttributes;
import io.sidewarp.engine.verbs.TlsUse;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sets up a TCP connection that the peer begins: MPA as Responder, below TLS if the peer begins with TLS. The policy of
 * the listener decides which peers get so far.
 */
final class IncomingTcpSetup extends IncomingSetup implements MpaStartupListener, TlsListener {

    private final SoftwareTcpListener listener;
    private final TcpTransport transport;
    private final MpaConnection mpa;
    private @Nullable MpaStartup request;
    private boolean lapsed;

    IncomingTcpSetup(SoftwareDevice device, SoftwareTcpListener listener, TcpTransport transport) {
        super(device, listener, transport.loop(), transport.remoteAddress(), transport.localAddress());
        this.listener = listener;
        this.transport = transport;
        this.mpa = new MpaConnection(MpaRole.RESPONDER, options(), transport, this);
        transport.bind(mpa);
        transport.detectTls(this::onTls);
    }

    private @Nullable TlsStart onTls() {
        TlsCredentials credentials = device().credentials();
        if (security().security() == TlsUse.PLAIN || credentials == null) {
            failed("the peer at " + remoteAddress() + " speaks TLS, and this listener "
                    + (credentials == null ? "has no identity for it" : "is `plain`")
                    + "; use `plain` at the peer, or `preferred` or `required` here");
            drop();
            return null;
        }
        return new TlsStart(credentials, credentials.responder(), this);
    }

    @Override
    public void onTlsSecured(TlsAttributes agreed) {
        // MPA waits for the Request.
    }

    @Override
    public void onTlsFailed(TlsFailure failure) {
        String message = "no TLS with " + remoteAddress() + ": " + failure.message();
        if (failure.kind() == TlsFailure.Kind.CERTIFICATE && waitsForRequest()) {
            endDenied(SecurityDenial.CERTIFICATE, message + thisSide());
        } else {
            failed(message);
        }
    }

    private String thisSide() {
        TlsCredentials own = device().credentials();
        return " (this side is " + (own == null ? "without identity" : own.id()) + ")";
    }

    @Override
    public Optional<TlsAttributes> tls() {
        return Optional.ofNullable(transport.tlsAttributes());
    }

    void start() {
        startTimer();
        mpa.start();
    }

    @Override
    public void onRequest(MpaStartup asked) {
        request = asked;
        TlsAttributes tls = transport.tlsAttributes();
        if (tls == null && security().security() == TlsUse.REQUIRED) {
            deny(
                    SecurityDenial.TLS_REQUIRED,
                    "the peer at " + remoteAddress()
                            + " connected without TLS, and this listener needs it; enable security at the peer"
                            + thisSide());
        } else if (tls != null && !security().peers().test(tls.peer())) {
            deny(
                    SecurityDenial.NOT_PERMITTED,
                    "the peer at " + remoteAddress() + " is " + tls.peer()
                            + ", which this listener does not permit; permit that peer if it should connect"
                            + thisSide());
        } else if (!ask()) {
            refuseOnLoop();
        }
    }

    /** Returns the request, which exists once the application knows of this set-up. */
    private MpaStartup requireRequest() {
        MpaStartup asked = request;
        if (asked == null) {
            throw new IllegalStateException("no MPA Request yet");
        }
        return asked;
    }

    @Override
    public byte[] privateData() {
        return requireRequest().privateData().clone();
    }

    @Override
    public int mpaRevision() {
        return requireRequest().revision();
    }

    @Override
    public ReadDepths peerDepths() {
        return depths(requireRequest().peer());
    }

    @Override
    public int replyRoom() {
        return requireRequest().replyRoom();
    }

    @Override
    @Nullable
    protected String refusalOf(ConnectionParameters wanted) {
        return MpaConnection.refusal(wanted.mpa(), requireRequest()).orElse(null);
    }

    @Override
    protected void answer(ConnectionParameters accepted) {
        MpaOptions chosen = options(accepted);
        mpa.accept(transport.tlsAttributes() == null ? chosen : inTls(chosen, accepted.security()));
    }

    @Override
    protected void answer(MpaOptions rejection) {
        mpa.reject(rejection);
    }

    @Override
    protected void onLapse() {
        if (transport.isHandshaking()) {
            failed("the TLS handshake with " + remoteAddress() + " was not complete in time");
            drop();
        } else {
            lapsed = true;
            mpa.startupTimeout();
        }
    }

    @Override
    protected void refuseOnLoop() {
        mpa.reject(rejection());
    }

    @Override
    public void onEstablished(MpaStartup agreed) {
        SoftwareQueuePair queuePair = acceptedBy();
        if (queuePair == null) {
            return;
        }
        listener.onEstablished(transport);
        try {
            RdmapStream stream =
                    attachStream(queuePair, mpa, transport.tlsAttributes(), agreed.ird(), agreed.ord(), mpa::attach);
            if (agreed.rtrBySend()) {
                stream.expectReadySend();
            }
            established(queuePair, stream, attributes(transport, agreed, stream, false));
        } catch (RuntimeException | Error e) {
            failedHere(e);
        }
    }

    @Override
    public void onStartupFailed(LlpError reason, String message) {
        TlsAttributes tls = transport.tlsAttributes();
        boolean left = waitsForRequest() && !lapsed && reason == LlpError.CONNECTION_LOST;
        failed(reason, left && tls != null ? endedBy(tls) : message);
    }

    /** Describes the end of a connection whose peer sent nothing behind the TLS handshake. */
    private String endedBy(TlsAttributes tls) {
        return "the peer at " + remoteAddress() + " is " + tls.peer()
                + " and ended the connection before MPA began; it may not permit the identity of this side"
                + thisSide();
    }

    @Override
    protected void abort() {
        failed("closed during set-up");
        drop();
    }

    @Override
    protected void drop() {
        mpa.abort();
    }
}
