// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.peer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.GetDeviceRequest;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that asks and does not take the answers, by its own HTTP/2: gRPC's clients always read. */
@Timeout(120)
class OutputLimitTest {

    private static final int CALLS = 100_000;

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    /** Answers to somebody else, by the same thread, in which the sidecar takes nothing if it does not read. */
    private static final int TURNS = 200;

    private TestSidecar sidecar;
    private TestSession other;
    private SocketChannel client;

    @BeforeEach
    void connect() throws IOException {
        sidecar = TestSidecar.start("sidewarp.worker-threads", "1");
        other = sidecar.session();
        client = SocketChannel.open(UnixDomainSocketAddress.of(sidecar.socket()));
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        other.close();
        sidecar.close();
    }

    @Test
    void callsAreNotReadWhileTheirAnswersAreNotTaken() throws Exception {
        ByteBuffer calls = callsOfNoMethod();

        writeUntilStuck(calls);

        assertThat(calls.remaining()).as("octets that nobody read").isPositive();
        Thread rest = Thread.ofVirtual().start(() -> writeAll(calls));
        readAllAnswers();
        rest.join();
    }

    @Test
    void aClientThatLeavesMeanwhileIsGone() throws Exception {
        ByteBuffer calls = callsOfNoMethod();
        writeUntilStuck(calls);
        assertThat(calls.remaining()).as("octets that nobody read").isPositive();
        // The sidecar has accepted the connection.
        assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(1);
        int others = sockets() - 2;

        client.close();

        Awaitility.await().until(() -> sockets() <= others);
    }

    /** Of this process, which has both ends. */
    private static int sockets() throws IOException {
        int sockets = 0;
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                if (isSocket(descriptor)) {
                    sockets++;
                }
            }
        }
        return sockets;
    }

    private static boolean isSocket(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
        } catch (IOException e) {
            // It was closed.
            return false;
        }
    }

    private void writeUntilStuck(ByteBuffer octets) throws IOException {
        client.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            client.register(selector, SelectionKey.OP_WRITE);
            while (octets.hasRemaining() && isWritable(selector)) {
                selector.selectedKeys().clear();
                client.write(octets);
            }
        }
        client.configureBlocking(true);
    }

    private boolean isWritable(Selector selector) throws IOException {
        int turns = 0;
        while (selector.selectNow() == 0) {
            if (++turns > TURNS) {
                return false;
            }
            other.device().getDevice(GetDeviceRequest.getDefaultInstance());
        }
        return true;
    }

    private void writeAll(ByteBuffer octets) {
        try {
            while (octets.hasRemaining()) {
                client.write(octets);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Fails when the connection ends before. */
    private void readAllAnswers() throws IOException {
        DataInputStream input = new DataInputStream(new BufferedInputStream(Channels.newInputStream(client)));
        int ended = 0;
        while (ended < CALLS) {
            int length = input.readUnsignedShort() << 8 | input.readUnsignedByte();
            int type = input.readUnsignedByte();
            int flags = input.readUnsignedByte();
            input.skipNBytes(Integer.BYTES + length);
            if ((type == HEADERS || type == DATA) && (flags & END_STREAM) != 0) {
                ended++;
            }
        }
    }

    /** The beginning of a connection, and calls without a request. */
    private static ByteBuffer callsOfNoMethod() {
        byte[] fields = fields();
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII);
        ByteBuffer octets = ByteBuffer.allocate(preface.length + 9 + CALLS * (9 + fields.length));
        octets.put(preface);
        frameHeader(octets, 0, SETTINGS, 0, 0);
        for (int call = 0; call < CALLS; call++) {
            frameHeader(octets, fields.length, HEADERS, END_STREAM | END_HEADERS, 2 * call + 1);
            octets.put(fields);
        }
        return octets.flip();
    }

    private static void frameHeader(ByteBuffer octets, int length, int type, int flags, int stream) {
        octets.put((byte) 0).putShort((short) length);
        octets.put((byte) type).put((byte) flags).putInt(stream);
    }

    /** Fields of a call, by numbers of HPACK's static table where it has them (RFC 7541 appendix A), none of them kept. */
    private static byte[] fields() {
        ByteBuffer octets = ByteBuffer.allocate(128);
        octets.put((byte) 0x83).put((byte) 0x86); // POST, http
        text(octets.put((byte) 4), "/none/None");
        text(octets.put((byte) 1), "localhost");
        text(octets.put((byte) 0x0f).put((byte) 0x10), "application/grpc");
        text(text(octets.put((byte) 0), "te"), "trailers");
        byte[] fields = new byte[octets.flip().remaining()];
        octets.get(fields);
        return fields;
    }

    private static ByteBuffer text(ByteBuffer octets, String text) {
        return octets.put((byte) text.length()).put(text.getBytes(US_ASCII));
    }
}
