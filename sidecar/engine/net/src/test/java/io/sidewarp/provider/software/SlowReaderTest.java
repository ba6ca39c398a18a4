// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.ddp.TaggedHeaderFlyweight;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.testing.Ulpdus;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.ConnectionParameters;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.Device;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.StreamError;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests peers that accept a connection and then read nothing, or read late. */
final class SlowReaderTest {

    private static final int MIB = 1 << 20;
    private static final int WRITES = 32;
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(30);
    /** More than {@link #LITTLE} holds, and less than the socket of this side. */
    private static final int MUCH = 64 << 10;

    private static final int LITTLE = 4 << 10;
    private static final Duration STALL = Duration.ofSeconds(1);
    private static final Duration SLOW = Duration.ofSeconds(4);
    private static final Duration BETWEEN = Duration.ofMillis(40);

    /** Longer than a silent peer is kept with a keep-alive of 1 s. */
    private static final Duration FOUR_PROBES = Duration.ofSeconds(4);

    private final Wr request = new Wr();
    private SoftwareProvider provider;
    private Device device;
    private ServerSocket server;

    @BeforeEach
    void open() throws Exception {
        open(Duration.ofSeconds(1), SHORT);
    }

    private void open(Duration lingerTimeout, Duration stallTimeout) throws Exception {
        open(lingerTimeout, stallTimeout, NetSettings.defaults().keepAlive());
    }

    private void open(Duration lingerTimeout, Duration stallTimeout, Duration keepAlive) throws Exception {
        NetSettings net = NetSettings.defaults()
                .withStagingCapacity(NetSettings.MIN_STAGING_CAPACITY)
                .withOutputBuffers(1, 1)
                .withLingerTimeout(lingerTimeout)
                .withStallTimeout(stallTimeout)
                .withKeepAlive(keepAlive)
                .withBusyPoll(Duration.ZERO);
        SoftwareSettings settings = SoftwareSettings.defaults().withNet(net);
        provider = SoftwareProvider.builder().settings(settings).eventLoops(1).build();
        device = provider.open();
        server = new ServerSocket();
        server.setReceiveBufferSize(LITTLE);
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    }

    private void openWith(Duration lingerTimeout, Duration stallTimeout) throws Exception {
        close();
        open(lingerTimeout, stallTimeout);
    }

    @AfterEach
    void close() throws Exception {
        server.close();
        device.close();
        provider.close();
    }

