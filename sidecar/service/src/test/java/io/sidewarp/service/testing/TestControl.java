// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.testing;

import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.ConnectedFields;
import io.sidewarp.ring.ControlRecord.CreateConnectionFields;
import io.sidewarp.ring.ControlRecord.FailedFields;
import io.sidewarp.ring.ControlRecord.ListenFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.OpenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.RingFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.RingRecord;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** A control socket, used by the layout of its records alone. For one thread. */
public final class TestControl implements AutoCloseable {

    private static final long SECONDS = 20;
    private static final byte[] LOOPBACK = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, 127, 0, 0, 1};

    private final NativeSocket socket;
    /** Records that came before one that a test waited for. */
    private final List<ByteBuffer> early = new ArrayList<>();

    private final ByteBuffer input =
            ByteBuffer.allocate(2 * RingRecord.MAX_LENGTH).order(ByteOrder.nativeOrder());
    private long values;
    private boolean closed;

    private TestControl(NativeSocket socket) {
        this.socket = socket;
    }

    /** Connects without a record. */
    public static TestControl connect(TestSidecar sidecar) {
        return connect(sidecar.socket().resolveSibling(sidecar.socket().getFileName() + ".rings"));
    }

    /** Connects without a record. */
    public static TestControl connect(Path path) {
        return new TestControl(new NativeSocket(path));
    }

    /** Connects, and opens a session. */
    public static TestControl open(TestSidecar sidecar) {
        TestControl control = connect(sidecar);
        control.done(
                ControlRecord.OPEN,
                OpenFields.LENGTH,
                record -> record.put(OpenFields.NAME_OFFSET, "test".getBytes(StandardCharsets.UTF_8)));
        return control;
    }

    /** Sends MEMORY, and passes descriptors of files. Returns the second answer. */
    public ByteBuffer passMemory(String... paths) {
        long value = send(ControlRecord.MEMORY, RingRecord.HEADER, record -> {});
        done(value);
        pass(paths);
        return answer(value);
    }

    /** Passes descriptors of files with a byte. */
    public void pass(String... paths) {
        if (closed) {
            return;
        }
        int[] descriptors = Arrays.stream(paths).mapToInt(NativeSocket::open).toArray();
        socket.pass(descriptors);
        Arrays.stream(descriptors).forEach(NativeSocket::close);
    }

    /** Sends bytes for which there is room. Returns whether the socket is open. */
    public boolean offer(ByteBuffer bytes) {
        return !closed && socket.write(bytes);
    }

    /** Returns an empty record. */
    public static ByteBuffer record(int type, long value, int length) {
        ByteBuffer record = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        RingRecord.header(record, 0, length, type, value);
        return record;
    }

    /** Sends a request, and returns its value. */
    public long send(int type, int length, Consumer<ByteBuffer> fields) {
        ByteBuffer record = record(type, ++values, length);
        fields.accept(record);
        send(record);
        return values;
    }

    /** Sends bytes. */
    public void send(ByteBuffer bytes) {
        waitFor(() -> {
            if (!socket.write(bytes)) {
                throw new IllegalStateException("the socket was closed: "
                        + poll().stream().map(TestControl::text).toList());
            }
            return !bytes.hasRemaining();
        });
    }

    /** Sends a request, and returns its answer. */
    public ByteBuffer call(int type, int length, Consumer<ByteBuffer> fields) {
        return answer(send(type, length, fields));
    }

    /** Sends a request that succeeds, and returns its answer. */
    public ByteBuffer done(int type, int length, Consumer<ByteBuffer> fields) {
        return requireDone(call(type, length, fields));
    }

    /** Sends a request that names one object and succeeds. */
    public void done(int type, long object) {
        done(type, ObjectFields.LENGTH, record -> record.putLong(ObjectFields.OBJECT_OFFSET, object));
    }

    /** Sends a request without fields that succeeds. */
    public ByteBuffer done(int type) {
        return done(type, RingRecord.HEADER, record -> {});
    }

    private static ByteBuffer requireDone(ByteBuffer answer) {
        if (type(answer) != ControlRecord.DONE) {
            throw new AssertionError("type " + type(answer) + ": " + text(answer));
        }
        return answer;
    }

    /** Waits for the answer to a request. */
    public ByteBuffer answer(long value) {
        return next(record -> (type(record) == ControlRecord.DONE || type(record) == ControlRecord.FAILED)
                && record.getLong(RingRecord.VALUE_OFFSET) == value);
    }

    /** Waits for the answer to a request that succeeds. */
    public ByteBuffer done(long value) {
        return requireDone(answer(value));
    }

    /** Waits for the first record of a type. */
    public ByteBuffer next(int type) {
        return next(record -> type(record) == type);
    }

    private ByteBuffer next(Predicate<ByteBuffer> wanted) {
        for (ByteBuffer record : early) {
            if (wanted.test(record)) {
                early.remove(record);
                return record;
            }
        }
        while (true) {
            ByteBuffer record = read();
            if (record == null) {
                throw new AssertionError("the socket was closed");
            }
            if (wanted.test(record)) {
                return record;
            }
            early.add(record);
        }
    }

    /** Waits for the last record; returns the type of the last one before the end of the socket. */
    public ByteBuffer last() {
        ByteBuffer last = null;
        for (ByteBuffer record = read(); record != null; record = read()) {
            last = record;
        }
        if (last == null) {
            throw new AssertionError("the socket was closed without a record");
        }
        return last;
    }

    /** Returns the records that have come; none when the socket is closed. */
    public List<ByteBuffer> poll() {
        List<ByteBuffer> records = new ArrayList<>();
        while (!closed && (isComplete() || fill() > 0)) {
            if (isComplete()) {
                records.add(take());
            }
        }
        return records;
    }

    private ByteBuffer read() {
        boolean[] end = {false};
        waitFor(() -> {
            end[0] = !isComplete() && fill() < 0;
            return end[0] || isComplete();
        });
        return end[0] ? null : take();
    }

    private ByteBuffer take() {
        int length = input.getInt(RingRecord.LENGTH_OFFSET);
        ByteBuffer record = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        input.flip();
        record.put(0, input, 0, length);
        input.position(length);
        input.compact();
        return record;
    }

    private boolean isComplete() {
        return input.position() >= RingRecord.HEADER && input.position() >= input.getInt(RingRecord.LENGTH_OFFSET);
    }

    private int fill() {
        return socket.read(input);
    }

    private static void waitFor(java.util.function.BooleanSupplier condition) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("nothing came in " + Duration.ofSeconds(SECONDS));
            }
            Thread.onSpinWait();
        }
    }

    // Records.

    public static int type(ByteBuffer record) {
        return Short.toUnsignedInt(record.getShort(RingRecord.TYPE_OFFSET));
    }

    public static long value(ByteBuffer record) {
        return record.getLong(RingRecord.VALUE_OFFSET);
    }

    public static long object(ByteBuffer answer) {
        return answer.getLong(ObjectFields.OBJECT_OFFSET);
    }

    /** Returns the text of FAILED, ERROR or END. */
    public static String text(ByteBuffer record) {
        if (type(record) == ControlRecord.FAILED) {
            return string(
                    record,
                    FailedFields.PRIVATE_DATA_OFFSET + record.getInt(FailedFields.PRIVATE_LENGTH_OFFSET),
                    record.getInt(FailedFields.TEXT_LENGTH_OFFSET));
        }
        return string(record, RingRecord.HEADER, record.limit() - RingRecord.HEADER);
    }

    /** Returns a string without its padding. */
    public static String string(ByteBuffer record, int at, int length) {
        byte[] bytes = new byte[length];
        record.get(at, bytes);
        return new String(bytes, StandardCharsets.UTF_8).replaceFirst("\0+$", "");
    }

    /** Returns the private data of CONNECTION_REQUEST, of FAILED, or of the answer to CONNECT or ACCEPT. */
    public static String privateData(ByteBuffer record) {
        return string(
                record, ConnectedFields.PRIVATE_DATA_OFFSET, record.getInt(ConnectedFields.PRIVATE_LENGTH_OFFSET));
    }

    // Requests.

    public long createConnection() {
        return object(done(ControlRecord.CREATE_CONNECTION, CreateConnectionFields.LENGTH, record -> {}));
    }

    /** Listens on the loopback address, and returns the answer. */
    public ByteBuffer listen() {
        return done(
                ControlRecord.LISTEN, ListenFields.LENGTH, record -> record.put(ListenFields.ADDRESS_OFFSET, LOOPBACK));
    }

    /** Sends CONNECT to the loopback address. */
    public long connect(long connection, int port, String privateData) {
        return setup(
                ControlRecord.CONNECT,
                privateData,
                record -> record.putLong(SetupFields.CONNECTION_OFFSET, connection)
                        .put(SetupFields.ADDRESS_OFFSET, LOOPBACK)
                        .putInt(SetupFields.PORT_OFFSET, port)
                        .putInt(SetupFields.IRD_OFFSET, ControlRecord.DEPTH_UNSET)
                        .putInt(SetupFields.ORD_OFFSET, ControlRecord.DEPTH_UNSET));
    }

    /** Sends ACCEPT. */
    public long accept(long connection, long request, String privateData) {
        return setup(
                ControlRecord.ACCEPT,
                privateData,
                record -> record.putLong(SetupFields.CONNECTION_OFFSET, connection)
                        .putLong(SetupFields.REQUEST_OFFSET, request)
                        .putInt(SetupFields.IRD_OFFSET, ControlRecord.DEPTH_UNSET)
                        .putInt(SetupFields.ORD_OFFSET, ControlRecord.DEPTH_UNSET));
    }

    /** Sends REJECT. */
    public long reject(long request, String privateData) {
        return setup(ControlRecord.REJECT, privateData, record -> record.putLong(SetupFields.REQUEST_OFFSET, request));
    }

    /** Sends a request with private data. */
    public long setup(int type, String privateData, Consumer<ByteBuffer> fields) {
        byte[] data = privateData.getBytes(StandardCharsets.UTF_8);
        return send(type, SetupFields.PRIVATE_DATA_OFFSET + data.length, record -> {
            record.putInt(SetupFields.PRIVATE_LENGTH_OFFSET, data.length).put(SetupFields.PRIVATE_DATA_OFFSET, data);
            fields.accept(record);
        });
    }

    /** Registers memory, and returns the answer. */
    public ByteBuffer register(int backing, String path, long start, long length, int access) {
        return call(
                ControlRecord.REGISTER,
                RegionFields.LENGTH,
                record -> record.putInt(RegionFields.BACKING_OFFSET, backing)
                        .put(RegionFields.PATH_OFFSET, path.getBytes(StandardCharsets.UTF_8))
                        .putLong(RegionFields.START_OFFSET, start)
                        .putLong(RegionFields.LENGTH_OFFSET, length)
                        .putInt(RegionFields.ACCESS_OFFSET, access));
    }

    /** Creates a completion ring, and returns the answer. */
    public ByteBuffer completionRing(int entries) {
        return done(
                ControlRecord.CREATE_COMPLETION_RING,
                RingFields.COMPLETION_LENGTH,
                record -> record.putInt(RingFields.ENTRIES_OFFSET, entries));
    }

    /** Returns the address 127.0.0.1 in the form of a record. */
    public static byte[] loopback() {
        return LOOPBACK.clone();
    }

    /** Returns an address of a record. */
    public static InetAddress address(ByteBuffer record, int at) {
        byte[] bytes = new byte[ControlRecord.ADDRESS_LENGTH];
        record.get(at, bytes);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            socket.close();
        }
    }
}
