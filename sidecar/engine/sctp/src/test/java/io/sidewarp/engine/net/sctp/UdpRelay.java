// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.Random;

/**
 * Stands between a client and a server on loopback. It loses, doubles and reorders packets like a network, and may
 * change its port like a NAT. Its random choices depend on the seed only.
 */
final class UdpRelay implements AutoCloseable {

    private final Selector selector = Selector.open();
    private final DatagramChannel inside = open(0);
    private volatile SocketAddress server;
    private final Random random;
    private final double disturbance;
    private final Thread thread;
    private volatile DatagramChannel outside = open(0);
    private SocketAddress client = new InetSocketAddress(0);
    private ByteBuffer held = ByteBuffer.allocate(0);
    private volatile int newPort;
    private volatile boolean moveWanted;
    private volatile boolean leaveWanted;
    private volatile boolean away;
    private volatile boolean silent;
    private volatile boolean silentToClient;
    private volatile int widest = Integer.MAX_VALUE;
    private volatile boolean closed;

    /** @param disturbance probability of a loss, of a copy and of a late arrival, each, per packet */
    UdpRelay(SocketAddress server, long seed, double disturbance) throws IOException {
        this.server = server;
        this.random = new Random(seed);
        this.disturbance = disturbance;
        this.thread = new Thread(this::run, "relay");
        thread.setDaemon(true);
        thread.start();
    }

    private DatagramChannel open(int port) throws IOException {
        DatagramChannel channel = DatagramChannel.open();
        channel.bind(new InetSocketAddress(SctpBed.LOOPBACK, port));
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ);
        return channel;
    }

    /** The port that the client has to send to. */
    int port() throws IOException {
        return ((InetSocketAddress) inside.getLocalAddress()).getPort();
    }

    /** Goes on from another port towards the server. */
    void move() {
        moveTo(0);
    }

    /** Goes on from that port towards the server. */
    void moveTo(int port) {
        newPort = port;
        moveWanted = true;
        selector.wakeup();
    }

    /** Another server is in the place of the former one. */
    void redirect(SocketAddress newServer) {
        server = newServer;
    }

    /** Closes its port towards the server, so that the system answers there by ICMP, until {@link #moveTo}. */
    void leave() {
        leaveWanted = true;
        selector.wakeup();
    }

    /** Returns whether the relay has a port towards the server. */
    boolean isThere() {
        return !away;
    }

    /** The port that it sends to the server from. */
    int outsidePort() throws IOException {
        return ((InetSocketAddress) outside.getLocalAddress()).getPort();
    }

    /** Sends the server a packet that seems to come from the client. */
    void forge(byte[] packet) throws IOException {
        outside.send(ByteBuffer.wrap(packet), server);
    }

    /** Carries nothing more. */
    void silence() {
        silent = true;
    }

    /** Swallows datagrams of more bytes from now on. */
    void narrow(int newWidest) {
        widest = newWidest;
    }

    /** Carries nothing more to the client, or does again. */
    void silenceToClient(boolean newSilent) {
        silentToClient = newSilent;
    }

    private void run() {
        ByteBuffer buffer = ByteBuffer.allocate(65535);
        try {
            while (!closed) {
                selector.select(50);
                selector.selectedKeys().clear();
                if (leaveWanted) {
                    leaveWanted = false;
                    outside.close();
                    // The port is given back when the selector has let go of it.
                    selector.selectNow();
                    away = true;
                }
                if (moveWanted) {
                    moveWanted = false;
                    outside.close();
                    outside = open(newPort);
                    away = false;
                }
                carry(buffer, inside, true);
                if (isThere()) {
                    carry(buffer, outside, false);
                }
            }
        } catch (IOException e) {
            if (!closed) {
                throw new IllegalStateException("the relay failed", e);
            }
        }
    }

    private void carry(ByteBuffer buffer, DatagramChannel from, boolean toServer) throws IOException {
        SocketAddress sender = from.receive(buffer.clear());
        while (sender != null) {
            if (toServer) {
                client = sender;
            }
            buffer.flip();
            if (!silent && (toServer || !silentToClient) && buffer.remaining() <= widest) {
                disturb(buffer, toServer);
            }
            sender = from.receive(buffer.clear());
        }
    }

    private void disturb(ByteBuffer packet, boolean toServer) throws IOException {
        if (random.nextDouble() < disturbance) {
            return;
        }
        if (toServer && random.nextDouble() < disturbance && !held.hasRemaining()) {
            held = ByteBuffer.allocate(packet.remaining()).put(packet).flip();
            return;
        }
        send(packet.duplicate(), toServer);
        if (random.nextDouble() < disturbance) {
            send(packet.duplicate(), toServer);
        }
        if (toServer && held.hasRemaining()) {
            send(held, true);
        }
    }

    private void send(ByteBuffer packet, boolean toServer) throws IOException {
        if (toServer && isThere()) {
            outside.send(packet, server);
        } else if (!toServer) {
            inside.send(packet, client);
        }
    }

    @Override
    public void close() throws Exception {
        closed = true;
        selector.wakeup();
        thread.join(5000);
        inside.close();
        outside.close();
        selector.close();
    }
}
