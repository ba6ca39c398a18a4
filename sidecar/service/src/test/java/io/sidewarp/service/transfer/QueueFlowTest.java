// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.sidewarp.v1.QueuePost;
import io.sidewarp.v1.QueueRequest;
import io.sidewarp.v1.QueueResponse;
import io.sidewarp.v1.WorkRequest;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Tests when a Queue call requests messages and sends responses. */
class QueueFlowTest extends PlayedQueues {

    private final Caller caller = new Caller();

    @Test
    void nextRequestIsAskedForWhenAllWorkOfTheLastOneIsRefusedAndTold() throws Exception {
        QueueCallHandler queue = call(caller, 4);
        assertThat(caller.asked()).isEqualTo(2);

        receive(queue, refused(10));

        assertThat(caller.completions()).isEqualTo(10);
        assertThat(caller.asked()).isEqualTo(3);
    }

    @Test
    void workThatHoldsAllCreditsKeepsTheNextRequestOut() throws Exception {
        QueueCallHandler queue = call(caller, WORK_PER_MESSAGE);

        receive(queue, message());

        assertThat(caller.asked()).isEqualTo(2);
        onLoop(() -> {
            engine.complete();
            return true;
        });
        await().until(() -> caller.asked() == 3);
    }

    @Test
    void callerThatDoesNotReadGetsNoMoreWorkRefusedThanItHasCredits() throws Exception {
        QueueCallHandler queue = call(caller, 4);
        caller.stopReading();

        receive(queue, refused(10));

        assertThat(caller.completions()).isZero();
        assertThat(caller.asked()).isEqualTo(2);
        caller.readAgain();
        onLoop(() -> true);
        assertThat(caller.completions()).isEqualTo(10);
        assertThat(caller.asked()).isEqualTo(3);
    }

    @Test
    void manyCompletionsComeInSeveralResponses() throws Exception {
        QueueCallHandler queue = call(caller, 2000);

        receive(queue, refused(2000));

        assertThat(caller.told())
                .filteredOn(QueueResponse::hasCompletions)
                .hasSize(4)
                .allMatch(response -> response.getSerializedSize() < 1 << 20);
        assertThat(caller.completions()).isEqualTo(2000);
    }

    /** Work that names no connection. */
    private static QueueRequest refused(int count) {
        return QueueRequest.newBuilder()
                .setPost(
                        QueuePost.newBuilder().addAllWork(Collections.nCopies(count, WorkRequest.getDefaultInstance())))
                .build();
    }
}
