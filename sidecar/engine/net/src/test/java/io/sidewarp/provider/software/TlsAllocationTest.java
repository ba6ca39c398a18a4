// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.engine.net.tls.TestAuthority;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.SecurityPolicy;
import io.sidewarp.engine.verbs.TlsUse;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that only the TLS engine of the Java library allocates for a record once the connection is warm. Flight Recorder
 * samples each allocation of a loop by its stack, because the engine's own allocations hide others in a sum.
 */
@Timeout(120)
final class TlsAllocationTest {

    private static final TestAuthority AUTHORITY = new TestAuthority("example.org");
    private static final SecurityPolicy REQUIRED = SecurityPolicy.of(TlsUse.REQUIRED);
    private static final int LENGTH = 1 << 20;
    private static final int WARM_UP = 150;
    private static final int MEASURED = 150;

    /** Number of idle connections. */
    private static final int IDLE = 100;

    /** Largest payload of a record (RFC 8446 section 5.1). */
    private static final int RECORD = 1 << 14;

    private final TlsBed bed = new TlsBed(AUTHORITY.credentials("cart"), AUTHORITY.credentials("db"));
    private final Endpoint client = new Endpoint(bed.clientDevice, LENGTH);
    private final Endpoint server = new Endpoint(bed.serverDevice, LENGTH);
    private final Wr request = new Wr();

    @TempDir
    private Path directory;

    @AfterEach
    void close() {
        bed.close();
    }

    private void stream(int messages) {
        for (int i = 0; i < messages; i++) {
            client.postSend(request.reset(1, WrOpcode.RDMA_WRITE)
                    .addSge(client.region, 0, LENGTH)
                    .remote(server.region.stag(), 0));
            client.postSend(request.reset(2, WrOpcode.RDMA_READ)
                    .addSge(client.region, 0, LENGTH)
                    .remote(server.region.stag(), 0));
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
            assertThat(client.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
    }

    private Set<Long> loops() throws Exception {
        Set<Long> threads = new HashSet<>();
        for (SoftwareDevice device : List.of(bed.client(), (SoftwareDevice) bed.serverDevice)) {
            threads.add(device.loops()
                    .choose()
                    .submit(() -> Thread.currentThread().threadId())
                    .get());
        }
        return threads;
    }

    @Test
    void onlyTheTlsEngineAllocatesForARecord() throws Exception {
        bed.connect(client, server, bed.listen(REQUIRED), TlsBed.asking(REQUIRED));
        Set<Long> loops = loops();
        stream(WARM_UP);
        Path file = directory.resolve("allocations.jfr");
        try (Recording recording = new Recording()) {
            recording
                    .enable("jdk.ObjectAllocationSample")
                    .with("throttle", "10000/s")
                    .withStackTrace();
            recording.start();
            stream(MEASURED);
            recording.dump(file);
        }

        List<RecordedEvent> ofTls = new ArrayList<>();
        List<RecordedEvent> others = new ArrayList<>();
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (event.getThread() != null && loops.contains(event.getThread().getJavaThreadId())) {
                (isOfTlsEngine(event) ? ofTls : others).add(event);
            }
        }
        assertThat(ofTls).hasSizeGreaterThan(20);
        // One small object for each record would be 2 percent. A rare one, as for a doorbell, is less.
        assertThat(weight(others)).as(others::toString).isLessThan(weight(ofTls) / 100);
    }

    @Test
    void anIdleConnectionHoldsNoBufferOfARecord() throws Exception {
        long plain = heapOfAConnection(SecurityPolicy.PLAIN);
        long tls = heapOfAConnection(REQUIRED);

        // Both ends are in this heap. Two TLS engines with their sessions take less than two full records.
        assertThat(tls - plain).isLessThan(2 * RECORD);
    }

    private long heapOfAConnection(SecurityPolicy policy) throws Exception {
        InetSocketAddress listener = bed.listen(policy);
        connectAndRead(listener, policy);
        long before = heap();
        connectAndRead(listener, policy);
        return (heap() - before) / IDLE;
    }

    private void connectAndRead(InetSocketAddress listener, SecurityPolicy policy) throws Exception {
        for (int i = 0; i < IDLE; i++) {
            Endpoint initiator = new Endpoint(bed.clientDevice, RECORD);
            Endpoint responder = new Endpoint(bed.serverDevice, RECORD);
            bed.connect(initiator, responder, listener, TlsBed.asking(policy));
            initiator.postSend(request.reset(1, WrOpcode.RDMA_READ)
                    .addSge(initiator.region, 0, RECORD)
                    .remote(responder.region.stag(), 0));
            assertThat(initiator.awaitCompletion().status()).isEqualTo(CqeStatus.SUCCESS);
        }
    }

    @SuppressWarnings("DoNotCall") // Garbage is not memory that connections take.
    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static boolean isOfTlsEngine(RecordedEvent event) {
        return event.getStackTrace().getFrames().stream()
                .map(frame -> frame.getMethod().getType().getName())
                .anyMatch(type -> type.startsWith("sun.security.ssl.") || type.startsWith("javax.net.ssl."));
    }

    private static long weight(List<RecordedEvent> events) {
        return events.stream().mapToLong(event -> event.getLong("weight")).sum();
    }
}
