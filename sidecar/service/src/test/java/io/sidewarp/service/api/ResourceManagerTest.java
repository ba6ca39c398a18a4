// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.sidewarp.conformance.Requirement;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.service.testing.Works;
import io.sidewarp.v1.AcceptRequest;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CompletionStatus;
import io.sidewarp.v1.Connection;
import io.sidewarp.v1.ConnectionOptions;
import io.sidewarp.v1.ConnectionServiceGrpc;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.ListSessionsRequest;
import io.sidewarp.v1.ListenRequest;
import io.sidewarp.v1.ManagedBacking;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.RdmaError;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedReceiveQueueServiceGrpc;
import io.sidewarp.v1.TransferServiceGrpc;
import io.sidewarp.v1.WorkCompletion;
import io.sidewarp.v1.WriteRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the privileged resource manager (RFC 5040 section 8.1.2): quotas of sessions and peers, and resources that
 * sessions share.
 */
class ResourceManagerTest {

    private static final int SIZE = 64;

    private static final Pattern REFUSED =
            Pattern.compile("sidewarp_quota_refusals_total\\{[^}]*setting=\"([^\"]+)\"[^}]*} (\\S+)");

    /** Calls that only tell what there is; what they tell depends on who asks. */
    private static final Set<String> WITHOUT_SESSION = Set.of(
            "GetDevice",
            "OpenSession",
            "ListSessions",
            "ListRegions",
            "ListConnections",
            "ListAssociations",
            "ListSharedReceiveQueues");

    /** By default a connection has 256 entries in each queue, and 16 inbound read requests. */
    @ParameterizedTest
    @Requirement({"RDMAP-8.1.2-02", "RDMAP-8.1.2-05"})
    @CsvSource({
        "sidewarp.limits.connections, 1",
        "sidewarp.limits.completion-entries, 1023",
        "sidewarp.limits.receives, 511",
        "sidewarp.limits.work-entries, 3071",
        "sidewarp.limits.read-requests, 31",
        "sidewarp.limits.peer-connections, 1",
        "sidewarp.limits.peer-read-requests, 31"
    })
    void aSecondConnectionBeyondALimitIsRefusedUntilTheFirstIsClosed(String setting, String limit) {
        try (TestSidecar limited = TestSidecar.start(setting, limit);
                TestSidecar peer = TestSidecar.start();
                TestSession client = limited.session();
                TestSession server = peer.session()) {
            Connection first = client.connectTo(server).here();
            try (TestSession.Listening listening = server.listen()) {
                int port = listening.port();

                Status status = Waiting.status(() ->
                        client.connections().connect(client.connectRequest(port).build()));

                assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                assertThat(status.getDescription()).contains(setting).contains(limit);
            }
            assertThat(refusals(limited)).containsEntry(setting, 1.0);
            disconnect(client, first);
            client.connectTo(server);
        }
    }

