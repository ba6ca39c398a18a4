// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.ring;

/**
 * Records of the control socket, as docs/control.md lists them. Each begins with the header of {@link RingRecord}. The
 * classes in here have the offsets of the fields, counted from the beginning of the record.
 */
public final class ControlRecord {

    public static final int OPEN = 16;
    public static final int MEMORY = 17;
    public static final int ALLOCATE_DOMAIN = 18;
    public static final int DEALLOCATE_DOMAIN = 19;
    public static final int REGISTER = 20;
    public static final int DEREGISTER = 21;
    public static final int CREATE_COMPLETION_RING = 22;
    public static final int CREATE_WORK_RING = 23;
    public static final int DESTROY_RING = 24;
    public static final int CREATE_SHARED_RECEIVE_QUEUE = 25;
    public static final int MODIFY_SHARED_RECEIVE_QUEUE = 26;
    public static final int DESTROY_SHARED_RECEIVE_QUEUE = 27;
    public static final int CREATE_CONNECTION = 28;
    public static final int LISTEN = 29;
    public static final int CLOSE_LISTENER = 30;
    public static final int CONNECT = 31;
    public static final int ACCEPT = 32;
    public static final int REJECT = 33;
    public static final int DISCONNECT = 34;

    public static final int DONE = 64;
    public static final int FAILED = 65;

    public static final int CONNECTION_REQUEST = 80;
    public static final int CONNECTION_CHANGED = 81;
    public static final int REGION_FAULT = 82;
    public static final int SHARED_RECEIVE_LIMIT = 83;
    public static final int LISTENER_ENDED = 84;
    public static final int DRAINING = 85;
    public static final int EVENTS_LOST = 86;

    /** Maximum number of requests that wait for an answer. */
    public static final int MAX_UNANSWERED = 4096;

    public static final int ADDRESS_LENGTH = 16;

    /** Value of a read depth that is unset. */
    public static final int DEPTH_UNSET = -1;

    private ControlRecord() {}

    /** Requests and answers that name one object: a domain, a region, a ring, a queue, a connection or a listener. */
    public static final class ObjectFields {
        public static final int OBJECT_OFFSET = 16;
        public static final int LENGTH = 24;

        private ObjectFields() {}
    }

    /** OPEN. */
    public static final class OpenFields {
        public static final int NAME_OFFSET = 16;
        public static final int NAME_LENGTH = 64;
        public static final int LENGTH = 80;

        private OpenFields() {}
    }

    /** Answer to OPEN. */
    public static final class DeviceFields {
        public static final int DOMAIN_OFFSET = 16;
        public static final int MAX_REGISTERED_OFFSET = 24;
        public static final int MAX_COMPLETION_ENTRIES_OFFSET = 32;
        public static final int MAX_RECEIVES_OFFSET = 40;
        public static final int MAX_REGIONS_OFFSET = 48;
        public static final int MAX_CONNECTIONS_OFFSET = 52;
        public static final int MAX_LISTENERS_OFFSET = 56;
        public static final int MAX_SEND_QUEUE_OFFSET = 60;
        public static final int MAX_RECEIVE_QUEUE_OFFSET = 64;
        public static final int MAX_SGE_OFFSET = 68;
        public static final int MAX_IRD_OFFSET = 72;
        public static final int MAX_ORD_OFFSET = 76;
        public static final int MAX_PRIVATE_DATA_OFFSET = 80;
        public static final int MAX_QUEUE_OUTSTANDING_OFFSET = 84;
        public static final int MAX_DOMAINS_OFFSET = 88;
        public static final int MAX_SHARED_RECEIVE_QUEUES_OFFSET = 92;
        public static final int CAPABILITIES_OFFSET = 96;
        public static final int VERSION_OFFSET = 104;
        public static final int VERSION_LENGTH = 32;
        public static final int VOLUME_OFFSET = 136;
        public static final int VOLUME_LENGTH = 256;
        public static final int LENGTH = 392;

