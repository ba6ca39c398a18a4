// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import io.netty.util.collection.LongObjectHashMap;
import io.opentelemetry.context.Context;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.CreateConnectionFields;
import io.sidewarp.ring.ControlRecord.DeviceFields;
import io.sidewarp.ring.ControlRecord.DisconnectFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.ControlRecord.SharedReceiveFields;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.settings.SecuritySettings;
import io.sidewarp.settings.SidewarpConfig;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.ConnectRequest;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionState;
import io.sidewarp.v1.CreateCompletionRingRequest;
import io.sidewarp.v1.CreateConnectionRequest;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.CreateWorkRingRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.RejectRequest;
import io.sidewarp.v1.Security;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Requests of an open session, which call its parts. Confined to the session's thread. */
final class ControlSession {

    private static final int PEER_TO_PEER_REVISION = 2;
    private static final int PEER_TO_PEER_PRIVATE_DATA = 508;
    private static final int MILLIS = 1000;
    private static final int NANOS_PER_MILLI = 1_000_000;

    private final ControlHandler handler;
    private final ControlSockets sockets;
    private final SidecarSession session;
    private final ControlRegions regions;
    private final LongObjectHashMap<ControlListener> listeners = new LongObjectHashMap<>();

    ControlSession(ControlHandler handler, ControlSockets sockets, SidecarSession session) {
        this.handler = handler;
        this.sockets = sockets;
        this.session = session;
        this.regions = new ControlRegions(handler, session);
    }

    SidecarSession session() {
        return session;
    }

    /** Returns the answer to OPEN. */
    RecordWriter describe(long value) {
        int capabilities = (sockets.registry().device().attributes().extensions()
                        ? DeviceFields.CAPABILITY_IMMEDIATE | DeviceFields.CAPABILITY_ATOMIC
                        : 0)
                | (regions.takesProcessMemory() ? DeviceFields.CAPABILITY_PROCESS_MEMORY : 0);
        return ControlAnswers.device(
                        value,
                        session.memory().defaultDomain().id(),
                        session.context().limits().toProto(),
                        sockets.version(),
                        sockets.volume())
                .setInt(DeviceFields.CAPABILITIES_OFFSET, capabilities);
    }

    /** Continues to send events, because the client reads again. */
    void flush() {
        session.flush();
        for (ControlListener listener : List.copyOf(listeners.values())) {
            listener.call().flush();
        }
    }

    /** Answers a request, now or later. */
    void handle(Request request, RecordReader record) {
        long value = record.value();
        String name = session.context().name();
        try {
            session.checkOpen();
            CompletionStage<RecordWriter> answer = answer(request, record, value);
            if (answer != null) {
                handler.answer(request, value, name, answer);
            }
        } catch (BadRecordException e) {
            throw e;
        } catch (RuntimeException e) {
            handler.answer(ControlAnswers.failed(value, handler.failure(request, name, e)));
        }
    }

