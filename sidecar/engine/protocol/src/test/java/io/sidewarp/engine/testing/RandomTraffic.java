// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.rdmap.RdmapControl;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.verbs.CqeStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Random work for both sides of a pair, and a model of the expected result. Each side has memory that the peer writes
 * to, constant memory that the peer reads, and words for the peer's atomic operations. Receives are posted before the
 * peer's Sends and Immediate Data.
 */
public final class RandomTraffic {

    private static final int MEMORY = 40_000;
    private static final int LARGEST = 9_000;
    private static final int RECEIVE = 3_000;
    private static final int RECEIVES = 16;
    private static final int MOST_OUTSTANDING = 60;
    private static final int WORDS = 4;

    private final StreamPair pair;
    private final RandomGenerator random;
    private final Actor left;
    private final Actor right;

    /** Creates traffic that the seed alone determines. */
    public RandomTraffic(StreamPair pair, long seed) {
        this.pair = pair;
        random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        left = new Actor(pair.left(), seed);
        right = new Actor(pair.right(), seed + 1000);
    }

    /** Source of all random decisions. */
    public RandomGenerator random() {
        return random;
    }

    /** Posts requests between turns of the link. Then closes both sides, and waits until the link is idle. */
    public void run(int requests) {
        for (int i = 0; i < requests; i++) {
            if (random.nextBoolean()) {
                left.act(right);
            } else {
                right.act(left);
            }
            for (int turns = random.nextInt(4); turns > 0; turns--) {
                pair.link().turn(random.nextBoolean() ? Side.LEFT : Side.RIGHT);
            }
            if (random.nextInt(20) == 0) {
                pair.link().mulpdu(random.nextBoolean() ? Side.LEFT : Side.RIGHT, 128 + random.nextInt(2000));
            }
        }
        finish();
        pair.left().stream().close();
        pair.right().stream().close();
        finish();
    }

    /**
     * Takes turns until the link has been idle for 50 turns in a row. An uneven link can be idle for one turn while
     * data is still on its way.
     */
    private void finish() {
        int idle = 0;
        for (int i = 0; idle < 50; i++) {
            boolean leftMoved = pair.link().turn(Side.LEFT);
            boolean rightMoved = pair.link().turn(Side.RIGHT);
            idle = leftMoved || rightMoved ? 0 : idle + 1;
            if (i == Link.MOST_TURNS) {
                throw new AssertionError("the link still moves data after the maximum number of turns");
            }
        }
    }

    /** Compares memory, messages and completions of both sides with the model. */
    public void verify() {
        left.verify();
        right.verify();
    }

    /** Expected content of a receive: bytes, or Immediate Data. */
    private record Message(byte[] data, boolean isImmediate, long immediate) {}

    /** One side of the pair, with the model of its expected state. */
    private final class Actor {

        private final Endpoint endpoint;
        private final boolean extensions;
        private final MemoryRegion target;
        private final MemoryRegion constant;
        private final MemoryRegion sink;
        private final MemoryRegion receives;
        private final byte[] constantData;
        private final byte[] targetModel = new byte[MEMORY];
        private final byte[] sinkModel = new byte[MEMORY];
        private final MemoryRegion words;
        private final long[] wordsModel = new long[WORDS];
        private final Map<Long, Long> expectedResults = new HashMap<>();
        private final ArrayDeque<Message> expectedMessages = new ArrayDeque<>();
        private final List<Long> signaledIds = new ArrayList<>();
        private long nextId = 1;
        private int posted;
        private int promised;
        private int received;

        Actor(Endpoint endpoint, long seed) {
            this.endpoint = endpoint;
            extensions = endpoint.stream().extensions();
            constantData = Octets.pattern(MEMORY, seed);
            target = endpoint.region(MEMORY);
            constant = endpoint.memory().regionWith(constantData);
            sink = endpoint.region(MEMORY);
            words = endpoint.region(WORDS * Long.BYTES);
            receives = endpoint.region(RECEIVES * RECEIVE);
            for (int i = 0; i < RECEIVES; i++) {
                postReceive();
            }
            endpoint.completions().onEachCompletion(this::onCompletion);
        }

        private void postReceive() {
            long slot = posted % RECEIVES;
            long cut = 1L + random.nextInt(RECEIVE - 1);
            endpoint.receive(posted)
                    .with(receives, slot * RECEIVE, cut)
                    .with(receives, slot * RECEIVE + cut, RECEIVE - cut)
                    .post();
            posted++;
        }

        private void onCompletion() {
            int done = endpoint.completions().receives().size();
            if (done > received && endpoint.stream().error() == null && !expectedMessages.isEmpty()) {
                Message message = expectedMessages.remove();
                int length = message.data().length;
                long slot = received % RECEIVES;
                RecordingSink.Completion completion =
                        endpoint.completions().receives().getLast();
                if (completion.length() != length
                        || RdmapControl.isImmediate(completion.opcode()) != message.isImmediate()
                        || completion.result() != message.immediate()
                        || !Arrays.equals(TestMemory.get(receives, slot * RECEIVE, length), message.data())) {
                    throw new AssertionError("message " + received + " differs from the model: " + completion);
                }
                received++;
            }
        }

