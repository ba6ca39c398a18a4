// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status;
import io.sidewarp.v1.ConnectionRequest;
import io.sidewarp.v1.ListenResponse;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the log lines about failing handlers of incoming connections. */
class ListenerLogTest extends FakeSidecarTest {

    private final BlockingQueue<LogRecord> lines = new LinkedBlockingQueue<>();
    private final Logger logger = Logger.getLogger(GrpcListener.class.getName());
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord line) {
            lines.add(line);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    @BeforeEach
    void begin() {
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
    }

    @AfterEach
    void end() {
        logger.removeHandler(handler);
        logger.setUseParentHandlers(true);
    }

    @Test
    void aPeerThatHasLeftIsToldInOneLine() throws Exception {
        sidecar.connections.acceptFailures.add(
                Status.NOT_FOUND.withDescription("the request has lapsed").asRuntimeException());

        LogRecord line = lineOf(IncomingConnection::accept);

        assertThat(line.getLevel()).isEqualTo(Level.WARNING);
        assertThat(line.getMessage()).contains("failed for 127.0.0.9:9: the request has lapsed");
        assertThat(line.getThrown()).isNull();
    }

    @Test
    void aMistakeOfTheHandlerIsToldWithItsStack() throws Exception {
        IllegalStateException mistake = new IllegalStateException("thrown by the test");

        LogRecord line = lineOf(incoming -> {
            throw mistake;
        });

        assertThat(line.getThrown()).isSameAs(mistake);
    }

    private LogRecord lineOf(Consumer<IncomingConnection> failing) throws InterruptedException {
        try (Listener listener = session.listen("", 0, failing)) {
            FakeSidecar.next(sidecar.connections.listeners)
                    .onNext(ListenResponse.newBuilder()
                            .setRequest(ConnectionRequest.newBuilder()
                                    .setId(60)
                                    .setRemoteAddress("127.0.0.9")
                                    .setRemotePort(9))
                            .build());
            LogRecord line = FakeSidecar.next(lines);
            assertThat(listener.closed()).isNotDone();
            return line;
        }
    }
}
