// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perf;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.client.Connection;
import io.sidewarp.client.WorkQueue;
import io.sidewarp.client.WorkRequest;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DataEndTest {

    private final WorkRequest work = WorkRequest.receive(play(Connection.class, Map.of("id", 1L)));

    @Test
    void anEndWithoutACreditForItsWorkFailsTheTest() {
        DataEnd end = endOf(Map.of("tryPost", false, "credits", 3));

        end.post(1, work);

        assertThatExceptionOfType(Failure.class)
                .isThrownBy(end::check)
                .withMessageContainingAll("grants 3 work requests", "sidewarp.limits.queue-outstanding")
                .matches(failure -> failure.exitCode() == ExitCode.NO_RESOURCES);
    }

    @Test
    void anEndThatCouldPostGoesOn() {
        DataEnd end = endOf(Map.of("tryPost", true));

        end.post(1, work);

        assertThatCode(end::check).doesNotThrowAnyException();
    }

    private DataEnd endOf(Map<String, Object> queue) {
        return new SendRoundTrips(play(WorkQueue.class, queue), work, work, false);
    }

    /** Answers calls by the names of their methods. */
    private static <T> T play(Class<T> type, Map<String, Object> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (_, method, _) -> answers.get(method.getName())));
    }
}
