// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.grpc.StatusRuntimeException;
import io.sidewarp.ring.RingLayout;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.CreateSharedReceiveQueueRequest;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.DestroyRingRequest;
import io.sidewarp.v1.DestroySharedReceiveQueueRequest;
import io.sidewarp.v1.DisconnectRequest;
import io.sidewarp.v1.RingServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A session whose application corrupts its rings in every possible way. */
final class Attacker implements AutoCloseable {

    private static final int MAX_QUEUES = 3;
    private static final long CALL_SECONDS = 30;
    private static final int[] HEADER_WORDS = {
        RingLayout.CONSUMED_OFFSET,
        RingLayout.PRODUCER_WAITS_OFFSET,
        RingLayout.CONSUMER_WAITS_OFFSET,
        RingLayout.STATE_OFFSET
    };
    private static final long[] WORDS = {0, 1, 2, -1, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32};

    private final TestSidecar sidecar;
    private final TestSession session;
    private final FuzzedEntries entries = new FuzzedEntries();
    private final List<FuzzedQueue> queues = new ArrayList<>();
    private final List<GuardedRegion> regions = new ArrayList<>();
    private final List<Thread> calls = new ArrayList<>();
    /** Queues that are not used any more. */
    private final List<FuzzedQueue> retired = new ArrayList<>();

    private Attacker peer = this;
    private boolean calm;
    private boolean closed;

    Attacker(TestSidecar sidecar, String name, Canary canary) {
        this.sidecar = sidecar;
        session = sidecar.session(name);
        Access[] all = {
            Access.ACCESS_LOCAL_WRITE,
            Access.ACCESS_REMOTE_READ,
            Access.ACCESS_REMOTE_WRITE,
            Access.ACCESS_REMOTE_ATOMIC
        };
        regions.add(new GuardedRegion(sidecar, session, name + "-any", true, all));
        regions.add(new GuardedRegion(sidecar, session, name + "-write", true, Access.ACCESS_LOCAL_WRITE));
        regions.add(new GuardedRegion(sidecar, session, name + "-none", false));
        regions.add(new GuardedRegion(sidecar, session, name + "-read", false, Access.ACCESS_REMOTE_READ));
        regions.forEach(region -> entries.regions.add(region.region()));
        entries.foreign.add(canary.connection());
        entries.foreignRegions.add(canary.guard());
    }

    TestSession session() {
        return session;
    }

    /** Creates rings and a shared receive queue; they work with the peer. */
    void meet(Attacker other, long connection, Random random) {
        peer = other;
        calm = random.nextInt(3) > 0;
        connected(connection);
        entries.remote.addAll(other.entries.regions);
        createSharedReceives();
        for (int i = random.nextInt(2); i >= 0; i--) {
            createQueue(random);
        }
    }

    /** Uses a connection from now on. */
    void connected(long connection) {
        entries.connections.add(connection);
    }

    private void createSharedReceives() {
        entries.sharedReceives.add(session.sharedReceives()
                .createSharedReceiveQueue(CreateSharedReceiveQueueRequest.newBuilder()
                        .setSession(session.token())
                        .setCapacity(4)
                        .build())
                .getSharedReceiveQueue()
                .getId());
    }

    private void createQueue(Random random) {
        if (queues.size() == MAX_QUEUES) {
            FuzzedQueue old = queues.removeFirst();
            old.closeSockets();
            retired.add(old);
        }
        FuzzedQueue queue = new FuzzedQueue(sidecar, session, random);
        queues.add(queue);
        if (random.nextInt(10) > 0) {
            queue.connect(random);
        }
    }

    FuzzedFile file(Random random) {
        return queue(random).file(random);
    }

    private FuzzedQueue queue(Random random) {
        return queues.get(random.nextInt(queues.size()));
    }

    /** Makes one change. */
    void change(Random random) {
        int kind = random.nextInt(200);
        if (calm && random.nextInt(16) > 0) {
            kind = random.nextInt(4) == 0 ? 80 : kind % 40;
        }
        if (kind < 80) {
            entry(random, kind < 40);
        } else if (kind < 110) {
            consume(random);
        } else if (kind < 160) {
            scribble(random);
        } else if (kind < 166) {
            cut(random);
        } else if (kind < 185) {
            socket(random);
        } else if (kind < 199) {
            call(random);
        } else if (random.nextInt(3) == 0) {
            closeSession();
        }
    }

    private void entry(Random random, boolean right) {
        entries.valid(random);
        if (!right) {
            entries.mutate(random);
        }
        if (entries.takesReceive() && random.nextInt(16) > 0) {
            peer.receive(random);
        }
        FuzzedQueue queue = queue(random);
        boolean receive = entries.isReceive() != (random.nextInt(40) == 0);
        queue.publish(receive, entries.bytes(), entries.blocks(), right || random.nextInt(3) > 0);
        if (random.nextInt(8) > 0) {
            queue.wake();
        }
    }

