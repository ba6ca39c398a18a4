// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.fuzz;

import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestSidecar;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Fuzzes the control socket of a running sidecar. Clients send valid requests, requests with wrong fields, and random
 * bytes, in any pieces. They pass descriptors of wrong files, leave answers unread, and close their sockets at any
 * moment. A pair of sessions of others, the canary, must continue.
 */
final class ControlFuzzer implements Fuzzer {

    private static final int CLIENTS = 3;
    private static final int MOST_STEPS = 150;
    private static final int FILE_LENGTH = 1 << 16;
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
    private static final String FILE = "fuzzed-file";
    private static final List<String> COUNTED =
            List.of("io.sidewarp.service.control.ControlSession", "io.sidewarp.engine.memory.ProcessMemory");
    private static final String[] FILES = {"/proc/self/mem", "/dev/null", "/dev/zero"};

    /** Length of each request, by its type. */
    private static final int[] LENGTHS = {80, 16, 16, 24, 320, 24, 24, 32, 24, 32, 32, 24, 40, 40, 24, 72, 72, 72, 40};

    private final long seed;
    private final TestSidecar sidecar;
    private final Canary canary;
    private final LogWatch log = new LogWatch();
    /** Numbers of objects that the answers of this round have told. */
    private final List<Long> objects = new ArrayList<>();

    private int port;
    private long rounds;
    private long changes;
    private long succeeded;

