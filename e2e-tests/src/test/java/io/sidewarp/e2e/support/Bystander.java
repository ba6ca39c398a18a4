// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A client that transfers continuously over its own connections and compares the received data, while a test disturbs
 * other clients of the same sidecar.
 */
public final class Bystander implements AutoCloseable {

    private static final int OCTETS = 96 * 1024;

    private final SidewarpClient client;
    private final SidewarpClient peerClient;
    private final SharedRegion source;
    private final SharedRegion target;
    private final SharedRegion copy;
    private final Link link;
    private final AtomicLong rounds = new AtomicLong();
    private final Thread thread;
    private volatile Throwable failure;
    private volatile boolean stopping;

    /** Connects from one sidecar to another, or to itself, and begins to transfer. */
    public Bystander(SidecarProcess from, SidecarProcess to) {
        client = from.client();
        peerClient = to.client();
        Session session = client.openSession("bystander");
        Session peerSession = peerClient.openSession("bystander-peer");
        source = session.createSharedRegion("bystander-source", OCTETS);
        copy = session.createSharedRegion("bystander-copy", OCTETS, Access.LOCAL_WRITE);
        target = peerSession.createSharedRegion("bystander-target", OCTETS, Access.REMOTE_WRITE, Access.REMOTE_READ);
        link = Link.connect(session, peerSession);
        thread = Thread.ofVirtual().name("bystander").start(this::run);
    }

    private void run() {
        try {
            while (!stopping) {
                transfer(link.initiator(), rounds.get() + 1);
                rounds.incrementAndGet();
            }
        } catch (RuntimeException | AssertionError e) {
            failure = e;
        }
    }

    private void transfer(Connection connection, long seed) {
        Pattern.fill(source.segment(), seed);
        connection.write(source.slice(), target.address());
        connection.read(copy.slice(), target.address());
        if (copy.segment().mismatch(source.segment()) >= 0) {
            throw new AssertionError("round " + seed + " came back changed");
        }
    }

    /** Waits until further transfers began and ended well, from now on. */
    public void awaitProgress() {
        // The round that is under way may have begun before: the one after it has not.
        long wanted = rounds.get() + 2;
        Patience.await("others go on transferring").until(() -> rounds.get() >= wanted || failure != null);
        if (failure != null) {
            throw new AssertionError("another connection was disturbed", failure);
        }
    }

    @Override
    public void close() {
        stopping = true;
        try {
            thread.join(Patience.LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
        peerClient.close();
    }
}