        public static final int CAPABILITY_IMMEDIATE = 1;
        public static final int CAPABILITY_ATOMIC = 2;
        public static final int CAPABILITY_PROCESS_MEMORY = 4;

        private DeviceFields() {}
    }

    /** REGISTER, and the STag of its answer. */
    public static final class RegionFields {
        public static final int DOMAIN_OFFSET = 16;
        public static final int START_OFFSET = 24;
        public static final int LENGTH_OFFSET = 32;
        public static final int BASE_OFFSET = 40;
        public static final int CONNECTION_OFFSET = 48;
        public static final int ACCESS_OFFSET = 56;
        public static final int BACKING_OFFSET = 60;
        public static final int PATH_OFFSET = 64;
        public static final int PATH_LENGTH = 256;
        public static final int LENGTH = 320;

        public static final int STAG_OFFSET = 24;
        public static final int ANSWER_LENGTH = 32;

        public static final int BACKING_PROCESS = 1;
        public static final int BACKING_FILE = 2;

        private RegionFields() {}
    }

    /** CREATE_COMPLETION_RING and CREATE_WORK_RING, and their answers. */
    public static final class RingFields {
        public static final int ENTRIES_OFFSET = 16;
        public static final int COMPLETION_RING_OFFSET = 16;
        public static final int KIND_OFFSET = 24;
        public static final int BLOCKS_OFFSET = 28;
        public static final int COMPLETION_LENGTH = 24;
        public static final int WORK_LENGTH = 32;

        public static final int RING_OFFSET = 16;
        public static final int SIZE_OFFSET = 24;
        public static final int TOKEN_OFFSET = 32;
        public static final int FILE_OFFSET = 64;
        public static final int FILE_LENGTH = 128;
        public static final int ANSWER_LENGTH = 192;

        private RingFields() {}
    }

    /** CREATE_SHARED_RECEIVE_QUEUE with its answer, MODIFY_SHARED_RECEIVE_QUEUE and SHARED_RECEIVE_LIMIT. */
    public static final class SharedReceiveFields {
        public static final int DOMAIN_OFFSET = 16;
        public static final int QUEUE_OFFSET = 16;
        public static final int CAPACITY_OFFSET = 24;
        public static final int LIMIT_OFFSET = 28;
        public static final int LENGTH = 32;

        public static final int MODIFIED_LIMIT_OFFSET = 24;

        public static final int EVENT_LIMIT_OFFSET = 16;

        private SharedReceiveFields() {}
    }

    /** CREATE_CONNECTION. */
    public static final class CreateConnectionFields {
        public static final int DOMAIN_OFFSET = 16;
        public static final int SHARED_RECEIVE_QUEUE_OFFSET = 24;
        public static final int SEND_QUEUE_OFFSET = 32;
        public static final int RECEIVE_QUEUE_OFFSET = 36;
        public static final int LENGTH = 40;

        private CreateConnectionFields() {}
    }

    /** LISTEN and its answer. */
    public static final class ListenFields {
        public static final int ADDRESS_OFFSET = 16;
        public static final int PORT_OFFSET = 32;
        public static final int BACKLOG_OFFSET = 36;
        public static final int LENGTH = 40;

        public static final int LISTENER_OFFSET = 16;
        public static final int BOUND_ADDRESS_OFFSET = 24;
        public static final int BOUND_PORT_OFFSET = 40;
        public static final int ANSWER_LENGTH = 48;

        private ListenFields() {}
    }

    /** CONNECT, ACCEPT and REJECT, which end with private data. */
    public static final class SetupFields {
        public static final int CONNECTION_OFFSET = 16;
        public static final int AFTER_POSTS_OFFSET = 24;
        /** Field of CONNECT. */
        public static final int ADDRESS_OFFSET = 32;
        /** Field of ACCEPT and REJECT. */
        public static final int REQUEST_OFFSET = 32;