    /** Connects to a peer that answers the start-up and reads nothing after it. */
    private Socket connect(Endpoint endpoint) throws Exception {
        CompletableFuture<ConnectionAttributes> connected = endpoint.queuePair.connect(
                new InetSocketAddress(server.getInetAddress(), server.getLocalPort()), ConnectionParameters.defaults());
        Socket peer = server.accept();
        peer.getInputStream().readNBytes(20);
        byte[] reply = new byte[20];
        System.arraycopy("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII), 0, reply, 0, 16);
        reply[16] = 0x40;
        reply[17] = 1;
        peer.getOutputStream().write(reply);
        connected.get(10, TimeUnit.SECONDS);
        return peer;
    }

    @Test
    void losesTheConnectionAfterTheStallTimeAndLetsOthersGoOn() throws Exception {
        Endpoint stuck = new Endpoint(device, MIB);
        Endpoint waiting = new Endpoint(device, MIB);
        List<String> messages = new CopyOnWriteArrayList<>();
        stuck.queuePair.setEventListener((queuePair, state, error, message) -> messages.add(message));
        try (Socket deaf = connect(stuck);
                Socket reader = connect(waiting)) {
            assertThat(deaf.isConnected()).isTrue();
            for (int i = 0; i < WRITES; i++) {
                stuck.postSend(request.reset(i, WrOpcode.RDMA_WRITE)
                        .addSge(stuck.region, 0, MIB)
                        .remote(1, 0));
            }
            stuck.awaitState(QueuePairState.CLOSED);
            assertThat(messages.getLast())
                    .contains("acknowledged nothing for 300 ms (sidewarp.connection.stall-timeout), after ")
                    .contains(" bytes; its program has to read");
            Cqe last = stuck.awaitCompletion();
            while (last.id() < WRITES - 1) {
                last = stuck.awaitCompletion();
            }
            assertThat(last.status()).isEqualTo(CqeStatus.FLUSHED);

            // The only output buffer is free again.
            waiting.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                    .addSge(waiting.region, 0, 1000)
                    .remote(1, 0));
            assertThat(waiting.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            assertThat(reader.getInputStream().readNBytes(2 + 14 + 1000 + 4)).hasSize(1020);
        }
    }

    @Test
    void aPeerThatReadsNothingKeepsNoOtherConnectionFromLongMessages() throws Exception {
        openWith(LONG, LONG);
        Endpoint stuck = new Endpoint(device, MIB);
        Endpoint other = new Endpoint(device, MIB);
        try (Socket deaf = connect(stuck)) {
            assertThat(deaf.isConnected()).isTrue();
            for (int i = 0; i < WRITES; i++) {
                stuck.postSend(request.reset(i, WrOpcode.RDMA_WRITE)
                        .addSge(stuck.region, 0, MIB)
                        .remote(1, 0));
            }
            try (Socket reader = connect(other)) {
                other.fill(1);
                other.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                        .addSge(other.region, 0, MIB)
                        .remote(1, 0));
                assertThat(payload(reader, MIB)).isEqualTo(other.octets(0, MIB));
            }
            assertThat(other.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            assertThat(stuck.queuePair.state()).isEqualTo(QueuePairState.RTS);
        }
    }

    /** Kinds of data that a slow reader reads. */
    enum Sent {
        WRITES,
        READ_RESPONSE,
        WRITES_BEFORE_A_CLOSE
    }

    /** More than {@link #STALL} allows without progress, which the socket of this side does not make meanwhile. */
    @ParameterizedTest
    @EnumSource
    void slowReaderKeepsItsConnection(Sent sent) throws Exception {
        openWith(SHORT, STALL);
        int length = 8 * MIB;
        Endpoint endpoint = new Endpoint(device, length);
        endpoint.fill(1);
        List<StreamError> errors = errorsOf(endpoint);
        try (Socket slow = connect(endpoint)) {
            if (sent == Sent.READ_RESPONSE) {
                slow.getOutputStream()
                        .write(fpdu(Ulpdus.readRequest(
                                1, 7, 0, length, endpoint.region.stag(), endpoint.region.baseTaggedOffset())));
            } else {
                endpoint.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                        .addSge(endpoint.region, 0, length)
                        .remote(7, 0));
            }
            if (sent == Sent.WRITES_BEFORE_A_CLOSE) {
                endpoint.queuePair.disconnect();
            }
            byte[] first = readSlowly(slow.getInputStream());
            assertThat(endpoint.queuePair.state()).isNotEqualTo(QueuePairState.CLOSED);
            InputStream all = new SequenceInputStream(new ByteArrayInputStream(first), slow.getInputStream());

            assertThat(payload(all, length)).isEqualTo(endpoint.octets(0, length));
        }
        endpoint.awaitState(QueuePairState.CLOSED);
        assertThat(errors).noneMatch(error -> sent == Sent.WRITES_BEFORE_A_CLOSE);
    }

    /** Reads as little for {@link #SLOW} as the socket of the sender does not notice. */
    private static byte[] readSlowly(InputStream in) throws Exception {
        ByteArrayOutputStream read = new ByteArrayOutputStream();
        long end = System.nanoTime() + SLOW.toNanos();
        while (System.nanoTime() - end < 0) {
            read.write(in.readNBytes(LITTLE));
            Thread.sleep(BETWEEN);
        }
        return read.toByteArray();
    }

    private static List<StreamError> errorsOf(Endpoint endpoint) {
        List<StreamError> errors = new CopyOnWriteArrayList<>();
        endpoint.queuePair.setEventListener((queuePair, state, error, message) -> {
            if (error != null) {
                errors.add(error);
            }
        });
        return errors;
    }

    private static byte[] payload(Socket peer, int length) throws Exception {
        return payload(peer.getInputStream(), length);
    }

    /** Payload of tagged segments, however long they are. */
    private static byte[] payload(InputStream stream, int length) throws Exception {
        DataInputStream in = new DataInputStream(stream);
        ByteBuffer payload = ByteBuffer.allocate(length);
        while (payload.hasRemaining()) {
            int ulpduLength = in.readUnsignedShort();
            in.skipNBytes(TaggedHeaderFlyweight.LENGTH);
            payload.put(in.readNBytes(ulpduLength - TaggedHeaderFlyweight.LENGTH));
            in.skipNBytes((-(Short.BYTES + ulpduLength) & 3) + Integer.BYTES);
        }
        return payload.array();
    }

