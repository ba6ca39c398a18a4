// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.DeregisterRegionRequest;
import io.sidewarp.v1.LoadRequest;
import io.sidewarp.v1.LoadResponse;
import io.sidewarp.v1.Region;
import java.util.Iterator;
import org.junit.jupiter.api.Test;

/** Tests the pieces of Load calls. */
class LoadTest {

    private static final int PIECE = 128 << 10;
    private static final int LENGTH = 4 << 20;

    @Test
    void aLoadComesInPiecesThatFitARequest() {
        try (TestSidecar sidecar = TestSidecar.start();
                TestSession session = sidecar.session()) {
            Region region = session.managed(LENGTH);
            byte[] data = new byte[LENGTH];
            data[LENGTH - 1] = 1;
            session.store(region.getId(), 0, data, PIECE);

            assertThat(session.memory()
                            .load(request(session, region))
                            .next()
                            .getData()
                            .size())
                    .isEqualTo(PIECE);
            assertThat(session.load(region.getId(), 0, LENGTH)).isEqualTo(data);
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

    private static LoadRequest request(TestSession session, Region region) {
        return LoadRequest.newBuilder()
                .setSession(session.token())
                .setRegion(region.getId())
                .build();
    }
}
