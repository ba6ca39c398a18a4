// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.operator.controller.https;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.http.HttpRequest;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class HttpsListenerTest {

    private static final Limits LIMITS =
            new Limits(8, 1 << 16, 1 << 10, Duration.ofSeconds(10), Duration.ZERO, Duration.ZERO);

    @Test
    void serverListensWhenTheUsedPortIsFree() throws Exception {
        List<Integer> ports = new CopyOnWriteArrayList<>();
        List<String> failures = new CopyOnWriteArrayList<>();
        ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        try (other;
                HttpsListener server =
                        new HttpsListener("test", LIMITS, new ServedKeys(), new NothingToSay(), () -> {})) {
            server.startPatiently("127.0.0.1", other.getLocalPort(), ports::add, failures::add);
            assertThat(failures).singleElement().asString().contains("Address already in use");

            other.close();

            await().atMost(Duration.ofSeconds(30)).until(() -> !ports.isEmpty());
            assertThat(ports).containsExactly(other.getLocalPort());
            assertThat(failures).hasSize(1);
        }
    }

    private static final class NothingToSay implements Responder {
        @Override
        public Optional<Answer> refuse(HttpRequest head) {
            return Optional.of(Answer.text(404, "nothing"));
        }

        @Override
        public Answer answer(HttpRequest head, byte[] body) {
            throw new AssertionError("refused before");
        }
    }
}
