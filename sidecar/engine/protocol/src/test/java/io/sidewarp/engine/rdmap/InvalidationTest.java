// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.Octets.hex;
import static io.sidewarp.engine.testing.Octets.join;
import static io.sidewarp.engine.testing.Ulpdus.sendInvalidate;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.AccessRight;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.testing.LoneStream;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.verbs.CqeStatus;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests STags that a peer may not invalidate. */
class InvalidationTest {

    @AutoClose
    private final LoneStream stream = new LoneStream();

    /** A region that exists, but that the peer may not use. */
    enum Foreign {
        OTHER_DOMAIN,
        OTHER_STREAM,
        SHARED_BY_STREAMS,
        WITHOUT_RIGHT;

        MemoryRegion register(TestMemory memory) {
            return switch (this) {
                case OTHER_DOMAIN -> memory.region(new Pd(9), 1, 0, 16, AccessRight.REMOTE_INVALIDATE);
                case OTHER_STREAM -> memory.regionOf(2, 16, AccessRight.REMOTE_INVALIDATE);
                case SHARED_BY_STREAMS -> memory.region(16);
                case WITHOUT_RIGHT -> memory.regionOf(1, 16, AccessRight.REMOTE_WRITE);
            };
        }
    }

    @BeforeEach
    void postReceive() {
        stream.endpoint().receive(1).with(stream.region(16)).post();
    }

    @ParameterizedTest
    @EnumSource(Foreign.class)
    @Requirement({
        "RDMAP-5.3-07",
        "RDMAP-7.2-04",
        "RDMAP-8.1.1-01",
        "RDMAP-8.1.1-02",
        "RDMAP-8.1.1-07",
        "RDMAP-4.8-05",
        "RDMAP-4.8-08"
    })
    void anStagThatIsNotThisStreamsAloneStaysValid(Foreign kind) {
        MemoryRegion foreign = kind.register(stream.memory());
        byte[] segment = sendInvalidate(1, foreign.stag());

        stream.input(segment);

        assertThat(foreign.isValid()).isTrue();
        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("01 09 C0 00 0012"), segment));
        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.FLUSHED);
    }

    @Test
    @Requirement({"RDMAP-7.2-04", "RDMAP-4.8-06", "RDMAP-4.8-08"})
    void anUnknownStagCannotBeInvalidated() {
        byte[] segment = sendInvalidate(1, 0x01020304);

        stream.input(segment);

        assertThat(stream.onlyOutput().payload()).isEqualTo(join(hex("02 09 C0 00 0012"), segment));
    }

    @Test
    @Requirement("RDMAP-7.2-04")
    void anStagCannotBeInvalidatedTwice() {
        MemoryRegion advertised = stream.endpoint().invalidatableRegion(16);
        stream.endpoint().receive(2).with(stream.region(16)).post();

        stream.input(sendInvalidate(1, advertised.stag()), sendInvalidate(2, advertised.stag()));

        assertThat(stream.completions().receiveStatuses()).containsExactly(CqeStatus.SUCCESS, CqeStatus.FLUSHED);
        assertThat(stream.onlyOutput().payload()).startsWith(hex("02 09 C0 00"));
    }
}