    ControlFuzzer(long seed) {
        this.seed = seed;
        sidecar = TestSidecar.start("sidewarp.event-loops", "2", "sidewarp.connection.timeout", "2s");
        canary = new Canary(sidecar);
        try {
            Files.write(sidecar.sharedVolume().resolve(FILE), new byte[FILE_LENGTH]);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public long rounds() {
        return rounds;
    }

    @Override
    public long changes() {
        return changes;
    }

    @Override
    public long succeeded() {
        return succeeded;
    }

    @Override
    public void round(long number) {
        try {
            rounds++;
            run(new Random(seed * 0x9E3779B97F4A7C15L + number));
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("seed " + seed + ", round " + number + ": " + e.getMessage() + log.text(), e);
        }
    }

    private void run(Random random) {
        objects.clear();
        List<TestControl> clients = new ArrayList<>();
        try {
            int steps = random.nextInt(MOST_STEPS);
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(random.nextInt(8) == 0 ? TestControl.connect(sidecar) : TestControl.open(sidecar));
            }
            for (int i = 0; i < steps; i++) {
                step(clients.get(random.nextInt(CLIENTS)), random);
                changes++;
            }
            canary.check();
        } finally {
            clients.forEach(TestControl::close);
        }
        await("sessions are left", () -> sidecar.sidecar().sessions().count() == Canary.sessions());
        await("files of rings are left", () -> ringFiles() == Canary.files());
        await("a descriptor of a process's memory is left", () -> memoryDescriptors() == 0);
        canary.check();
        log.check();
    }

    private void step(TestControl client, Random random) {
        int choice = random.nextInt(24);
        // A broken rule ends the session, so most rounds break rules rarely.
        switch (choice < 3 && random.nextInt(5) > 0 ? 23 : choice) {
            case 0 -> send(client, bytes(random, random.nextInt(64)), random);
            case 1 -> send(client, damaged(request(random), random), random);
            case 2 -> client.pass(files(random));
            case 3 -> passMemory(client, random);
            case 4 -> LockSupport.parkNanos(random.nextInt(3_000_000));
            case 5, 6, 7, 8, 9, 10 -> read(client);
            case 11 -> {
                if (random.nextInt(10) == 0) {
                    client.close();
                }
            }
            default -> send(client, request(random), random);
        }
    }

    private static void passMemory(TestControl client, Random random) {
        client.offer(TestControl.record(ControlRecord.MEMORY, random.nextInt(), RingRecord.HEADER));
        LockSupport.parkNanos(random.nextInt(3_000_000));
        client.pass(random.nextBoolean() ? new String[] {FILES[0]} : files(random));
    }

    private static String[] files(Random random) {
        String[] files = new String[random.nextInt(4)];
        for (int i = 0; i < files.length; i++) {
            files[i] = FILES[random.nextInt(FILES.length)];
        }
        return files;
    }

    /** Sends bytes whole or in two pieces. A socket that is full or closed loses them. */
    private static void send(TestControl client, ByteBuffer bytes, Random random) {
        if (random.nextInt(8) == 0 && bytes.limit() > 1) {
            int first = 1 + random.nextInt(bytes.limit() - 1);
            client.offer(bytes.duplicate().limit(first));
            bytes.position(first);
        }
        client.offer(bytes);
    }

    private void read(TestControl client) {
        for (ByteBuffer record : client.poll()) {
            if (TestControl.type(record) == ControlRecord.DONE) {
                succeeded++;
            }
            if (record.limit() >= ObjectFields.LENGTH) {
                objects.add(TestControl.object(record));
            }
            if (record.limit() == ListenFields.ANSWER_LENGTH) {
                port = record.getInt(ListenFields.BOUND_PORT_OFFSET);
            }
        }
    }

    /** Returns a request whose fields are plausible. */
    private ByteBuffer request(Random random) {
        int type = ControlRecord.ALLOCATE_DOMAIN + random.nextInt(LENGTHS.length - 2);
        int length = LENGTHS[type - ControlRecord.OPEN];
        int data = length == SetupFields.PRIVATE_DATA_OFFSET && random.nextBoolean() ? random.nextInt(600) : 0;
        ByteBuffer record = TestControl.record(type, random.nextInt(), length + data);
        if (length > RingRecord.HEADER) {
            fill(record, type, random);
        }
        if (length == SetupFields.PRIVATE_DATA_OFFSET) {
            record.putInt(SetupFields.PRIVATE_LENGTH_OFFSET, data);
        }
        return record;
    }

    private void fill(ByteBuffer record, int type, Random random) {
        switch (type) {
            case ControlRecord.REGISTER ->
                record.putLong(RegionFields.START_OFFSET, random.nextInt(4) == 0 ? random.nextLong() : 0)
                        .putLong(RegionFields.LENGTH_OFFSET, random.nextInt(FILE_LENGTH + 10))
                        .putInt(RegionFields.ACCESS_OFFSET, random.nextInt(34))
                        .putInt(RegionFields.BACKING_OFFSET, random.nextInt(20) == 0 ? random.nextInt(4) : 2)
                        .put(RegionFields.PATH_OFFSET, FILE.getBytes(StandardCharsets.UTF_8));
            case ControlRecord.CREATE_COMPLETION_RING -> record.putInt(16, small(random));
            case ControlRecord.CREATE_WORK_RING ->
                record.putLong(16, object(random))
                        .putInt(24, 1 + random.nextInt(2))
                        .putInt(28, small(random));
            case ControlRecord.CREATE_SHARED_RECEIVE_QUEUE ->
                record.putInt(24, small(random)).putInt(28, small(random));
            case ControlRecord.MODIFY_SHARED_RECEIVE_QUEUE ->
                record.putLong(16, object(random)).putInt(24, small(random));
            case ControlRecord.CREATE_CONNECTION ->
                record.putLong(24, random.nextInt(4) == 0 ? object(random) : 0).putInt(32, small(random));
            case ControlRecord.LISTEN ->
                record.put(16, random.nextInt(4) == 0 ? new byte[16] : TestControl.loopback())
                        .putInt(36, random.nextInt(4));
            case ControlRecord.CONNECT ->
                record.putLong(16, object(random))
                        .putLong(24, random.nextInt(8) == 0 ? random.nextInt(3) : 0)
                        .put(32, TestControl.loopback())
                        .putInt(48, port)
                        .putInt(56, random.nextInt(4))
                        .putInt(60, ControlRecord.DEPTH_UNSET);
            case ControlRecord.ACCEPT ->
                record.putLong(16, object(random))
                        .putLong(32, object(random))
                        .putInt(56, ControlRecord.DEPTH_UNSET)
                        .putInt(60, random.nextInt(4));
            case ControlRecord.REJECT -> record.putLong(32, object(random));
            case ControlRecord.DISCONNECT -> record.putLong(16, object(random)).putInt(32, random.nextInt(2));
            default -> record.putLong(16, object(random));
        }
    }

    private long object(Random random) {
        return objects.isEmpty() || random.nextInt(16) == 0
                ? random.nextInt(64)
                : objects.get(random.nextInt(objects.size()));
    }

    private static int small(Random random) {
        return random.nextInt(16) == 0 ? random.nextInt() : random.nextInt(65);
    }

    /** Changes some bytes, the length of the record or its type. */
    private static ByteBuffer damaged(ByteBuffer record, Random random) {
        switch (random.nextInt(4)) {
            case 0 -> record.putInt(RingRecord.LENGTH_OFFSET, random.nextInt(RingRecord.MAX_LENGTH + 10));
            case 1 -> record.putShort(RingRecord.TYPE_OFFSET, (short) random.nextInt(90));
            default -> {
                for (int i = random.nextInt(4); i >= 0; i--) {
                    record.put(random.nextInt(record.limit()), (byte) random.nextInt());
                }
            }
        }
        return record;
    }

    private static ByteBuffer bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private long ringFiles() {
        String[] names = sidecar.sharedVolume().toFile().list((directory, name) -> name.contains("sidewarp-ring"));
        return names == null ? -1 : names.length;
    }

    private static long memoryDescriptors() {
        try (var all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(ControlFuzzer::isMemory).count();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isMemory(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().endsWith("/mem");
        } catch (IOException e) {
            return false;
        }
    }

    private static void await(String otherwise, BooleanSupplier condition) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(otherwise);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    @Override
    public void checkMemory() {
        try {
            await("objects of sessions that ended are left: " + COUNTED, () -> LiveObjects.count(COUNTED) == 0);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ", after " + rounds + " rounds: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        log.close();
        canary.close();
        sidecar.close();
    }
}