    /** Returns the answer; null if the request answers by itself. */
    private @Nullable CompletionStage<RecordWriter> answer(Request request, RecordReader record, long value) {
        return switch (request) {
            case OPEN -> throw new IllegalStateException("the session is open");
            case MEMORY -> {
                regions.awaitDescriptor(value);
                yield null;
            }
            case ALLOCATE_DOMAIN ->
                now(ControlAnswers.object(
                        value, session.memory().allocateDomain().id()));
            case DEALLOCATE_DOMAIN -> done(value, session.memory().deallocateDomain(object(record)));
            case REGISTER -> regions.register(record).thenApply(region -> ControlAnswers.region(value, region));
            case DEREGISTER -> done(value, session.memory().deregister(object(record)));
            case CREATE_COMPLETION_RING ->
                session.rings()
                        .createCompletionRing(CreateCompletionRingRequest.newBuilder()
                                .setEntries(record.getInt(RingFields.ENTRIES_OFFSET))
                                .build())
                        .thenApply(ring -> ControlAnswers.ring(value, ring));
            case CREATE_WORK_RING ->
                session.rings()
                        .createWorkRing(CreateWorkRingRequest.newBuilder()
                                .setCompletionRing(record.getLong(RingFields.COMPLETION_RING_OFFSET))
                                .setKindValue(record.getInt(RingFields.KIND_OFFSET))
                                .setBlocks(record.getInt(RingFields.BLOCKS_OFFSET))
                                .build())
                        .thenApply(ring -> ControlAnswers.ring(value, ring));
            case DESTROY_RING -> done(value, session.rings().destroy(object(record)));
            case CREATE_SHARED_RECEIVE_QUEUE ->
                now(ControlAnswers.sharedReceives(
                        value,
                        session.sharedReceives()
                                .create(CreateSharedReceiveQueueRequest.newBuilder()
                                        .setProtectionDomain(record.getLong(SharedReceiveFields.DOMAIN_OFFSET))
                                        .setCapacity(record.getInt(SharedReceiveFields.CAPACITY_OFFSET))
                                        .setLimit(record.getInt(SharedReceiveFields.LIMIT_OFFSET))
                                        .build())));
            case MODIFY_SHARED_RECEIVE_QUEUE -> {
                session.sharedReceives()
                        .modify(object(record), record.getInt(SharedReceiveFields.MODIFIED_LIMIT_OFFSET));
                yield now(ControlAnswers.done(value));
            }
            case DESTROY_SHARED_RECEIVE_QUEUE -> {
                session.sharedReceives().destroy(object(record));
                yield now(ControlAnswers.done(value));
            }
            case CREATE_CONNECTION -> {
                createConnection(record, value);
                yield null;
            }
            case LISTEN -> {
                listen(record, value);
                yield null;
            }
            case CLOSE_LISTENER -> done(value, closeListener(object(record)));
            case CONNECT -> connect(record).thenApply(connection -> ControlAnswers.connected(value, connection));
            case ACCEPT -> accept(record).thenApply(connection -> ControlAnswers.connected(value, connection));
            case REJECT ->
                done(
                        value,
                        session.listeners()
                                .reject(RejectRequest.newBuilder()
                                        .setRequest(record.getLong(SetupFields.REQUEST_OFFSET))
                                        .setPrivateData(privateData(record))
                                        .build()));
            case DISCONNECT -> done(value, disconnect(record));
        };
    }

    private void createConnection(RecordReader record, long value) {
        sockets.registry().checkNotDraining();
        long id = session.connections()
                .createStrict(CreateConnectionRequest.newBuilder()
                        .setOptions(ConnectionOptions.newBuilder()
                                .setProtectionDomain(record.getLong(CreateConnectionFields.DOMAIN_OFFSET))
                                .setSharedReceiveQueue(
                                        record.getLong(CreateConnectionFields.SHARED_RECEIVE_QUEUE_OFFSET))
                                .setSendQueue(record.getInt(CreateConnectionFields.SEND_QUEUE_OFFSET))
                                .setReceiveQueue(record.getInt(CreateConnectionFields.RECEIVE_QUEUE_OFFSET)))
                        .build())
                .getId();
        handler.answer(ControlAnswers.object(value, id));
        session.connections().watch(id, change -> {
            // The answer has told that the connection is idle.
            if (change.getState() != ConnectionState.CONNECTION_STATE_IDLE) {
                handler.send(ControlEvents.changed(change));
            }
        });
    }

    private void listen(RecordReader record, long value) {
        sockets.registry().checkNotDraining();
        InetAddress address = record.getAddress(ListenFields.ADDRESS_OFFSET);
        boolean all = address.isAnyLocalAddress() && address.getAddress().length == ControlRecord.ADDRESS_LENGTH;
        ControlListener listener = new ControlListener(
                handler,
                session,
                session.context().ids().incrementAndGet(),
                value,
                listening -> listeners.put(listening.id(), listening),
                ended -> listeners.remove(ended.id()));
        listener.use(session.listeners()
                .listen(
                        ListenRequest.newBuilder()
                                .setAddress(all ? "" : address.getHostAddress())
                                .setPort(record.getInt(ListenFields.PORT_OFFSET))
                                .setBacklog(record.getInt(ListenFields.BACKLOG_OFFSET))
                                .build(),
                        listener));
    }

    private CompletableFuture<Void> closeListener(long id) {
        ControlListener listener = listeners.remove(id);
        if (listener == null) {
            throw ApiError.notFound("listener", id, "it was closed, or its number is that of another session");
        }
        return listener.call().cancel();
    }

