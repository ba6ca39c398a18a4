// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.Optional;

/**
 * One end of an iWARP connection without a protocol stack. Sends what a test composes, and decodes what arrives. Every
 * wait has a limit.
 */
public final class RawPeer implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Socket socket;
    private final InputStream in;
    private FpduEncoder encoder = new FpduEncoder(true, false);
    private FpduDecoder decoder;

    private RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout((int) LIMIT.toMillis());
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
        decoder = new FpduDecoder(in, true, false);
    }

    /** A TCP connection on which nothing was sent yet. */
    public static RawPeer connect(int port) {
        return connect(port, new Socket());
    }

    /** Does the same as {@link #connect(int)} with a small receive buffer, so that the other side soon has to wait. */
    public static RawPeer connectWithSmallWindow(int port) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        return connect(port, socket);
    }

    private static RawPeer connect(int port, Socket socket) {
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) LIMIT.toMillis());
            return new RawPeer(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The next TCP connection of a server socket. */
    public static RawPeer accept(ServerSocket server) throws IOException {
        server.setSoTimeout((int) LIMIT.toMillis());
        return new RawPeer(server.accept());
    }

    /** Sends octets as they are. */
    public void sendOctets(byte[] octets) throws IOException {
        socket.getOutputStream().write(octets);
    }

    public MpaFrame readFrame() throws IOException {
        return MpaFrame.read(in);
    }

    /** Switches to the exchange of FPDUs, with the result of start-up. */
    public void enterFullOperation(boolean crc, boolean sendMarkers, boolean receiveMarkers) {
        encoder = new FpduEncoder(crc, sendMarkers);
        decoder = new FpduDecoder(in, crc, receiveMarkers);
    }

    /** Frames one ULPDU; for those that have to be sent together, or wrongly. */
    public FpduEncoder encoder() {
        return encoder;
    }

    /** Sends segments, one FPDU each, in one write. */
    public void send(byte[]... ulpdus) throws IOException {
        Octets all = Octets.begin();
        for (byte[] ulpdu : ulpdus) {
            all.put(encoder.encode(ulpdu));
        }
        sendOctets(all.toArray());
    }

    /** The next segment that the other side sent, or nothing when it closed. */
    public Optional<byte[]> receive() throws IOException {
        return decoder.next();
    }

    /** The Terminate, behind whatever else the other side sent before. */
    public byte[] receiveTerminate() throws IOException {
        Optional<byte[]> segment = receive();
        while (segment.isPresent() && Ulpdu.opcode(segment.get()) != (Ulpdu.TERMINATE & 0x0F)) {
            segment = receive();
        }
        return segment.orElseThrow(() -> new AssertionError("the connection was closed without a Terminate"));
    }

    /** Everything up to the close of the other side's direction. A reset is an error here. */
    public byte[] receiveRest() throws IOException {
        return in.readAllBytes();
    }

    /**
     * Does the same as {@link #receiveRest}. The other side may also reset, for example because it leaves bytes unread.
     */
    public byte[] receiveUntilGone() throws IOException {
        Octets octets = Octets.begin();
        byte[] buffer = new byte[4096];
        try {
            int read = in.read(buffer);
            while (read >= 0) {
                octets.put(buffer, 0, read);
                read = in.read(buffer);
            }
        } catch (SocketException e) {
            return octets.toArray();
        }
        return octets.toArray();
    }

    /** Closes this side's direction. */
    public void closeOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Makes the connection vanish with a reset. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
