// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import io.sidewarp.engine.llp.mpa.MpaConnection;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.llp.mpa.MpaStartup;
import io.sidewarp.engine.llp.mpa.MpaStartupListener;
import io.sidewarp.engine.net.TcpTransport;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.LlpError;
import io.sidewarp.engine.verbs.ReadDepths;
import org.jspecify.annotations.Nullable;

/** Sets up a TCP connection that the peer begins: MPA as Responder. */
final class IncomingTcpSetup extends IncomingSetup implements MpaStartupListener {

    private final SoftwareTcpListener listener;
    private final TcpTransport transport;
    private final MpaConnection mpa;
    private @Nullable MpaStartup request;

    IncomingTcpSetup(SoftwareDevice device, SoftwareTcpListener listener, TcpTransport transport) {
        super(device, listener, transport.loop(), transport.remoteAddress(), transport.localAddress());
        this.listener = listener;
        this.transport = transport;
        this.mpa = new MpaConnection(MpaRole.RESPONDER, options(), transport, this);
        transport.bind(mpa);
    }

    void start() {
        startTimer();
        mpa.start();
    }

    @Override
    public void onRequest(MpaStartup asked) {
        request = asked;
        if (!ask()) {
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
        mpa.accept(options(accepted));
    }

    @Override
    protected void answer(MpaOptions rejection) {
        mpa.reject(rejection);
    }

    @Override
    protected void onLapse() {
        mpa.startupTimeout();
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
            RdmapStream stream = attachStream(queuePair, mpa, agreed.ird(), agreed.ord(), mpa::attach);
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
        failed(reason, message);
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
