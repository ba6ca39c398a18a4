// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A Responder with plain sockets. Accepts with a C bit and an ORD that a test chooses, and keeps the Terminate. */
final class WantingResponder implements AutoCloseable {

    private static final int REQUEST = 24;
    /** ULPDU_Length, and an untagged DDP header: the Terminate header follows. */
    private static final int BEFORE_TERMINATE = 2 + 18;

    private static final int CRC_FLAG = 0x40;
    private static final int ENHANCED_FLAG = 0x10;

    private final ServerSocket listener;
    private final boolean crc;
    private final int ord;
    private final CompletableFuture<byte[]> terminate;

    WantingResponder(boolean crc, int ord) throws IOException {
        this.crc = crc;
        this.ord = ord;
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        terminate = CompletableFuture.supplyAsync(this::serve);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.getLocalSocketAddress();
    }

    private byte[] serve() {
        try (Socket socket = listener.accept();
                DataInputStream in = new DataInputStream(socket.getInputStream())) {
            in.readFully(new byte[REQUEST]);
            byte[] reply = new byte[REQUEST];
            System.arraycopy("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII), 0, reply, 0, 16);
            reply[16] = (byte) (ENHANCED_FLAG | (crc ? CRC_FLAG : 0));
            reply[17] = 2;
            reply[19] = 4;
            reply[21] = 1;
            reply[23] = (byte) ord;
            socket.getOutputStream().write(reply);
            in.skipNBytes(BEFORE_TERMINATE);
            return in.readNBytes(2);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The first two octets of the Terminate header that came: layer and type, code. */
    byte[] terminate() throws Exception {
        return terminate.get(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
