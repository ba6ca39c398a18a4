// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

/** What {@link SctpSocket#receive} found; used over and over. */
public final class SctpReceived {

    /** Messages and events. */
    public enum Kind {
        /** A user message, or a part of one. */
        MESSAGE,
        /** The association is up. */
        UP,
        /** The peer's Adaptation Layer Indication; right after {@link #UP}. */
        ADAPTATION,
        /** The association failed. */
        LOST,
        /** The peer began the association anew. */
        RESTARTED,
        /** The graceful end is complete. */
        SHUT_DOWN,
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

    /** A message, or a part of one; {@code complete} is true for its end. */
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

    /** An event without particulars. */
    public void event(Kind newKind) {
        kind = newKind;
    }
}
