// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software.sctp;

import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.sctp.DdpSessionListener;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionOptions;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.ReadDepths;
import io.sidewarp.provider.software.IncomingSetup;
import io.sidewarp.provider.software.SoftwareDevice;
import io.sidewarp.provider.software.SoftwareQueuePair;
import org.jspecify.annotations.Nullable;

/** Sets up a DDP stream session that the peer begins: the passive role of RFC 5043. */
final class IncomingSctpSetup extends IncomingSetup implements DdpSessionListener {

    private final SoftwareAssociation association;
    private final DdpStreamSession session;
    private final SessionStartup request;

    IncomingSctpSetup(
            SoftwareDevice device,
            SoftwareSctpListener listener,
            SoftwareAssociation association,
            DdpStreamSession session,
            SessionStartup request) {
        super(
                device,
                listener,
                association.transport().loop(),
                association.transport().remoteAddress(),
                association.transport().localAddress());
        this.association = association;
        this.session = session;
        this.request = request;
        session.listen(this);
    }

    @Override
    public byte[] privateData() {
        return request.privateData().clone();
    }

    @Override
    public int mpaRevision() {
        return 0;
    }

    @Override
    public ReadDepths peerDepths() {
        return depths(request.peer());
    }

    @Override
    public int replyRoom() {
        return request.replyRoom();
    }

    @Override
    @Nullable
    protected String refusalOf(ConnectionParameters wanted) {
        return null;
    }

    @Override
    protected void answer(ConnectionParameters accepted) {
        session.accept(sessionOptions(options(accepted)));
    }

    @Override
    protected void answer(MpaOptions rejection) {
        session.reject(sessionOptions(rejection));
    }

    private SessionOptions sessionOptions(MpaOptions options) {
        return new SessionOptions(options.privateData(), request.enhanced(), options.terms());
    }

    @Override
    protected void onLapse() {
        session.withdraw();
        failed("no answer in time");
    }

    /** {@inheritDoc} Sends no Reject, because only the application may send one (RFC 5043 section 6.3). */
    @Override
    protected void refuseOnLoop() {
        session.withdraw();
    }

    @Override
    public void onEstablished(SessionStartup agreed) {
        SoftwareQueuePair queuePair = acceptedBy();
        if (queuePair == null) {
            session.abort();
            return;
        }
        association.onUsed();
        try {
            RdmapStream stream =
                    attachStream(queuePair, session.lowerLayer(), agreed.ird(), agreed.ord(), session::attach);
            if (agreed.rtrBySend()) {
                stream.expectReadySend();
            }
            established(queuePair, stream, association.attributes(session, agreed, depths(agreed.peer()), stream));
        } catch (RuntimeException | Error e) {
            failedHere(e);
        }
    }

    @Override
    public void onRejected(SessionStartup reply) {
        throw new IllegalStateException("the passive side is not rejected");
    }

    @Override
    public void onFailed(boolean refused, String message) {
        failed(message);
    }

    @Override
    protected void abort() {
        failed("closed during set-up");
        session.withdraw();
    }

    @Override
    protected void drop() {
        session.withdraw();
        session.abort();
    }
}
