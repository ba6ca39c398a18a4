// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.software;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.rdmap.RdmapStream;
import io.sidewarp.engine.rdmap.StreamListener;
import io.sidewarp.engine.rdmap.StreamSettings;
import io.sidewarp.engine.rdmap.StreamState;
import io.sidewarp.engine.testing.WireEnd;
import io.sidewarp.engine.verbs.ConnectionAttributes;
import io.sidewarp.engine.verbs.Cqe;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.QueuePairState;
import io.sidewarp.engine.verbs.Wr;
import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.provider.Endpoint;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests states of a queue pair at exact moments, which a test with two devices cannot choose. */
final class SoftwareQueuePairTest {

    private final SoftwareProvider provider =
            SoftwareProvider.builder().eventLoops(1).build();
    private final SoftwareDevice device = (SoftwareDevice) provider.open();
    private final Endpoint endpoint = new Endpoint(device, 16);
    private final SoftwareQueuePair queuePair = (SoftwareQueuePair) endpoint.queuePair;
    private final WireEnd wire = new WireEnd();

    @AfterEach
    void close() {
        device.close();
        provider.close();
    }

    /** Attaches a stream over the wire to the queue pair. Runs on the event loop of the queue pair. */
    private void establish(StreamListener listener) {
        RdmapStream stream = new RdmapStream(
                wire,
                new StreamSettings(
                        queuePair.regionUser(),
                        device.stags(),
                        queuePair.sendQueue(),
                        queuePair.receives(),
                        1,
                        1,
                        device.settings().maxShortSegments(),
                        device.atomics(),
                        true,
                        queuePair,
                        listener));
        wire.attach(stream);
        queuePair.onEstablished(stream, ConnectionAttributes.UNCONNECTED);
    }

    /** Only the event loop may ask the lower layer, so other threads see the MULPDU of the last output. */
    @Test
    void attributesReportMulpduOfLastOutput() throws Exception {
        wire.mulpdu(1000);
        queuePair
                .loop()
                .submit(() -> {
                    establish(queuePair);
                    wire.mulpdu(2000);
                })
                .get(10, TimeUnit.SECONDS);
        assertThat(queuePair.attributes().mulpdu()).isEqualTo(1000);

        queuePair
                .loop()
                .submit(() -> {
                    endpoint.postSend(new Wr().reset(1, WrOpcode.SEND));
                    wire.output();
                })
                .get(10, TimeUnit.SECONDS);

        assertThat(queuePair.attributes().mulpdu()).isEqualTo(2000);
        queuePair.loop().submit(() -> wire.over(false, "reset")).get(10, TimeUnit.SECONDS);
    }

    @Test
    @Requirement("DDP-6.2.2-02")
    void aReceiveThatIsPostedWhileTheStreamIsLostIsFlushed() throws Exception {
        StreamListener behindTheStreamsFlush = (state, error, message) -> {
            if (state == StreamState.CLOSED) {
                assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
                endpoint.postReceive(1, 0, 16);
            }
            queuePair.onStreamState(state, error, message);
        };

        queuePair
                .loop()
                .submit(() -> {
                    establish(behindTheStreamsFlush);
                    wire.over(false, "reset");
                })
                .get(10, TimeUnit.SECONDS);

        Cqe[] one = {new Cqe()};
        assertThat(endpoint.completions.poll(one)).isEqualTo(1);
        assertThat(one[0].status()).isEqualTo(CqeStatus.FLUSHED);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.CLOSED);
    }
}
