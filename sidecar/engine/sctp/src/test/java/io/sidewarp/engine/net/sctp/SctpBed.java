// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net.sctp;

import io.sidewarp.engine.net.EngineLoops;
import io.sidewarp.engine.net.NetSettings;
import io.sidewarp.engine.net.PeerLimit;
import io.sidewarp.engine.net.sctp.usrsctp.Usrsctp;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Endpoints over loopback, each on its own loops, and the associations that a listener accepts. */
final class SctpBed implements AutoCloseable {

    static final OptionalInt DDP = OptionalInt.of(1);
    static final Duration PATIENCE = Duration.ofSeconds(20);
    static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    final BlockingQueue<RecordingUser> accepted = new LinkedBlockingQueue<>();
    private final List<SctpEndpoint> endpoints = new ArrayList<>();
    final BlockingQueue<PeerLimit> limits = new LinkedBlockingQueue<>();
    private final EngineLoops loops;
    private final SctpStack stack;

    /** SCTP in UDP. */
    SctpBed() {
        this(new SctpOverUdp(Usrsctp.load()));
    }

    SctpBed(SctpStack stack) {
        this(stack, NetSettings.defaults());
    }

    SctpBed(SctpStack stack, NetSettings settings) {
        this.stack = stack;
        this.loops = EngineLoops.create(2, settings);
        loops.setLimitHandler(limits::add);
    }

    /** The defaults, with any free UDP port. */
    static SctpSettings settings() {
        return SctpSettings.defaults().toBuilder().udpPort(0).build();
    }

    SctpEndpoint open(OptionalInt adaptation, SctpSettings settings) throws Exception {
        return open(List.of(LOOPBACK), adaptation, settings);
    }

    SctpEndpoint open(List<InetAddress> local, OptionalInt adaptation, SctpSettings settings) throws Exception {
        SctpEndpoint endpoint =
                stack.open(loops, loops.choose(), local, adaptation, settings).get(10, TimeUnit.SECONDS);
        endpoints.add(endpoint);
        return endpoint;
    }

    /** Listens at any free port; what comes goes to {@link #accepted}. */
    SctpListener listen(SctpEndpoint endpoint) throws Exception {
        return endpoint.listen(0, this::accept).get(10, TimeUnit.SECONDS);
    }

    RecordingUser accept(SctpAssociation association) {
        RecordingUser user = new RecordingUser(association);
        accepted.add(user);
        return user;
    }

    /** Connects to a UDP port of loopback, where a listener or a relay is. */
    RecordingUser connect(SctpEndpoint from, int port, int udpPort) throws Exception {
        return connect(from, new SctpDestination(LOOPBACK, port, udpPort));
    }

    RecordingUser connect(SctpEndpoint from, SctpDestination destination) throws Exception {
        List<RecordingUser> users = new ArrayList<>();
        from.connect(destination, PATIENCE, association -> {
                    users.add(new RecordingUser(association));
                    return users.getFirst();
                })
                .get(30, TimeUnit.SECONDS);
        return users.getFirst();
    }

    RecordingUser takeAccepted() throws InterruptedException {
        RecordingUser user = accepted.poll(20, TimeUnit.SECONDS);
        if (user == null) {
            throw new AssertionError("no association came in 20 s");
        }
        return user;
    }

    @Override
    public void close() throws Exception {
        for (SctpEndpoint endpoint : endpoints) {
            endpoint.close().get(10, TimeUnit.SECONDS);
        }
        loops.close();
    }
}
