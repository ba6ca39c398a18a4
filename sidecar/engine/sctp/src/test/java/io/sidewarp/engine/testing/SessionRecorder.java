// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.llp.UpperLayer;
import io.sidewarp.engine.llp.sctp.DdpSessionListener;
import io.sidewarp.engine.llp.sctp.DdpStreamSession;
import io.sidewarp.engine.llp.sctp.SessionOptions;
import io.sidewarp.engine.llp.sctp.SessionStartup;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.verbs.LlpError;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A Consumer of a DDP stream session. Sends what a test hands over, and records its notifications. */
public final class SessionRecorder implements DdpSessionListener, UpperLayer {

    private final List<String> events = new ArrayList<>();
    private final List<String> segments = new ArrayList<>();
    private final List<String> causes = new ArrayList<>();
    private final ArrayDeque<byte[]> toSend = new ArrayDeque<>();
    private final List<String> committed = new ArrayList<>();
    private DdpStreamSession session;
    private SessionStartup asked;
    private SessionStartup agreed;
    private SessionStartup rejection;
    private LlpError error;
    private boolean closesWithPeer = true;
    private boolean decided;
    private boolean givenUp;
    private int transfers;
    private int inputsDone;

    void bind(DdpStreamSession newSession) {
        session = newSession;
    }

    void onAsked(SessionStartup startup) {
        asked = startup;
    }

    public DdpStreamSession session() {
        return session;
    }

    /** Returns the events: established, rejected, refused, failed, peer closed, error, closed, broken. */
    public List<String> events() {
        return events;
    }

    /** Returns the cause of the last event that has a cause. */
    public String cause() {
        return causes.getLast();
    }

    /** Segments that were received, in hexadecimal digits. */
    public List<String> segments() {
        return segments;
    }

    /** Returns the request of the Initiate, on the passive side. */
    public SessionStartup asked() {
        return asked;
    }

    public SessionStartup agreed() {
        return agreed;
    }

    public SessionStartup rejection() {
        return rejection;
    }

    public @Nullable LlpError error() {
        return error;
    }

    /** Returns the number of notifications that SCTP has taken segments. */
    public int transfers() {
        return transfers;
    }

    /** Returns the number of notifications that there is no more input for now. */
    public int inputsDone() {
        return inputsDone;
    }

    /** Segments that it has sent, in hexadecimal digits. */
    public List<String> committed() {
        return committed;
    }

    /** Returns whether an Initiate waits for a decision. */
    public boolean isUndecided() {
        return asked != null && !decided;
    }

    /** Returns whether the Consumer has given up or rejected the session before it was open. */
    public boolean isGivenUp() {
        return givenUp;
    }

    public boolean isEstablished() {
        return agreed != null;
    }

    /** Segments that it has not sent yet. */
    public int unsent() {
        return toSend.size();
    }

    /** Keeps its direction open when the peer has closed the other direction. */
    public SessionRecorder staysOpen() {
        closesWithPeer = false;
        return this;
    }

    /** Sends segments. */
    public void send(byte[]... octets) {
        toSend.addAll(List.of(octets));
        session.lowerLayer().requestOutput();
    }

    public void accept() {
        accept(SctpEnd.options());
    }

    public void accept(SessionOptions options) {
        session.accept(options);
        decided = true;
    }

    public void reject(SessionOptions options) {
        session.reject(options);
        giveUp();
    }

    /** Gives the session up unless it is open. */
    public void withdraw() {
        session.withdraw();
        giveUp();
    }

    /** Has no room for the Initiate that it is asked about. */
    public boolean refuse() {
        giveUp();
        return false;
    }

    private void giveUp() {
        decided = true;
        givenUp |= events.isEmpty();
    }

    @Override
    public void onEstablished(SessionStartup startup) {
        events.add("established");
        agreed = startup;
        session.attach(this);
    }

    @Override
    public void onRejected(SessionStartup reply) {
        events.add("rejected");
        rejection = reply;
    }

    @Override
    public void onFailed(boolean refused, String message) {
        events.add(refused ? "refused" : "failed");
        causes.add(message);
    }

    @Override
    public void onUlpdu(WireBuffer buffer, int offset, int length) {
        segments.add(Octets.show(Octets.of(buffer, offset, length)));
    }

    @Override
    public void onInputDone() {
        inputsDone++;
    }

    @Override
    public void produce() {
        for (byte[] octets = toSend.peek(); octets != null; octets = toSend.peek()) {
            if (!session.lowerLayer().claim(octets.length)) {
                return;
            }
            session.lowerLayer().buffer().putBytes(session.lowerLayer().offset(), octets, 0, octets.length);
            session.lowerLayer().commit();
            committed.add(Octets.show(toSend.remove()));
        }
    }

    @Override
    public void onTransferred() {
        transfers++;
    }

    @Override
    public void onError(LlpError found) {
        events.add("error");
        error = found;
    }

    @Override
    public void onPeerClosed() {
        events.add("peer closed");
        if (closesWithPeer) {
            session.lowerLayer().closeOutput();
        }
    }

    @Override
    public void onClosed(boolean graceful, String cause) {
        events.add(graceful ? "closed" : "broken");
        causes.add(cause);
    }
}
