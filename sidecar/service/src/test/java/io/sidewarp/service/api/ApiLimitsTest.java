// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.TestSidecar;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.DeviceServiceGrpc;
import io.sidewarp.v1.GetDeviceRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the limits on API connections and calls of clients. */
class ApiLimitsTest {

    @Test
    void aCallBeyondThoseOfItsConnectionIsRefusedUntilOneEnds() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.api-connection-calls", "3");
                TestSession session = sidecar.session();
                TestQueue first = session.queue(1);
                TestQueue second = session.queue(1);
                TestSession other = sidecar.session()) {
            first.credits();
            second.credits();

            Status status = Waiting.status(() -> getDevice(session.channel()));

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("sidewarp.limits.api-connection-calls", "raise the setting");
            getDevice(other.channel());
            first.close();
            await().untilAsserted(() -> getDevice(session.channel()));
        }
    }

    @Test
    void manyCallsTooManyAreRefusedAndNoneIsHeldBack() {
        List<TestQueue> queues = new ArrayList<>();
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.api-connection-calls", "3");
                TestSession session = sidecar.session()) {
            for (int i = 0; i < 500; i++) {
                queues.add(session.queue(1));
            }

            for (TestQueue queue : queues.subList(2, queues.size())) {
                assertThat(Status.fromThrowable(Waiting.join(queue.failed())).getCode())
                        .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            }
            assertThat(queues.get(1).credits()).isEqualTo(1);
        } finally {
            queues.forEach(TestQueue::close);
        }
    }

    @Test
    void oneConnectionDoesNotTakeAllCallsOfTheSidecar() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.api-calls", "9");
                TestSession greedy = sidecar.session();
                TestQueue first = greedy.queue(1);
                TestQueue second = greedy.queue(1)) {
            first.credits();
            second.credits();

            Status status = Waiting.status(() -> getDevice(greedy.channel()));

            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("sidewarp.limits.api-calls", "raise the setting");
            try (TestSession other = sidecar.session()) {
                assertThat(other.token()).isNotEmpty();
            }
        }
    }

    @Test
    void theFewestCallsThatThereMayBeAreEnoughForASession() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.api-calls", "6");
                TestSession session = sidecar.session()) {
            getDevice(session.channel());
        }
    }

    @Test
    void oneConnectionMoreThanAUserMayHaveIsToldWhy() {
        try (TestSidecar sidecar = TestSidecar.start("sidewarp.limits.api-connections", "4");
                TestSession first = sidecar.session();
                TestSession second = sidecar.session()) {
            ManagedChannel third = sidecar.channel();
            try {
                Status status = Waiting.status(() -> getDevice(third));

                assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                assertThat(status.getDescription())
                        .contains("sidewarp.limits.api-connections", "the limit is 4", "raise the setting");
                assertThat(sidecar.get("/q/metrics"))
                        .containsPattern("sidewarp_quota_refusals_total.*sidewarp.limits.api-connections");
                getDevice(first.channel());
                second.close();
                // The refused connection ends by itself, and the channel makes another one.
                await().ignoreExceptions().untilAsserted(() -> getDevice(third));
            } finally {
                TestSidecar.close(third);
            }
        }
    }

    private static void getDevice(ManagedChannel channel) {
        DeviceServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(10, TimeUnit.SECONDS)
                .getDevice(GetDeviceRequest.getDefaultInstance());
    }
}
