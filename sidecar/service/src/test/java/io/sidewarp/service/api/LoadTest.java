// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.MemoryServiceGrpc;
import io.sidewarp.v1.Region;
import java.util.Iterator;
import org.junit.jupiter.api.Test;

/** What Load calls send ahead of callers that do not read. */
class LoadTest {

    private static final int LARGE = 256 << 10;
    private static final int SMALL = 16 << 10;
    private static final int LENGTH = 4 << 20;

    @Test
    void aLoadThatMayHoldNoLargePiecesGoesOnInSmallOnes() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.load-octets", "0");
                TestSession session = sidecar.session()) {
            Region region = session.managed(LENGTH);
            byte[] data = new byte[LENGTH];
            data[LENGTH - 1] = 1;
            session.store(region.getId(), 0, data, 1 << 20);

            assertThat(firstPiece(session, region)).isEqualTo(SMALL);
            assertThat(session.load(region.getId(), 0, LENGTH)).isEqualTo(data);
        }
    }

    @Test
    void whatIsNotReadHoldsNoMoreThanItsShareUntilItsCallerLeaves() {
        // One connection may have one large piece, and leaves too little for another.
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.load-octets", Integer.toString(2 * LARGE));
                TestSession other = sidecar.session();
                TestSession reader = sidecar.session()) {
            Region region = reader.managed(LENGTH);
            assertThat(firstPiece(reader, region)).isEqualTo(LARGE);

            ClientCall<LoadRequest, LoadResponse> stalled = stall(other);

            await().untilAsserted(() -> assertThat(firstPiece(reader, region)).isEqualTo(SMALL));
            stalled.cancel("enough", null);
            await().untilAsserted(() -> assertThat(firstPiece(reader, region)).isEqualTo(LARGE));
        }
    }

    @Test
    void ofARegionThatIsDeregisteredNoMoreIsLoadedAndTheCallerHearsWhy() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session()) {
            Region region = session.managed(LENGTH);
            Iterator<LoadResponse> pieces = session.memory().load(request(session, region));
            pieces.next();
            session.memory()
                    .deregisterRegion(DeregisterRegionRequest.newBuilder()
                            .setSession(session.token())
                            .setRegion(region.getId())
                            .build());

            Status status = Waiting.status(() -> pieces.forEachRemaining(piece -> {}));

            assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(status.getDescription()).contains("was deregistered during the call");
        }
    }

    /** A Load whose responses nobody reads. */
    private static ClientCall<LoadRequest, LoadResponse> stall(TestSession session) {
        Region region = session.managed(LENGTH);
        ClientCall<LoadRequest, LoadResponse> call =
                session.channel().newCall(MemoryServiceGrpc.getLoadMethod(), CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {}, new Metadata());
        call.sendMessage(request(session, region));
        call.halfClose();
        return call;
    }

    private static int firstPiece(TestSession session, Region region) {
        Context.CancellableContext context = Context.ROOT.withCancellation();
        Context before = context.attach();
        try {
            return session.memory()
                    .load(request(session, region))
                    .next()
                    .getData()
                    .size();
        } finally {
            context.detach(before);
            context.cancel(null);
        }
    }

    private static LoadRequest request(TestSession session, Region region) {
        return LoadRequest.newBuilder()
                .setSession(session.token())
                .setRegion(region.getId())
                .build();
    }
}
