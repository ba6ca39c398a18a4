// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.sidewarp.engine.verbs.ConnectionFailedException;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectedFields;
import io.sidewarp.ring.ControlRecord.DeviceFields;
import io.sidewarp.ring.ControlRecord.FailedFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.ControlRecord.SharedReceiveFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.CompletionRing;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionRejected;
import io.sidewarp.v1.Limits;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.SharedReceiveQueue;
import io.sidewarp.v1.WorkRing;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes the answers to requests. */
final class ControlAnswers {

    private ControlAnswers() {}

    static RecordWriter done(long value) {
        return new RecordWriter(ControlRecord.DONE, value, RingRecord.HEADER);
    }

    /** Returns the answer with the number of a new object. */
    static RecordWriter object(long value, long object) {
        return done(value, ObjectFields.LENGTH).setLong(ObjectFields.OBJECT_OFFSET, object);
    }

    static RecordWriter device(long value, long domain, Limits limits, String version, String volume) {
        return done(value, DeviceFields.LENGTH)
                .setLong(DeviceFields.DOMAIN_OFFSET, domain)
                .setLong(DeviceFields.MAX_REGISTERED_OFFSET, limits.getMaxRegisteredOctets())
                .setLong(DeviceFields.MAX_COMPLETION_ENTRIES_OFFSET, limits.getMaxCompletionEntries())
                .setLong(DeviceFields.MAX_RECEIVES_OFFSET, limits.getMaxReceives())
                .setInt(DeviceFields.MAX_REGIONS_OFFSET, limits.getMaxRegions())
                .setInt(DeviceFields.MAX_CONNECTIONS_OFFSET, limits.getMaxConnections())
                .setInt(DeviceFields.MAX_LISTENERS_OFFSET, limits.getMaxListeners())
                .setInt(DeviceFields.MAX_SEND_QUEUE_OFFSET, limits.getMaxSendQueue())
                .setInt(DeviceFields.MAX_RECEIVE_QUEUE_OFFSET, limits.getMaxReceiveQueue())
                .setInt(DeviceFields.MAX_SGE_OFFSET, limits.getMaxSge())
                .setInt(DeviceFields.MAX_IRD_OFFSET, limits.getMaxIrd())
                .setInt(DeviceFields.MAX_ORD_OFFSET, limits.getMaxOrd())
                .setInt(DeviceFields.MAX_PRIVATE_DATA_OFFSET, limits.getMaxPrivateData())
                .setInt(DeviceFields.MAX_QUEUE_OUTSTANDING_OFFSET, limits.getMaxQueueOutstanding())
                .setInt(DeviceFields.MAX_DOMAINS_OFFSET, limits.getMaxProtectionDomains())
                .setInt(DeviceFields.MAX_SHARED_RECEIVE_QUEUES_OFFSET, limits.getMaxSharedReceiveQueues())
                .setString(DeviceFields.VERSION_OFFSET, DeviceFields.VERSION_LENGTH, version)
                // A part of the path would be another path.
                .setString(
                        DeviceFields.VOLUME_OFFSET,
                        DeviceFields.VOLUME_LENGTH,
                        volume.getBytes(StandardCharsets.UTF_8).length > DeviceFields.VOLUME_LENGTH ? "" : volume);
    }

    static RecordWriter region(long value, Region region) {
        return done(value, RegionFields.ANSWER_LENGTH)
                .setLong(ObjectFields.OBJECT_OFFSET, region.getId())
                .setInt(RegionFields.STAG_OFFSET, region.getStag());
    }

    static RecordWriter ring(long value, CompletionRing ring) {
        return ring(value, ring.getId(), ring.getEntries(), ring.getFile().getPath())
                .setBytes(RingFields.TOKEN_OFFSET, ring.getToken());
    }

    static RecordWriter ring(long value, WorkRing ring) {
        return ring(value, ring.getId(), ring.getBlocks(), ring.getFile().getPath());
    }

