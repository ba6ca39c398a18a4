// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.MEMORY;

import io.sidewarp.engine.verbs.ReadDepths;
import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;

/**
 * An event of the connection manager, copied from the memory of librdmacm.
 *
 * @param id connection that the event concerns; for a connection request, the new connection
 * @param listenId listener that received the connection request; 0 for other events
 * @param status 0, or a negative error number
 * @param depths the peer's IRD and ORD in a connection request; unknown for other events
 */
record CmEvent(long id, long listenId, Kind kind, int status, byte[] privateData, ReadDepths depths) {

    /** Kinds in the order of enum rdma_cm_event_type. */
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
     * Returns the peer's IRD and ORD. The connection manager names both from the view of this side: the initiator depth
     * is the number of Reads that the peer serves. The responder resources are the number of Reads that the peer wants
     * served. If both numbers are 0, the peer did not state its depths. For example, siw reports 0 for a peer that uses
     * revision 1 of MPA.
     */
    private static ReadDepths depths(long parameters) {
        int served = Native.getUnsignedByte(parameters + VerbsLayout.CONN_INITIATOR_DEPTH);
        int wanted = Native.getUnsignedByte(parameters + VerbsLayout.CONN_RESPONDER_RESOURCES);
        return served == 0 && wanted == 0
                ? ReadDepths.UNKNOWN
                : new ReadDepths(OptionalInt.of(served), OptionalInt.of(wanted));
    }
}