    @Test
    void aRequestThatAsksForMoreThanAnyMayIsCounted() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session()) {
            refuse(() -> connect(session, ConnectionOptions.newBuilder().setSendQueue(4097)));
            refuse(() -> connect(session, ConnectionOptions.newBuilder().setReceiveQueue(4097)));
            refuse(() -> connect(session, ConnectionOptions.newBuilder().setIrd(65)));
            refuse(() -> connect(session, ConnectionOptions.newBuilder().setOrd(-1)));
            refuse(() -> session.sharedReceives()
                    .createSharedReceiveQueue(CreateSharedReceiveQueueRequest.newBuilder()
                            .setSession(session.token())
                            .setCapacity(4097)
                            .build()));
            refuse(() -> session.managed((64 << 20) + 1));
            TestSession.Listening listening = session.listen(ListenRequest.newBuilder()
                    .setSession(session.token())
                    .setBacklog(1025)
                    .build());
            assertThat(Status.fromThrowable(Waiting.join(listening.failure())).getCode())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);

            assertThat(refusals(sidecar))
                    .containsEntry("sidewarp.limits.send-queue", 1.0)
                    .containsEntry("sidewarp.limits.receive-queue", 2.0)
                    .containsEntry("sidewarp.limits.ird", 1.0)
                    .containsEntry("sidewarp.limits.ord", 1.0)
                    .containsEntry("sidewarp.limits.managed-region-octets", 1.0)
                    .containsEntry("sidewarp.limits.backlog", 1.0);
        }
    }

    @Test
    void eachLimitThatRefusesHasACountBeforeItDoes() throws IOException {
        Set<String> refusing = new TreeSet<>();
        String documented = Files.readString(Path.of(System.getProperty("sidewarp.root"), "docs", "security-tests.md"));
        String table = documented.substring(documented.indexOf("| Resource |"), documented.indexOf("## Attacks on"));
        Matcher limit = Pattern.compile("`([a-z-]+)`").matcher(table);
        while (limit.find()) {
            refusing.add("sidewarp.limits." + limit.group(1));
        }
        refusing.remove("sidewarp.limits.startup-connections");
        try (TestSidecar sidecar = TestSidecar.start()) {
            Map<String, Double> refusals = refusals(sidecar);

            assertThat(refusals.keySet()).isEqualTo(refusing);
            assertThat(refusals.values()).containsOnly(0.0);
        }
    }

    private static void connect(TestSession session, ConnectionOptions.Builder options) {
        session.connections()
                .connect(session.connectRequest(1).setOptions(options).build());
    }

    private static void refuse(Runnable call) {
        assertThat(Waiting.status(call).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    /** Returns the number of refusals by setting. */
    private static Map<String, Double> refusals(TestSidecar sidecar) {
        Map<String, Double> refusals = new HashMap<>();
        Matcher refused = REFUSED.matcher(sidecar.get("/q/metrics"));
        while (refused.find()) {
            refusals.put(refused.group(1), Double.valueOf(refused.group(2)));
        }
        return refusals;
    }

    @Test
    @Requirement({"RDMAP-8.1.2-02", "RDMAP-8.1.2-06"})
    void aGreedySessionTakesNothingFromAnother() {
        try (TestSidecar sidecar = TestSidecar.start(
                        "sidewarp.limits.regions", "2",
                        "sidewarp.limits.registered-octets", "1000",
                        "sidewarp.limits.connections", "1");
                TestSidecar peer = TestSidecar.start();
                TestSession greedy = sidecar.session("greedy");
                TestSession modest = sidecar.session("modest");
                TestSession server = peer.session()) {
            Region all = greedy.managed(1000);
            greedy.connectTo(server);
            assertThat(Waiting.status(() -> greedy.managed(1)).getDescription())
                    .contains("sidewarp.limits.registered-octets");

            modest.managed(500);
            modest.managed(500);
            modest.connectTo(server);

            assertThat(Waiting.status(() -> modest.managed(1)).getDescription()).contains("sidewarp.limits.regions");
            deregister(greedy, all);
            greedy.managed(1000);
        }
    }

    @Test
    void aSessionWithAllTheManagedMemoryThatItMayHaveLeavesSomeToAnother() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.managed-octets", "3000");
                TestSession greedy = sidecar.session("greedy");
                TestSession modest = sidecar.session("modest")) {
            greedy.managed(400);
            greedy.managed(600);
            assertThat(Waiting.status(() -> greedy.managed(1)).getDescription())
                    .contains("the limit is 3000 (setting sidewarp.limits.managed-octets), this session has 1000");

            assertThat(modest.managed(300).getLength()).isEqualTo(300);
        }
    }

    @Test
    void aSessionWithAllTheRegionsThatItMayHaveLeavesSomeToAnother() {
        String setting = "sidewarp.limits.total-regions";
        try (TestSidecar sidecar = TestSidecar.start(setting, "9");
                TestSession greedy = sidecar.session("greedy");
                TestSession modest = sidecar.session("modest")) {
            Region first = greedy.managed(1);
            Region second = greedy.managed(1);
            greedy.managed(1);

            Status status = Waiting.status(() -> greedy.managed(1));

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription())
                    .contains("the limit is 9 (setting " + setting + "), this session has 3");
            assertThat(refusals(sidecar)).containsEntry(setting, 1.0);
            modest.managed(1);
            deregister(greedy, first);
            deregister(greedy, second);
            greedy.managed(1);
        }
    }

    @Test
    void aPeerWithAllItsConnectionsIsRejectedBeforeTheApplicationSeesIt() {
        try (TestSidecar limited = TestSidecar.start("sidewarp.limits.peer-connections", "1");
                TestSidecar peer = TestSidecar.start();
                TestSession server = limited.session();
                TestSession client = peer.session();
                TestSession.Listening listening = server.listen()) {
            int port = listening.port();
            var first = client.connect(client.connectRequest(port).build());
            Connection accepted = server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build())
                    .getConnection();
            Waiting.join(first);

            Status status = Waiting.status(() ->
                    client.connections().connect(client.connectRequest(port).build()));

            assertThat(status.getCode()).isEqualTo(Status.Code.ABORTED);
            assertThat(limited.get("/q/metrics"))
                    .containsPattern("sidewarp_startup_failures_total\\{[^}]*reason=\"limit\"[^}]*\\} 1\\.0");
            // The next request that the application sees is one that came when there was room again.
            disconnect(server, accepted);
            var second = client.connect(client.connectRequest(port).build());
            server.connections()
                    .accept(AcceptRequest.newBuilder()
                            .setSession(server.token())
                            .setRequest(listening.next().getId())
                            .build());
            Waiting.join(second);
        }
    }

    @Test
    @Requirement({"RDMAP-8.1.1-01", "RDMAP-8.1.2-03"})
    void theStreamsOfOneSessionDoNotReachTheMemoryOfAnother() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSidecar peer = TestSidecar.start();
                TestSession mine = sidecar.session("mine");
                TestSession other = sidecar.session("other");
                TestSession client = peer.session()) {
            Region foreign = other.managed(SIZE, Access.ACCESS_REMOTE_WRITE, Access.ACCESS_REMOTE_READ);
            Region source = client.managed(SIZE);
            Connection connection = client.connectTo(mine).here();
            client.store(source.getId(), 0, new byte[] {1, 2, 3}, SIZE);

            try (TestQueue queue = client.queue(2)) {
                queue.credits();
                queue.post(Works.write(1, connection.getId(), source, foreign, SIZE)
                        .build());
                RdmaError error = awaitError(client);

                assertThat(error.getLayer()).isEqualTo(1);
                assertThat(error.getType()).isEqualTo(1);
                assertThat(error.getCode()).isEqualTo(2);
                assertThat(error.getRemote()).isTrue();
            }
            assertThat(other.load(foreign.getId(), 0, SIZE)).containsOnly(0);
        }
    }

    @Test
    @Requirement({"RDMAP-8.1.1-09", "RDMAP-8.1.2-01", "RDMAP-8.1.2-03"})
    void theObjectsOfOneSessionAreNoneInAnother() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession mine = sidecar.session("mine");
                TestSession other = sidecar.session("other")) {
            Connection foreign = other.connectTo(other).here();
            Region theirs = other.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
            Region ours = mine.managed(SIZE, Access.ACCESS_REMOTE_WRITE);
            Connection own = mine.connectTo(mine).here();

            assertThat(Waiting.status(() -> mine.transfer().write(write(mine, foreign, ours, ours)))
                            .getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
            assertThat(Waiting.status(() -> mine.transfer().write(write(mine, own, theirs, ours)))
                            .getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
            assertThat(Waiting.status(() -> disconnect(mine, foreign)).getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
            assertThat(Waiting.status(() -> mine.load(theirs.getId(), 0, SIZE)).getCode())
                    .isEqualTo(Status.Code.NOT_FOUND);
            assertNoCompletionsOf(foreign, mine);
            assertThat(other.transfer().write(write(other, foreign, theirs, theirs)))
                    .isNotNull();
        }
    }

    @Test
    @Requirement({"RDMAP-8.1.2-01", "DDP-8.3.2-01"})
    void everyCallThatMakesOrUsesSomethingIsInASession() {
        List<String> calls = new ArrayList<>();
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession present = sidecar.session()) {
            String ended = endedSession(sidecar, present);
            for (ServiceDescriptor service : List.of(
                    DeviceServiceGrpc.getServiceDescriptor(),
                    MemoryServiceGrpc.getServiceDescriptor(),
                    ConnectionServiceGrpc.getServiceDescriptor(),
                    SharedReceiveQueueServiceGrpc.getServiceDescriptor(),
                    TransferServiceGrpc.getServiceDescriptor())) {
                for (MethodDescriptor<?, ?> method : service.getMethods()) {
                    if (!WITHOUT_SESSION.contains(method.getBareMethodName())) {
                        assertThat(call(present, method, ""))
                                .as("%s without a session", method.getFullMethodName())
                                .returns(Status.Code.INVALID_ARGUMENT, Status::getCode)
                                .extracting(Status::getDescription, STRING)
                                .contains("session is empty");
                        assertThat(call(present, method, ended).getCode())
                                .as("%s in a session that has ended", method.getFullMethodName())
                                .isEqualTo(Status.Code.UNAUTHENTICATED);
                        calls.add(method.getBareMethodName());
                    }
                }
            }
        }
        assertThat(calls).contains("RegisterRegion", "Connect", "Listen", "Write", "Queue", "Store");
    }

    private static String endedSession(TestSidecar sidecar, TestSession present) {
        TestSession session = sidecar.session();
        session.close();
        Awaitility.await()
                .until(() -> present.device()
                                .listSessions(ListSessionsRequest.getDefaultInstance())
                                .getSessionsCount()
                        == 1);
        return session.token();
    }

    /** Returns the status of a call whose request holds only a session. */
    private static <Q, A> Status call(TestSession client, MethodDescriptor<Q, A> method, String session) {
        ProtoMethodDescriptorSupplier proto = (ProtoMethodDescriptorSupplier) method.getSchemaDescriptor();
        Message request = naming(session, proto.getMethodDescriptor().getInputType());
        CompletableFuture<Status> end = new CompletableFuture<>();
        ClientCall<Q, A> call = client.channel().newCall(method, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end.complete(status);
                    }
                },
                new Metadata());
        call.request(1);
        call.sendMessage(method.parseRequest(request.toByteString().newInput()));
        call.halfClose();
        return Waiting.join(end);
    }

    /** Itself names it, or the message that a stream of it begins with. */
    private static Message naming(String session, Descriptor type) {
        DynamicMessage.Builder request = DynamicMessage.newBuilder(type);
        FieldDescriptor token = type.findFieldByName("session");
        if (token != null) {
            return request.setField(token, session).build();
        }
        FieldDescriptor first = type.getFields().stream()
                .filter(field -> field.getJavaType() == FieldDescriptor.JavaType.MESSAGE)
                .filter(field -> field.getMessageType().findFieldByName("session") != null)
                .findFirst()
                .orElseThrow(() -> new AssertionError(type.getFullName() + " names no session"));
        return request.setField(first, naming(session, first.getMessageType())).build();
    }

    @Test
    @Requirement("DDP-8.2-02")
    void everyRegionBelongsToADomain() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session()) {
            assertThat(session.managed(SIZE).getProtectionDomain()).isNotZero();

            Status status = Waiting.status(() -> session.memory()
                    .registerRegion(RegisterRegionRequest.newBuilder()
                            .setSession(session.token())
                            .setProtectionDomain(4711)
                            .setManaged(ManagedBacking.newBuilder().setLength(SIZE))
                            .build()));

            assertThat(status.getCode()).isEqualTo(Status.Code.NOT_FOUND);
        }
    }

    /** A session's queue gets completions of its own connections only. */
    private static void assertNoCompletionsOf(Connection foreign, TestSession mine) {
        try (TestQueue queue = mine.queue(1)) {
            queue.credits();
            Region ours = mine.managed(SIZE);
            queue.post(Works.write(1, foreign.getId(), ours, ours, SIZE).build());
            WorkCompletion refused = queue.next();
            assertThat(refused.getStatus()).isNotEqualTo(CompletionStatus.COMPLETION_STATUS_SUCCESS);
        }
    }

    private static WriteRequest write(TestSession session, Connection connection, Region from, Region to) {
        return WriteRequest.newBuilder()
                .setSession(session.token())
                .setConnection(connection.getId())
                .setWork(Works.write(1, connection.getId(), from, to, SIZE).getWrite())
                .build();
    }

    private static void deregister(TestSession session, Region region) {
        session.memory()
                .deregisterRegion(DeregisterRegionRequest.newBuilder()
                        .setSession(session.token())
                        .setRegion(region.getId())
                        .build());
    }

    private static void disconnect(TestSession session, Connection connection) {
        session.connections()
                .disconnect(DisconnectRequest.newBuilder()
                        .setSession(session.token())
                        .setConnection(connection.getId())
                        .build());
    }

    /** The error in the next event that has one. */
    private static RdmaError awaitError(TestSession session) {
        while (true) {
            var event = session.nextEvent();
            if (event.getConnection().hasError()) {
                return event.getConnection().getError();
            }
        }
    }
}