    /** Closes the connection when the socket has taken all that the peer does not read. */
    private void writeMuchAndClose(Endpoint endpoint) {
        endpoint.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                .addSge(endpoint.region, 0, MUCH)
                .remote(1, 0));
        assertThat(endpoint.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        endpoint.queuePair.disconnect();
    }

    /** Waits as long as a connection that is closed on this side only is kept. */
    private void awaitLinger() throws Exception {
        Endpoint endpoint = new Endpoint(device, 16);
        try (Socket silent = connect(endpoint)) {
            assertThat(silent.isConnected()).isTrue();
            endpoint.queuePair.disconnect();
            endpoint.awaitState(QueuePairState.CLOSED);
        }
    }

    @Test
    void aPeerThatReadsLateGetsAllThatWasSentBeforeTheClose() throws Exception {
        openWith(SHORT, LONG);
        Endpoint endpoint = new Endpoint(device, MUCH);
        List<StreamError> errors = errorsOf(endpoint);
        try (Socket late = connect(endpoint)) {
            writeMuchAndClose(endpoint);
            awaitLinger();

            assertThat(late.getInputStream().readAllBytes()).hasSizeGreaterThan(MUCH);
        }
        endpoint.awaitState(QueuePairState.CLOSED);
        assertThat(errors).isEmpty();
    }

    @Test
    void aPeerThatReadsNothingAndAnswersIsNotOneThatIsSilent() throws Exception {
        close();
        open(FOUR_PROBES, LONG, Duration.ofSeconds(1));
        Endpoint endpoint = new Endpoint(device, MUCH);
        try (Socket late = connect(endpoint)) {
            endpoint.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                    .addSge(endpoint.region, 0, MUCH)
                    .remote(1, 0));
            assertThat(endpoint.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            awaitLinger();

            assertThat(late.getInputStream().readNBytes(MUCH)).hasSize(MUCH);
            assertThat(endpoint.queuePair.state()).isEqualTo(QueuePairState.RTS);
        }
    }

    @Test
    void aPeerThatNeverReadsWhatWasSentBeforeTheCloseLosesTheConnectionAfterTheStallTime() throws Exception {
        openWith(SHORT, SHORT);
        Endpoint endpoint = new Endpoint(device, MUCH);
        List<String> messages = new CopyOnWriteArrayList<>();
        endpoint.queuePair.setEventListener((queuePair, state, error, message) -> messages.add(message));
        try (Socket deaf = connect(endpoint)) {
            assertThat(deaf.isConnected()).isTrue();
            writeMuchAndClose(endpoint);
            endpoint.awaitState(QueuePairState.CLOSED);
        }
        assertThat(messages.getLast()).contains("acknowledged nothing for 300 ms (sidewarp.connection.stall-timeout)");
    }

    @Test
    @Requirement("RDMAP-5.4-02")
    void theTerminateOfAPeerThatResetsBehindItIsReportedAlthoughAWriteFailsFirst() throws Exception {
        Endpoint endpoint = new Endpoint(device, MIB);
        List<StreamError> errors = errorsOf(endpoint);
        Socket peer = connect(endpoint);
        request.reset(1, WrOpcode.RDMA_WRITE).addSge(endpoint.region, 0, 1000).remote(1, 0);

        // On the loop, so that it finds the Terminate and the RST at the same time, and writes first.
        ((SoftwareDevice) device)
                .loops()
                .choose()
                .submit(() -> {
                    peer.getOutputStream().write(fpdu(Ulpdus.terminate(new byte[] {0x02, 0x07, 0, 0})));
                    peer.setSoLinger(true, 0);
                    peer.close();
                    endpoint.postSend(request);
                    return null;
                })
                .get(10, TimeUnit.SECONDS);

        endpoint.awaitState(QueuePairState.CLOSED);
        assertThat(errors).isNotEmpty().allMatch(error -> error.remote() && error.code() == 0x07);
    }

    private static byte[] fpdu(byte[] ulpdu) {
        int padding = -(Short.BYTES + ulpdu.length) & 3;
        ByteBuffer fpdu = ByteBuffer.allocate(Short.BYTES + ulpdu.length + padding + Integer.BYTES)
                .putShort((short) ulpdu.length)
                .put(ulpdu);
        CRC32C crc = new CRC32C();
        crc.update(fpdu.array(), 0, fpdu.capacity() - Integer.BYTES);
        return fpdu.order(ByteOrder.LITTLE_ENDIAN)
                .putInt(fpdu.capacity() - Integer.BYTES, (int) crc.getValue())
                .array();
    }
}