        public static final int PORT_OFFSET = 48;
        public static final int TIMEOUT_OFFSET = 52;
        public static final int IRD_OFFSET = 56;
        public static final int ORD_OFFSET = 60;
        public static final int PRIVATE_LENGTH_OFFSET = 64;
        public static final int PRIVATE_DATA_OFFSET = 72;

        private SetupFields() {}
    }

    /** DISCONNECT. */
    public static final class DisconnectFields {
        public static final int CONNECTION_OFFSET = 16;
        public static final int AFTER_POSTS_OFFSET = 24;
        public static final int ABORT_OFFSET = 32;
        public static final int LENGTH = 40;

        private DisconnectFields() {}
    }

    /** Answer to CONNECT and ACCEPT, which ends with private data. */
    public static final class ConnectedFields {
        public static final int LOCAL_ADDRESS_OFFSET = 16;
        public static final int LOCAL_PORT_OFFSET = 32;
        public static final int IRD_OFFSET = 36;
        public static final int ORD_OFFSET = 40;
        public static final int PEER_IRD_OFFSET = 44;
        public static final int PEER_ORD_OFFSET = 48;
        public static final int PRIVATE_LENGTH_OFFSET = 64;
        public static final int PRIVATE_DATA_OFFSET = 72;

        private ConnectedFields() {}
    }

    /** FAILED, which ends with private data and then a text. */
    public static final class FailedFields {
        public static final int CODE_OFFSET = 16;
        public static final int RETRY_OFFSET = 20;
        public static final int REASON_OFFSET = 24;
        public static final int TEXT_LENGTH_OFFSET = 28;
        public static final int PRIVATE_LENGTH_OFFSET = 64;
        public static final int PRIVATE_DATA_OFFSET = 72;

        /** The peer's application rejected. */
        public static final int REASON_REJECTED = 1;
        /** The host refused: no process listens at the port. */
        public static final int REASON_REFUSED = 2;
        /** The address cannot be reached, for example without a route. For LISTEN: it cannot be bound. */
        public static final int REASON_UNREACHABLE = 3;
        /** No answer came in time. */
        public static final int REASON_NO_ANSWER = 4;
        /** The peer closed the connection before it was established. */
        public static final int REASON_CLOSED = 5;
        /** The peer broke the rules of start-up. */
        public static final int REASON_PROTOCOL = 6;

        private FailedFields() {}
    }

    /** CONNECTION_REQUEST, which ends with private data and then the local address. */
    public static final class ConnectionRequestFields {
        public static final int REQUEST_OFFSET = 16;
        public static final int REMOTE_PORT_OFFSET = 24;
        public static final int LOCAL_PORT_OFFSET = 28;
        public static final int REMOTE_ADDRESS_OFFSET = 32;
        public static final int PEER_IRD_OFFSET = 48;
        public static final int PEER_ORD_OFFSET = 52;
        public static final int MAX_PRIVATE_DATA_OFFSET = 56;
        public static final int PRIVATE_LENGTH_OFFSET = 64;
        public static final int PRIVATE_DATA_OFFSET = 72;

        private ConnectionRequestFields() {}
    }

    /** CONNECTION_CHANGED, REGION_FAULT and LISTENER_ENDED, which end with a text. */
    public static final class EventFields {
        public static final int STATE_OFFSET = 16;
        /** Field of LISTENER_ENDED. */
        public static final int CODE_OFFSET = 16;

        public static final int ERROR_OFFSET = 20;
        public static final int LAYER_OFFSET = 21;
        public static final int ERROR_TYPE_OFFSET = 22;
        public static final int ERROR_CODE_OFFSET = 23;
        public static final int ERROR_REMOTE_OFFSET = 24;
        public static final int TEXT_LENGTH_OFFSET = 28;
        public static final int TEXT_OFFSET = 72;

        private EventFields() {}
    }
}
