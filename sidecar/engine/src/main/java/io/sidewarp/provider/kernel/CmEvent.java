// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.MEMORY;

import io.sidewarp.engine.verbs.ReadDepths;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/**
 * What the connection manager tells of a connection, copied.
 *
 * @param id what it is about; for a connection request the new connection
 * @param listenId the listener that a connection request came to, else 0
 * @param status 0, or a negative error number
 * @param depths what the peer said in a connection request
 */
record CmEvent(long id, long listenId, Kind kind, int status, byte[] privateData, ReadDepths depths) {

    /** enum rdma_cm_event_type, in its order. */
    enum Kind {
        ADDR_RESOLVED,
        ADDR_ERROR,
        ROUTE_RESOLVED,
        ROUTE_ERROR,
        CONNECT_REQUEST,
        CONNECT_RESPONSE,
        CONNECT_ERROR,
        UNREACHABLE,
        REJECTED,
        ESTABLISHED,
        DISCONNECTED,
        DEVICE_REMOVAL,
        MULTICAST_JOIN,
        MULTICAST_ERROR,
        ADDR_CHANGE,
        TIMEWAIT_EXIT;

        private static final Kind[] ALL = values();

        private boolean hasParameters() {
            return this == CONNECT_REQUEST || this == REJECTED || this == ESTABLISHED;
        }
    }

    static CmEvent copyOf(long event) {
        Kind kind = Kind.ALL[Native.getInt(event + VerbsLayout.CM_EVENT_TYPE)];
        long parameters = event + VerbsLayout.CM_EVENT_CONN;
        int length =
                kind.hasParameters() ? Native.getUnsignedByte(parameters + VerbsLayout.CONN_PRIVATE_DATA_LENGTH) : 0;
        byte[] privateData = new byte[length];
        if (length > 0) {
            long data = Native.getLong(parameters + VerbsLayout.CONN_PRIVATE_DATA);
            MemorySegment.copy(MEMORY, data, MemorySegment.ofArray(privateData), 0, length);
        }
        return new CmEvent(
                Native.getLong(event + VerbsLayout.CM_EVENT_ID),
                Native.getLong(event + VerbsLayout.CM_EVENT_LISTEN_ID),
                kind,
                Native.getInt(event + VerbsLayout.CM_EVENT_STATUS),
                privateData,
                kind == Kind.CONNECT_REQUEST ? depths(parameters) : ReadDepths.UNKNOWN);
    }

    /**
     * The connection manager gives them as this side's: what the peer serves is how many this side may begin. Where neither is
     * told, the peer has not said: siw of one that asks with revision 1 of MPA.
     */
    private static ReadDepths depths(long parameters) {
        int served = Native.getUnsignedByte(parameters + VerbsLayout.CONN_INITIATOR_DEPTH);
        int wanted = Native.getUnsignedByte(parameters + VerbsLayout.CONN_RESPONDER_RESOURCES);
        return served == 0 && wanted == 0
                ? ReadDepths.UNKNOWN
                : new ReadDepths(OptionalInt.of(served), OptionalInt.of(wanted));
    }
}
