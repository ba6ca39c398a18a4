// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.client.Access;
import io.sidewarp.client.Connection;
import io.sidewarp.client.ConnectionInfo;
import io.sidewarp.client.RemoteAddress;
import io.sidewarp.client.Session;
import io.sidewarp.client.SharedRegion;
import io.sidewarp.client.SidewarpClient;
import io.sidewarp.client.WorkCompletion;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import io.sidewarp.e2e.support.Link;
import io.sidewarp.e2e.support.Logs;
import io.sidewarp.e2e.support.Patience;
import io.sidewarp.e2e.support.Pattern;
import io.sidewarp.e2e.support.SidecarProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Transfers gigabytes over several connections at the same time, and compares checksums of all data. */
@ExtendWith(Logs.class)
class BulkIT {

    private static final int CONNECTIONS = 4;
    private static final int REGION = 64 << 20;

    /** Each round writes a region and reads another one: 1 GiB for each connection. */
    private static final int ROUNDS = 8;

    private static final int LARGEST = 4 << 20;
    private static final int DEPTH = 16;

    @Test
    void fourConnectionsMoveAGibibyteEachUnchanged() {
        Executor threads = task -> Thread.ofPlatform().start(task);
        try (SidecarProcess left = SidecarProcess.start("left");
                SidecarProcess right = SidecarProcess.start("right");
                SidewarpClient leftClient = left.client();
                SidewarpClient rightClient = right.client();
                Session here = leftClient.openSession("here");
                Session there = rightClient.openSession("there")) {
            List<CompletableFuture<Void>> transfers = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Mover mover = new Mover(here, there, i);
                transfers.add(CompletableFuture.runAsync(mover, threads));
            }
            transfers.forEach(transfer -> Patience.get(transfer, Patience.LONG_LIMIT));
        }
    }

    /**
     * Writes one region to the peer and at the same time reads another region from the peer, in pieces of all sizes.
     */
    private static final class Mover implements Runnable {

        private final Session session;
        private final Connection connection;
        private final SharedRegion outgoing;
        private final SharedRegion incoming;
        private final SharedRegion target;
        private final SharedRegion source;
        private final SplittableRandom random;
        private final List<WorkCompletion> failed = new CopyOnWriteArrayList<>();

        Mover(Session here, Session there, int number) {
            session = here;
            outgoing = here.createSharedRegion("outgoing-" + number, REGION);
            incoming = here.createSharedRegion("incoming-" + number, REGION, Access.LOCAL_WRITE);
            target = there.createSharedRegion("target-" + number, REGION, Access.REMOTE_WRITE, Access.REMOTE_READ);
            source = there.createSharedRegion("source-" + number, REGION, Access.REMOTE_READ);
            random = new SplittableRandom(number);
            connection = Link.connect(here, there).initiator();
            assertThat(connection.established().agreed().crc()).isTrue();
        }

        @Override
        public void run() {
            for (int round = 0; round < ROUNDS; round++) {
                Pattern.fill(outgoing.segment(), random.nextLong());
                Pattern.fill(source.segment(), random.nextLong());
                transfer();
                assertThat(Pattern.checksum(target.segment())).isEqualTo(Pattern.checksum(outgoing.segment()));
                assertThat(Pattern.checksum(incoming.segment())).isEqualTo(Pattern.checksum(source.segment()));
            }
            ConnectionInfo.Counters counters = connection.info().counters();
            assertThat(counters.bytesSent() + counters.bytesReceived()).isEqualTo(2L * ROUNDS * REGION);
        }

        private void transfer() {
            try (WorkQueue queue = session.openQueue(DEPTH)) {
                queue.onCompletion(this::onCompletion);
                int written = 0;
                int read = 0;
                while (written < REGION || read < REGION) {
                    if (written < REGION) {
                        int length = piece(REGION - written);
                        queue.post(
                                1,
                                WorkRequest.write(
                                        connection, target.address(written), outgoing.slice(written, length)));
                        written += length;
                    }
                    if (read < REGION) {
                        int length = piece(REGION - read);
                        queue.post(2, WorkRequest.read(connection, source.address(read), incoming.slice(read, length)));
                        read += length;
                    }
                }
                assertThat(queue.drain(Patience.LONG_LIMIT)).isTrue();
                assertThat(failed).isEmpty();
            }
            // The answer to a read comes when all that was written before it is placed (RFC 5040 section 5.5).
            connection.read(incoming.slice(0, 0), new RemoteAddress(target.stag(), target.baseTaggedOffset()));
        }

        private void onCompletion(WorkCompletion completion) {
            if (!completion.isSuccess()) {
                failed.add(completion);
            }
        }

        /** Mostly odd lengths, some of them tiny. */
        private int piece(int left) {
            return Math.min(left, 1 + random.nextInt(random.nextInt(8) == 0 ? 100 : LARGEST));
        }
    }
}
