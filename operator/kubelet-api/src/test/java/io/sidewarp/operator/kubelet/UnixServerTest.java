// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.netty.channel.epoll.Epoll;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesRequest;
import io.sidewarp.operator.kubelet.podresources.v1.ListPodResourcesResponse;
import io.sidewarp.operator.kubelet.podresources.v1.PodResources;
import io.sidewarp.operator.kubelet.podresources.v1.PodResourcesListerGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnixServerTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void answersOnASocketThatOnlyItsUserCanOpen(boolean epoll) throws IOException {
        Assumptions.assumeTrue(!epoll || Epoll.isAvailable(), "native epoll is not available on this platform");
        Path socket = directory.resolve("a.sock");
        try (UnixTransport transport = new UnixTransport("test", epoll);
                UnixServer server = serve(transport, socket, "first")) {
            assertThat(podServedAt(transport, socket)).isEqualTo("first");
            assertThat(Files.getPosixFilePermissions(socket)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            assertThat(server.holdsSocket()).isTrue();
            assertThat(filesIn(directory)).containsExactly(socket);
        }
        assertThat(filesIn(directory)).isEmpty();
    }

    @Test
    void leavesTheSocketOfASuccessorWhereItIs() throws IOException {
        Path socket = directory.resolve("a.sock");
        try (UnixTransport transport = new UnixTransport("test");
                UnixServer first = serve(transport, socket, "first");
                UnixServer second = serve(transport, socket, "second")) {
            assertThat(first.holdsSocket()).isFalse();
            first.close();
            assertThat(second.holdsSocket()).isTrue();
            assertThat(podServedAt(transport, socket)).isEqualTo("second");
        }
    }

    @Test
    void takesThePlaceOfAFileThatWasLeftOver() throws IOException {
        Path socket = Files.writeString(directory.resolve("a.sock"), "left over");
        try (UnixTransport transport = new UnixTransport("test");
                UnixServer _ = serve(transport, socket, "first")) {
            assertThat(podServedAt(transport, socket)).isEqualTo("first");
        }
    }

    @Test
    void seesThatItsSocketWasRemoved() throws IOException {
        Path socket = directory.resolve("a.sock");
        try (UnixTransport transport = new UnixTransport("test");
                UnixServer server = serve(transport, socket, "first")) {
            Files.delete(socket);
            assertThat(server.holdsSocket()).isFalse();
        }
    }

    @Test
    void failsWhereThereIsNoDirectory() {
        try (UnixTransport transport = new UnixTransport("test")) {
            assertThatThrownBy(() -> serve(transport, directory.resolve("missing/a.sock"), "first"))
                    .isInstanceOf(IOException.class);
        }
    }

    private static UnixServer serve(UnixTransport transport, Path socket, String podName) throws IOException {
        return UnixServer.start(transport, socket, List.of(new PodResourcesListerGrpc.PodResourcesListerImplBase() {
            @Override
            public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> response) {
                response.onNext(ListPodResourcesResponse.newBuilder()
                        .addPodResources(PodResources.newBuilder().setName(podName))
                        .build());
                response.onCompleted();
            }
        }));
    }

    private static String podServedAt(UnixTransport transport, Path socket) {
        ManagedChannel channel = transport.channel(socket);
        try {
            return PodResourcesListerGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(30, TimeUnit.SECONDS)
                    .list(ListPodResourcesRequest.getDefaultInstance())
                    .getPodResources(0)
                    .getName();
        } finally {
            channel.shutdownNow();
        }
    }

    private static List<Path> filesIn(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.toList();
        }
    }
}
