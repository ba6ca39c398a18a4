// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.EventFields;
import io.sidewarp.ring.ControlRecord.SharedReceiveFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.context.Responses;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.v1.ConnectionStateChange;
import io.sidewarp.v1.OpenSessionResponse;
import java.util.concurrent.TimeUnit;

/** Events of a session as records. */
record ControlEvents(ControlHandler handler) implements Responses<OpenSessionResponse> {

    private static final int MAX_TEXT = RingRecord.MAX_LENGTH - EventFields.TEXT_OFFSET;

    @Override
    public boolean isReady() {
        return handler.isReady();
    }

    /** Leaves out what the answer to OPEN tells, and changes of connections, which are reported without loss. */
    @Override
    public boolean wants(OpenSessionResponse event) {
        return !event.hasOpened() && !event.hasConnection();
    }

    @Override
    public void onNext(OpenSessionResponse event) {
        switch (event.getEventCase()) {
            case REGION_FAULT ->
                handler.send(event(
                        ControlRecord.REGION_FAULT,
                        event.getRegionFault().getRegion(),
                        event.getRegionFault().getMessage()));
            case SHARED_RECEIVE_QUEUE_LIMIT ->
                handler.send(event(
                                ControlRecord.SHARED_RECEIVE_LIMIT,
                                event.getSharedReceiveQueueLimit().getSharedReceiveQueue(),
                                "")
                        .setInt(
                                SharedReceiveFields.EVENT_LIMIT_OFFSET,
                                event.getSharedReceiveQueueLimit().getLimit()));
            case DRAINING -> {
                var grace = event.getDraining().getGrace();
                long millis =
                        TimeUnit.SECONDS.toMillis(grace.getSeconds()) + TimeUnit.NANOSECONDS.toMillis(grace.getNanos());
                handler.send(new RecordWriter(ControlRecord.DRAINING, millis, RingRecord.HEADER));
            }
            case EVENTS_LOST ->
                handler.send(new RecordWriter(
                        ControlRecord.EVENTS_LOST, event.getEventsLost().getCount(), RingRecord.HEADER));
            case OPENED, CONNECTION, EVENT_NOT_SET -> {
                // Not wanted.
            }
        }
    }

    @Override
    public void onError(Throwable failure) {
        var status = ApiError.from(failure).getStatus();
        handler.end(status.getCode(), "the session ended: " + status.getDescription());
    }

    @Override
    public void onCompleted() {
        handler.end(io.grpc.Status.Code.OK, "the session was closed");
    }

    /** Returns an event with a text for people. */
    static RecordWriter event(int type, long value, String text) {
        ByteString bytes = RecordWriter.text(text, MAX_TEXT);
        return new RecordWriter(type, value, EventFields.TEXT_OFFSET + bytes.size())
                .setInt(EventFields.TEXT_LENGTH_OFFSET, bytes.size())
                .setBytes(EventFields.TEXT_OFFSET, bytes);
    }

    /** Returns the event of a change of a connection. */
    static RecordWriter changed(ConnectionStateChange change) {
        RecordWriter event = event(ControlRecord.CONNECTION_CHANGED, change.getConnection(), change.getMessage())
                .setInt(EventFields.STATE_OFFSET, change.getStateValue());
        if (change.hasError()) {
            event.setByte(EventFields.ERROR_OFFSET, 1)
                    .setByte(EventFields.LAYER_OFFSET, change.getError().getLayer())
                    .setByte(EventFields.ERROR_TYPE_OFFSET, change.getError().getType())
                    .setByte(EventFields.ERROR_CODE_OFFSET, change.getError().getCode())
                    .setByte(EventFields.ERROR_REMOTE_OFFSET, change.getError().getRemote() ? 1 : 0);
        }
        return event;
    }
}
