// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** Result of {@link MessageSocket#receive}. The same object is used again and again. */
public final class SctpReceived {

    /** Messages and events. */
    public enum Kind {
        /** A user message, or a part of one. */
        MESSAGE,
        /** The association is up. */
        UP,
        /** The peer's Adaptation Layer Indication. It follows right after {@link #UP}. */
        ADAPTATION,
        /** The association failed. */
        LOST,
        /** The peer restarted the association. */
        RESTARTED,
        /** The graceful end is complete. */
        SHUT_DOWN,
        /** A path to the peer stopped answering, or answers again. */
        PATH,
        /** Something that needs no answer. */
        OTHER
    }

    Kind kind = Kind.OTHER;
    int stream;
    int payloadProtocol;
    int length;
    boolean complete;
    int inboundStreams;
    int outboundStreams;
    int adaptation;

    @Nullable
    String cause;

    @Nullable
    InetAddress path;

    boolean pathActive;

    /** Sets a message, or a part of one. {@code complete} is true for the last part. */
    public void message(int newStream, int newPayloadProtocol, int newLength, boolean newComplete) {
        kind = Kind.MESSAGE;
        stream = newStream;
        payloadProtocol = newPayloadProtocol;
        length = newLength;
        complete = newComplete;
    }

    public void up(int newInboundStreams, int newOutboundStreams) {
        kind = Kind.UP;
        inboundStreams = newInboundStreams;
        outboundStreams = newOutboundStreams;
    }

    public void adaptation(int indication) {
        kind = Kind.ADAPTATION;
        adaptation = indication;
    }

    /** Sets {@link Kind#LOST} with the words of the peer or the stack, for people. */
    public void lost(String newCause) {
        kind = Kind.LOST;
        cause = newCause;
    }

    public void path(InetAddress newPath, boolean newPathActive) {
        kind = Kind.PATH;
        path = newPath;
        pathActive = newPathActive;
    }

    /** Sets an event without details. */
    public void event(Kind newKind) {
        kind = newKind;
        cause = null;
    }

    public Kind kind() {
        return kind;
    }

    public int inboundStreams() {
        return inboundStreams;
    }

    public int outboundStreams() {
        return outboundStreams;
    }

    public int adaptation() {
        return adaptation;
    }

    /** Returns the cause of {@link Kind#LOST} if the stack knows one. */
    public @Nullable String cause() {
        return cause;
    }

    /** Returns the address of the peer for {@link Kind#PATH}. */
    public @Nullable InetAddress path() {
        return path;
    }

    public boolean pathActive() {
        return pathActive;
    }
}