        void act(Actor peer) {
            while (posted - received < RECEIVES) {
                postReceive();
            }
            if (endpoint.sendQueue().outstanding() >= MOST_OUTSTANDING) {
                return;
            }
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> write(peer);
                case 3, 4 -> read(peer);
                case 5 -> {
                    if (extensions) {
                        atomic(peer);
                    }
                }
                default -> send(peer);
            }
        }

        /** Posts a work request, sometimes unsignaled and sometimes fenced. */
        private void post(Work work, long id) {
            if (random.nextInt(5) == 0) {
                work.unsignaled();
            } else {
                signaledIds.add(id);
            }
            if (random.nextInt(10) == 0) {
                work.fenced();
            }
            work.post();
        }

        private int randomLength(int most) {
            return switch (random.nextInt(6)) {
                case 0 -> 0;
                case 1 -> 1 + random.nextInt(8);
                default -> random.nextInt(most + 1);
            };
        }

        /** Adds random parts of the constant memory to a work request, and returns the bytes of these parts. */
        private byte[] gather(Work work, int length) {
            byte[] data = new byte[length];
            int at = 0;
            while (at < length) {
                int part = random.nextInt(3) == 0 ? length - at : 1 + random.nextInt(length - at);
                int from = random.nextInt(MEMORY - part + 1);
                work.with(constant, from, part);
                System.arraycopy(constantData, from, data, at, part);
                at += part;
            }
            return data;
        }

        private void write(Actor peer) {
            long id = nextId++;
            int length = randomLength(LARGEST);
            int to = random.nextInt(MEMORY - length + 1);
            Work work = endpoint.write(id).remote(peer.target.stag(), to);
            byte[] data = gather(work, length);
            System.arraycopy(data, 0, peer.targetModel, to, length);
            if (extensions && random.nextInt(4) == 0 && peer.promised < peer.posted) {
                peer.promised++;
                work.immediate(id);
                peer.expectedMessages.add(new Message(new byte[0], true, id));
            }
            post(work, id);
        }

        private void atomic(Actor peer) {
            long id = nextId++;
            int index = random.nextInt(WORDS);
            long before = peer.wordsModel[index];
            long operand = random.nextLong(1000);
            Work work;
            if (random.nextBoolean()) {
                work = endpoint.fetchAdd(id, operand);
                peer.wordsModel[index] += operand;
            } else {
                long compare = before + random.nextInt(2);
                work = endpoint.compareSwap(id, compare, operand);
                peer.wordsModel[index] = compare == before ? operand : before;
            }
            expectedResults.put(id, before);
            post(work.remote(peer.words.stag(), (long) index * Long.BYTES), id);
        }

        private void read(Actor peer) {
            long id = nextId++;
            int length = randomLength(LARGEST);
            int from = random.nextInt(MEMORY - length + 1);
            int to = random.nextInt(MEMORY - length + 1);
            System.arraycopy(peer.constantData, from, sinkModel, to, length);
            post(endpoint.read(id).with(sink, to, length).remote(peer.constant.stag(), from), id);
        }

        private void send(Actor peer) {
            if (peer.promised >= peer.posted) {
                return;
            }
            peer.promised++;
            long id = nextId++;
            if (extensions && random.nextInt(4) == 0) {
                peer.expectedMessages.add(new Message(new byte[0], true, id));
                post(endpoint.immediate(id, id), id);
                return;
            }
            Work work = endpoint.send(id);
            byte[] data = gather(work, randomLength(RECEIVE));
            peer.expectedMessages.add(new Message(data, false, 0));
            if (random.nextBoolean()) {
                work.solicited();
            }
            if (random.nextInt(4) == 0) {
                work.invalidating(peer.endpoint.invalidatableRegion(8).stag());
            }
            post(work, id);
        }

        void verify() {
            compare("target", target, targetModel);
            compare("sink", sink, sinkModel);
            compare("constant", constant, constantData);
            for (int i = 0; i < WORDS; i++) {
                if (TestMemory.getWord(words, (long) i * Long.BYTES) != wordsModel[i]) {
                    throw new AssertionError("word " + i + " differs from the model");
                }
            }
            for (RecordingSink.Completion completion : endpoint.completions().sends()) {
                long expected = expectedResults.getOrDefault(completion.id(), 0L);
                if (completion.result() != expected) {
                    throw new AssertionError("expected result " + expected + ", but got " + completion);
                }
            }
            if (!expectedMessages.isEmpty()) {
                throw new AssertionError(expectedMessages.size() + " expected messages did not arrive");
            }
            List<Long> completed = endpoint.completions().sendIds();
            if (!completed.equals(signaledIds)) {
                throw new AssertionError("expected completions " + signaledIds + ", but got " + completed);
            }
            if (endpoint.completions().sendStatuses().stream().anyMatch(status -> status != CqeStatus.SUCCESS)) {
                throw new AssertionError("not all work requests succeeded: "
                        + endpoint.completions().sends());
            }
            if (endpoint.completions().receives().size() != posted) {
                throw new AssertionError("not all posted receives completed");
            }
        }

        private void compare(String what, MemoryRegion region, byte[] expected) {
            int mismatch = Arrays.mismatch(TestMemory.get(region), expected);
            if (mismatch >= 0) {
                throw new AssertionError(what + " differs from the model at byte " + mismatch);
            }
        }
    }
}
