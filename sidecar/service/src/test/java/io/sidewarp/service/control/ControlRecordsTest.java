// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.ring.ControlRecord;
import io.sidewarp.ring.ControlRecord.DisconnectFields;
import io.sidewarp.ring.ControlRecord.ObjectFields;
import io.sidewarp.ring.ControlRecord.OpenFields;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.ring.ControlRecord.SetupFields;
import io.sidewarp.ring.RingRecord;
import io.sidewarp.service.testing.TestControl;
import io.sidewarp.service.testing.TestSidecar;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that the control socket refuses records that break their layout, and that it bounds what waits. */
@Timeout(60)
class ControlRecordsTest {

    private TestSidecar sidecar;

    @BeforeEach
    void start() {
        sidecar = TestSidecar.start();
    }

    @AfterEach
    void stop() {
        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
        sidecar.close();
    }

    static Stream<Arguments> brokenRecords() {
        return Stream.of(
                broken(header(8, 1, 18), "a record has length 8; allowed: 16 to 4096"),
                broken(header(-1, 1, 18), "a record has length 4294967295; allowed: 16 to 4096"),
                broken(header(4097, 1, 18), "a record has length 4097; allowed: 16 to 4096"),
                broken(header(16, 2, 18), "a record has version 2; expected 1"),
                broken(header(16, 1, 0), "a record has type 0; expected 16 to 34"),
                broken(header(16, 1, 35), "a record has type 35; expected 16 to 34"),
                broken(header(16, 1, 65_535), "a record has type 65535; expected 16 to 34"),
                broken(
                        TestControl.record(ControlRecord.OPEN, 1, OpenFields.LENGTH),
                        "OPEN came again; a socket opens one session"),
                broken(TestControl.record(ControlRecord.DEREGISTER, 1, 16), "DEREGISTER has length 16; expected 24"),
                broken(
                        TestControl.record(ControlRecord.ALLOCATE_DOMAIN, 1, 24),
                        "ALLOCATE_DOMAIN has length 24; expected 16"),
                broken(
                        TestControl.record(ControlRecord.DISCONNECT, 1, 40).put(36, (byte) 1),
                        "DISCONNECT has a byte other than 0 at 36, where it has no field; set it to 0"),
                broken(
                        TestControl.record(ControlRecord.REJECT, 1, 72).put(56, (byte) 1),
                        "REJECT has a byte other than 0 at 56, where it has no field; set it to 0"),
                broken(TestControl.record(ControlRecord.CONNECT, 1, 64), "CONNECT has length 64; expected at least 72"),
                broken(
                        TestControl.record(ControlRecord.CONNECT, 1, 72).putInt(SetupFields.PRIVATE_LENGTH_OFFSET, 1),
                        "CONNECT has private_length 1, but the record has 0 bytes of private data"),
                broken(
                        TestControl.record(ControlRecord.ACCEPT, 1, 72).putInt(SetupFields.PRIVATE_LENGTH_OFFSET, -1),
                        "ACCEPT has private_length 4294967295, but the record has 0 bytes of private data"),
                broken(TestControl.record(ControlRecord.CONNECT, 1, 96), "CONNECT has length 96; expected 72"),
                broken(
                        TestControl.record(ControlRecord.CONNECT, 1, 80)
                                .putInt(SetupFields.PRIVATE_LENGTH_OFFSET, 5)
                                .put(79, (byte) 1),
                        "CONNECT has a byte other than 0 at 79, where it has no field; set it to 0"),
                broken(
                        register((byte) 'a', (byte) 0, (byte) 'b'),
                        "path has a byte other than 0 behind its first 0, at 66;" + " pad it with zeros"),
                broken(register((byte) 0xC3, (byte) 'a'), "path is no UTF-8"));
    }

    private static Arguments broken(ByteBuffer record, String text) {
        return Arguments.of(record, text);
    }

    private static ByteBuffer header(int length, int version, int type) {
        return TestControl.record(type, 1, RingRecord.HEADER)
                .putInt(RingRecord.LENGTH_OFFSET, length)
                .putShort(RingRecord.VERSION_OFFSET, (short) version);
    }

    private static ByteBuffer register(byte... path) {
        return TestControl.record(ControlRecord.REGISTER, 1, RegionFields.LENGTH)
                .put(RegionFields.PATH_OFFSET, path);
    }

    @ParameterizedTest
    @MethodSource("brokenRecords")
    void brokenRecordIsAnErrorAndEndsTheSession(ByteBuffer record, String text) {
        try (TestControl control = TestControl.open(sidecar)) {
            control.send(record.duplicate());

            ByteBuffer error = control.last();

            assertThat(TestControl.type(error)).isEqualTo(RingRecord.ERROR);
            assertThat(TestControl.value(error)).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
            assertThat(TestControl.text(error)).isEqualTo(text);
            Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
        }
    }