    private CompletableFuture<io.sidewarp.v1.Connection> connect(RecordReader record) {
        sockets.registry().checkNotDraining();
        ConnectionOptions.Builder options = depths(record);
        if (record.getInt(SetupFields.PRIVATE_LENGTH_OFFSET) <= PEER_TO_PEER_PRIVATE_DATA
                && session.context().config().connection().mpaRevisions().contains(PEER_TO_PEER_REVISION)) {
            // Verbs have no rule about the side that sends first. The request also carries the depths.
            options.getMpaBuilder().setPeerToPeer(true);
        }
        int millis = record.getInt(SetupFields.TIMEOUT_OFFSET);
        if (millis != 0) {
            long time = Integer.toUnsignedLong(millis);
            options.setTimeout(
                    Duration.newBuilder().setSeconds(time / MILLIS).setNanos((int) (time % MILLIS) * NANOS_PER_MILLI));
        }
        SidewarpConfig.Connection settings = session.context().config().connection();
        if (SecuritySettings.byDefault(settings) == TlsUse.PREFERRED) {
            // Otherwise the permitted peers below would imply SECURITY_REQUIRED.
            options.setSecurity(Security.SECURITY_PREFERRED);
        }
        return session.connections()
                .connectCreated(
                        ConnectRequest.newBuilder()
                                // Verbs cannot name peers, so those of the administrator count in both directions.
                                .addAllAllowedPeers(settings.peers().orElse(List.of()).stream()
                                        .map(String::strip)
                                        .toList())
                                .setConnection(connection(record))
                                .setAfterPosts(record.getLong(SetupFields.AFTER_POSTS_OFFSET))
                                .setAddress(record.getAddress(SetupFields.ADDRESS_OFFSET)
                                        .getHostAddress())
                                .setPort(record.getInt(SetupFields.PORT_OFFSET))
                                .setOptions(options)
                                .setPrivateData(privateData(record))
                                .build(),
                        Context.root())
                .result();
    }

    private CompletableFuture<io.sidewarp.v1.Connection> accept(RecordReader record) {
        sockets.registry().checkNotDraining();
        return session.listeners()
                .acceptCreated(
                        AcceptRequest.newBuilder()
                                .setConnection(connection(record))
                                .setAfterPosts(record.getLong(SetupFields.AFTER_POSTS_OFFSET))
                                .setRequest(record.getLong(SetupFields.REQUEST_OFFSET))
                                .setOptions(depths(record))
                                .setPrivateData(privateData(record))
                                .build(),
                        Context.root())
                .result();
    }

    private CompletableFuture<Void> disconnect(RecordReader record) {
        int abort = record.getInt(DisconnectFields.ABORT_OFFSET);
        if (abort != 0 && abort != 1) {
            throw ApiError.invalid("abort", Integer.toUnsignedString(abort), "0 or 1");
        }
        return session.connections()
                .disconnect(
                        record.getLong(DisconnectFields.CONNECTION_OFFSET),
                        abort == 1,
                        record.getLong(DisconnectFields.AFTER_POSTS_OFFSET));
    }

    private static long connection(RecordReader record) {
        long connection = record.getLong(SetupFields.CONNECTION_OFFSET);
        if (connection == 0) {
            throw ApiError.invalid("connection is 0; create one with CREATE_CONNECTION");
        }
        return connection;
    }

    private static ConnectionOptions.Builder depths(RecordReader record) {
        ConnectionOptions.Builder options = ConnectionOptions.newBuilder();
        int ird = record.getInt(SetupFields.IRD_OFFSET);
        if (ird != ControlRecord.DEPTH_UNSET) {
            options.setIrd(ird);
        }
        int ord = record.getInt(SetupFields.ORD_OFFSET);
        if (ord != ControlRecord.DEPTH_UNSET) {
            options.setOrd(ord);
        }
        return options;
    }

    private static ByteString privateData(RecordReader record) {
        return record.getBytes(SetupFields.PRIVATE_DATA_OFFSET, record.getInt(SetupFields.PRIVATE_LENGTH_OFFSET));
    }

    private static long object(RecordReader record) {
        return record.getLong(ObjectFields.OBJECT_OFFSET);
    }

    private static CompletionStage<RecordWriter> done(long value, CompletionStage<Void> stage) {
        return stage.thenApply(ignored -> ControlAnswers.done(value));
    }

    private static CompletionStage<RecordWriter> now(RecordWriter answer) {
        return CompletableFuture.completedFuture(answer);
    }
}
