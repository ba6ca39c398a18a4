// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.Status;
import io.sidewarp.service.testing.TestQueue;
import io.sidewarp.service.testing.TestSession;
import io.sidewarp.service.testing.Waiting;
import io.sidewarp.v1.QueueRequest;
import org.junit.jupiter.api.Test;

/** The Queue call keeps what a queue of work promises. */
class QueueSemanticsTest extends QueueSemanticsSuite {

    @Override
    TestQueue open(TestSession session, int credits) {
        TestQueue queue = new TestQueue(session.channel(), session.token(), credits);
        assertThat(queue.credits()).isEqualTo(credits);
        return queue;
    }

    @Test
    void aRequestAboveTheLimitEndsTheCallWithTheLimit() {
        try (TestQueue queue = open(client, 1)) {
            queue.send(QueueRequest.newBuilder()
                    .setUnknownFields(UnknownFieldSet.newBuilder()
                            .addField(
                                    1000,
                                    UnknownFieldSet.Field.newBuilder()
                                            .addLengthDelimited(ByteString.copyFrom(new byte[256 << 10]))
                                            .build())
                            .build())
                    .build());

            Status status = Status.fromThrowable(Waiting.join(queue.failed()));
            assertThat(status.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(status.getDescription()).contains("at most 262144").contains("split it");
        }
    }
}