    @Test
    void anotherFirstRecordThanOpenOrHelloIsAnError() {
        try (TestControl control = TestControl.connect(sidecar)) {
            control.send(TestControl.record(ControlRecord.ALLOCATE_DOMAIN, 1, RingRecord.HEADER));

            assertThat(TestControl.text(control.last()))
                    .isEqualTo("the first record has type 18 and length 16; expected OPEN (16), or HELLO (1) with"
                            + " length 48");
        }
    }

    @Test
    void recordsMayComeInPieces() {
        try (TestControl control = TestControl.connect(sidecar)) {
            ByteBuffer both = ByteBuffer.allocate(OpenFields.LENGTH + RingRecord.HEADER)
                    .put(TestControl.record(ControlRecord.OPEN, 1, OpenFields.LENGTH))
                    .put(TestControl.record(ControlRecord.ALLOCATE_DOMAIN, 2, RingRecord.HEADER))
                    .flip();
            while (both.hasRemaining()) {
                control.send(both.slice(both.position(), 1));
                both.position(both.position() + 1);
            }

            control.done(1L);
            control.done(2L);
        }
    }

    @Test
    void valueThatIsImpossibleFailsAndTheSessionGoesOn() {
        try (TestControl control = TestControl.open(sidecar)) {
            assertThat(TestControl.text(control.register(3, "a", 0, 1, 0))).isEqualTo("backing is 3; allowed: 1 or 2");
            assertThat(TestControl.text(control.register(2, "a", 0, 1, 32)))
                    .isEqualTo("access is 32; allowed: a sum of 1, 2, 4, 8 and 16, each at most once");
            assertThat(TestControl.text(control.register(1, "a", 0, 1, 0)))
                    .isEqualTo("path is \"a\", but backing 1 has none; leave path empty");
            assertThat(TestControl.text(control.call(
                            ControlRecord.DISCONNECT,
                            DisconnectFields.LENGTH,
                            record -> record.putInt(DisconnectFields.ABORT_OFFSET, 2))))
                    .isEqualTo("abort is 2; allowed: 0 or 1");
            assertThat(TestControl.text(control.answer(control.connect(0, 1, ""))))
                    .isEqualTo("connection is 0; create one with CREATE_CONNECTION");
            assertThat(TestControl.text(control.call(ControlRecord.CREATE_WORK_RING, 32, record -> {})))
                    .contains("kind is 0");
            control.done(ControlRecord.ALLOCATE_DOMAIN);
        }
    }

    @Test
    void tooManyUnansweredRequestsAreAnError() {
        try (TestControl control = TestControl.open(sidecar)) {
            long connection = control.createConnection();
            ByteBuffer many = ByteBuffer.allocate((ControlRecord.MAX_UNANSWERED + 1) * DisconnectFields.LENGTH);
            for (int i = 0; i <= ControlRecord.MAX_UNANSWERED; i++) {
                // Waits a second for work that is never posted.
                many.put(TestControl.record(ControlRecord.DISCONNECT, i, DisconnectFields.LENGTH)
                        .putLong(DisconnectFields.CONNECTION_OFFSET, connection)
                        .putLong(DisconnectFields.AFTER_POSTS_OFFSET, 1000));
            }

            control.send(many.flip());

            ByteBuffer error = control.last();
            assertThat(TestControl.type(error)).isEqualTo(RingRecord.ERROR);
            assertThat(TestControl.value(error)).isEqualTo(Status.Code.RESOURCE_EXHAUSTED.value());
            assertThat(TestControl.text(error)).startsWith("4096 requests wait for an answer");
        }
    }

    @Test
    void clientThatDoesNotReadIsNotRead() {
        try (TestControl control = TestControl.open(sidecar)) {
            int sent = 0;
            ByteBuffer record = request(sent);
            long quiet = System.nanoTime();
            while (System.nanoTime() - quiet < TimeUnit.MILLISECONDS.toNanos(500)) {
                int before = record.position();
                assertThat(control.offer(record)).isTrue();
                if (record.position() != before) {
                    quiet = System.nanoTime();
                }
                if (!record.hasRemaining()) {
                    record = request(++sent);
                }
            }

            assertThat(sent).isLessThan(20_000);
            for (int i = 0; i < sent; i++) {
                assertThat(TestControl.type(control.answer(i))).isEqualTo(ControlRecord.FAILED);
            }
        }
    }

    /** Returns a request that fails at once, with a text. */
    private static ByteBuffer request(long value) {
        return TestControl.record(ControlRecord.DEREGISTER, value, ObjectFields.LENGTH);
    }

    @Test
    void sessionOfAClientThatDoesNotReadEndsWithItsSocket() {
        TestControl control = TestControl.open(sidecar);
        for (int i = 0; i < 10_000; i++) {
            control.offer(request(i));
        }

        control.close();

        Awaitility.await().until(() -> sidecar.sidecar().sessions().count() == 0);
    }
}