    private static RecordWriter ring(long value, long id, int size, String file) {
        return done(value, RingFields.ANSWER_LENGTH)
                .setLong(RingFields.RING_OFFSET, id)
                .setInt(RingFields.SIZE_OFFSET, size)
                .setString(RingFields.FILE_OFFSET, RingFields.FILE_LENGTH, file);
    }

    static RecordWriter sharedReceives(long value, SharedReceiveQueue queue) {
        return done(value, SharedReceiveFields.LENGTH)
                .setLong(SharedReceiveFields.QUEUE_OFFSET, queue.getId())
                .setInt(SharedReceiveFields.CAPACITY_OFFSET, queue.getCapacity());
    }

    static RecordWriter connected(long value, Connection connection) {
        ByteString data = connection.getPrivateData();
        return done(value, ConnectedFields.PRIVATE_DATA_OFFSET + data.size())
                .setAddress(ConnectedFields.LOCAL_ADDRESS_OFFSET, connection.getLocalAddress())
                .setInt(ConnectedFields.LOCAL_PORT_OFFSET, connection.getLocalPort())
                .setInt(ConnectedFields.IRD_OFFSET, connection.getIrd())
                .setInt(ConnectedFields.ORD_OFFSET, connection.getOrd())
                .setInt(ConnectedFields.PEER_IRD_OFFSET, depth(connection.hasPeerIrd(), connection.getPeerIrd()))
                .setInt(ConnectedFields.PEER_ORD_OFFSET, depth(connection.hasPeerOrd(), connection.getPeerOrd()))
                .setInt(ConnectedFields.PRIVATE_LENGTH_OFFSET, data.size())
                .setBytes(ConnectedFields.PRIVATE_DATA_OFFSET, data);
    }

    /** Returns a read depth, or the value of an unset one. */
    static int depth(boolean isSet, int depth) {
        return isSet ? depth : ControlRecord.DEPTH_UNSET;
    }

    static RecordWriter failed(long value, StatusRuntimeException status) {
        Optional<ConnectionRejected> rejection = ApiError.rejection(status);
        int reason = rejection.isPresent()
                ? FailedFields.REASON_REJECTED
                : reason(status.getStatus().getCause());
        ByteString data = rejection.map(ConnectionRejected::getPrivateData).orElse(ByteString.EMPTY);
        int textOffset = FailedFields.PRIVATE_DATA_OFFSET + data.size();
        ByteString text = RecordWriter.text(
                String.valueOf(status.getStatus().getDescription()), RingRecord.MAX_LENGTH - textOffset);
        return new RecordWriter(ControlRecord.FAILED, value, textOffset + text.size())
                .setInt(FailedFields.CODE_OFFSET, status.getStatus().getCode().value())
                .setInt(FailedFields.RETRY_OFFSET, ApiError.retry(status).getNumber())
                .setInt(FailedFields.REASON_OFFSET, reason)
                .setInt(FailedFields.TEXT_LENGTH_OFFSET, text.size())
                .setInt(FailedFields.PRIVATE_LENGTH_OFFSET, data.size())
                .setBytes(FailedFields.PRIVATE_DATA_OFFSET, data)
                .setBytes(textOffset, text);
    }

    /** Returns the reason of a failed set-up, or 0. */
    private static int reason(@Nullable Throwable cause) {
        if (!(cause instanceof ConnectionFailedException failed)) {
            return 0;
        }
        return switch (failed.kind()) {
            case REFUSED -> FailedFields.REASON_REFUSED;
            case UNREACHABLE -> FailedFields.REASON_UNREACHABLE;
            case NO_ANSWER, TIMEOUT -> FailedFields.REASON_NO_ANSWER;
            case PROTOCOL -> failed.error().isPresent() ? FailedFields.REASON_PROTOCOL : FailedFields.REASON_CLOSED;
            case SECURITY, LAPSED, INVALID_PARAMETERS, ABORTED, LIMIT, INTERNAL -> 0;
        };
    }

    private static RecordWriter done(long value, int length) {
        return new RecordWriter(ControlRecord.DONE, value, length);
    }
}
