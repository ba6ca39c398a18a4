// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectionRequestFields;
import io.sidewarp.ring.ControlRecord.EventFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.service.connection.ListenCall;
import io.sidewarp.service.context.Responses;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ListenResponse;
import io.sidewarp.v1.Listening;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A listener of a control socket: the answer to LISTEN, and the events behind it. */
final class ControlListener implements Responses<ListenResponse> {

    private final ControlHandler handler;
    private final SidecarSession session;
    private final long id;
    private final long value;
    private final Consumer<ControlListener> onListening;
    private final Consumer<ControlListener> onEnd;
    private @Nullable ListenCall call;
    private boolean listening;

    /**
     * @param id number of the listener
     * @param value value of LISTEN
     * @param onListening takes this listener before its address is told
     * @param onEnd takes this listener when it ends without its client's request
     */
    ControlListener(
            ControlHandler handler,
            SidecarSession session,
            long id,
            long value,
            Consumer<ControlListener> onListening,
            Consumer<ControlListener> onEnd) {
        this.handler = handler;
        this.session = session;
        this.id = id;
        this.value = value;
        this.onListening = onListening;
        this.onEnd = onEnd;
    }

    long id() {
        return id;
    }

    void use(ListenCall newCall) {
        call = newCall;
    }

    ListenCall call() {
        if (call == null) {
            throw new IllegalStateException("listener " + id + " has not begun");
        }
        return call;
    }

    @Override
    public boolean isReady() {
        return handler.isReady();
    }

    @Override
    public void onNext(ListenResponse response) {
        if (response.hasListening()) {
            listening = true;
            onListening.accept(this);
            handler.answer(listening(response.getListening()));
        } else {
            handler.send(request(response.getRequest()));
        }
    }

    private RecordWriter listening(Listening told) {
        return new RecordWriter(ControlRecord.DONE, value, ListenFields.ANSWER_LENGTH)
                .setLong(ListenFields.LISTENER_OFFSET, id)
                .setAddress(ListenFields.BOUND_ADDRESS_OFFSET, told.getAddress())
                .setInt(ListenFields.BOUND_PORT_OFFSET, told.getPort());
    }

    private RecordWriter request(ConnectionRequest request) {
        InetSocketAddress local = session.listeners().localAddress(request.getId());
        ByteString data = request.getPrivateData();
        int end = ConnectionRequestFields.PRIVATE_DATA_OFFSET + data.size();
        return new RecordWriter(ControlRecord.CONNECTION_REQUEST, id, end + ControlRecord.ADDRESS_LENGTH)
                .setLong(ConnectionRequestFields.REQUEST_OFFSET, request.getId())
                .setInt(ConnectionRequestFields.REMOTE_PORT_OFFSET, request.getRemotePort())
                .setInt(ConnectionRequestFields.LOCAL_PORT_OFFSET, local.getPort())
                .setAddress(ConnectionRequestFields.REMOTE_ADDRESS_OFFSET, request.getRemoteAddress())
                .setInt(
                        ConnectionRequestFields.PEER_IRD_OFFSET,
                        ControlAnswers.depth(request.hasPeerIrd(), request.getPeerIrd()))
                .setInt(
                        ConnectionRequestFields.PEER_ORD_OFFSET,
                        ControlAnswers.depth(request.hasPeerOrd(), request.getPeerOrd()))
                .setInt(ConnectionRequestFields.MAX_PRIVATE_DATA_OFFSET, request.getMaxPrivateData())
                .setInt(ConnectionRequestFields.PRIVATE_LENGTH_OFFSET, data.size())
                .setBytes(ConnectionRequestFields.PRIVATE_DATA_OFFSET, data)
                .setAddress(end, local.getAddress().getHostAddress());
    }

    @Override
    public void onError(Throwable failure) {
        var status = ApiError.from(failure);
        if (listening) {
            onEnd.accept(this);
            handler.send(ControlEvents.event(
                            ControlRecord.LISTENER_ENDED,
                            id,
                            String.valueOf(status.getStatus().getDescription()))
                    .setInt(
                            EventFields.CODE_OFFSET,
                            status.getStatus().getCode().value()));
        } else {
            handler.answer(ControlAnswers.failed(
                    value, handler.failure(Request.LISTEN, session.context().name(), status)));
        }
    }

    @Override
    public void onCompleted() {}
}