    private void receive(Random random) {
        entries.receive(random);
        queue(random).publish(true, entries.bytes(), entries.blocks(), true);
    }

    private void consume(Random random) {
        FuzzedQueue queue = queue(random);
        if (random.nextInt(8) > 0) {
            queue.consume(random.nextInt(4) > 0);
        } else {
            queue.pretendToConsume(random);
        }
    }

    private void scribble(Random random) {
        switch (random.nextInt(5)) {
            case 0, 1 -> scribble(file(random), random);
            case 2 ->
                file(random)
                        .putLong(
                                HEADER_WORDS[random.nextInt(HEADER_WORDS.length)], WORDS[random.nextInt(WORDS.length)]);
            case 3 -> queue(random).sequence(random);
            default -> queue(random).jump(random);
        }
    }

    /** Writes random bytes anywhere, or flips a bit. */
    static void scribble(FuzzedFile file, Random random) {
        if (random.nextBoolean()) {
            byte[] bytes = new byte[1 + random.nextInt(64)];
            random.nextBytes(bytes);
            file.put(random.nextInt((int) file.length() - bytes.length), bytes);
        } else {
            long at = random.nextInt((int) file.length());
            file.put(at, (byte) (file.get(at, 1)[0] ^ 1 << random.nextInt(8)));
        }
    }

    private void cut(Random random) {
        FuzzedFile file = file(random);
        file.cut(random.nextBoolean() ? 0 : random.nextInt((int) file.length()));
        if (random.nextInt(3) > 0) {
            file.extend();
        }
    }

    private void socket(Random random) {
        FuzzedQueue queue = queue(random);
        switch (random.nextInt(16)) {
            case 0 -> queue.closeSockets();
            case 1 -> queue.connect(random);
            case 2, 3 -> queue.garbage(random);
            case 4, 5, 6, 7 -> queue.read();
            default -> queue.wake();
        }
    }

    private void call(Random random) {
        if (closed) {
            return;
        }
        String token = session.token();
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                long ring = queue(random).ring(random);
                background(() -> RingServiceGrpc.newBlockingStub(session.channel())
                        .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
                        .destroyRing(DestroyRingRequest.newBuilder()
                                .setSession(token)
                                .setRing(ring)
                                .build()));
            }
            case 2 -> {
                boolean abort = random.nextBoolean();
                int posts = random.nextInt(20);
                background(() -> session.connections()
                        .disconnect(DisconnectRequest.newBuilder()
                                .setSession(token)
                                .setConnection(entries.connections.getFirst())
                                .setAbort(abort)
                                .setAfterPosts(abort ? 0 : posts)
                                .build()));
            }
            case 3 -> {
                long region =
                        regions.get(random.nextInt(regions.size())).region().getId();
                background(() -> session.memory()
                        .deregisterRegion(DeregisterRegionRequest.newBuilder()
                                .setSession(token)
                                .setRegion(region)
                                .build()));
            }
            case 4 -> {
                long queue = entries.sharedReceives.getFirst();
                background(() -> session.sharedReceives()
                        .destroySharedReceiveQueue(DestroySharedReceiveQueueRequest.newBuilder()
                                .setSession(token)
                                .setSharedReceiveQueue(queue)
                                .build()));
            }
            case 5 -> background(session::listConnections);
            default -> createQueue(random);
        }
    }

    private void background(Runnable call) {
        calls.add(Thread.startVirtualThread(() -> {
            try {
                call.run();
            } catch (StatusRuntimeException e) {
                // The sidecar refuses calls on objects that are gone or unknown.
            }
        }));
    }

    boolean isClosed() {
        return closed;
    }

    void closeSession() {
        closed = true;
        session.close();
    }

    /** Returns the completions of work that succeeded. */
    long succeeded() {
        return Stream.concat(queues.stream(), retired.stream())
                .mapToLong(FuzzedQueue::succeeded)
                .sum();
    }

    void closeSockets() {
        queues.forEach(FuzzedQueue::closeSockets);
    }

    void checkRegions() {
        regions.forEach(GuardedRegion::check);
    }

    /** Waits for the calls; the session has ended. */
    void awaitCalls() {
        for (Thread call : calls) {
            try {
                if (!call.join(java.time.Duration.ofSeconds(CALL_SECONDS / 2))) {
                    throw new AssertionError("a call goes on behind the end of its session");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    public void close() {
        closeSession();
        queues.forEach(FuzzedQueue::close);
        retired.forEach(FuzzedQueue::close);
        regions.forEach(GuardedRegion::close);
    }
}
