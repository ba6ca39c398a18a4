// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.ddp;

import static io.sidewarp.engine.testing.Octets.hex;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.memory.RegionUser;
import io.sidewarp.engine.memory.WireBuffer;
import io.sidewarp.engine.testing.RecordingDdpUser;
import io.sidewarp.engine.testing.SenderUpper;
import io.sidewarp.engine.testing.TestMemory;
import io.sidewarp.engine.testing.Ulpdus;
import io.sidewarp.engine.testing.WireEnd;
import io.sidewarp.engine.verbs.DdpError;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class DdpErrorHandlingTest {

    @AutoClose
    private final TestMemory memory = new TestMemory();

    private final WireEnd wire = new WireEnd();
    private final DdpSender sender = new DdpSender(3);
    private final SenderUpper upper = new SenderUpper(wire, sender);
    private final RecordingDdpUser user = new RecordingDdpUser(3);
    private final DdpReceiver receiver =
            new DdpReceiver(user, memory.stags(), new RegionUser(memory.protectionDomain(), 1), 3);

    @Test
    @Requirement({"DDP-6.2-01", "DDP-6.2.2-03", "DDP-6.2.2-04"})
    void anErrorEndsNothingBeforeTheUlpDecidesAndAMessageCanStillBeSent() {
        wire.attach(upper);
        byte[] segment = Ulpdus.untagged(0x43, 0x43, 0, 0, 1, 0, hex("01"));

        receiver.onSegment(WireBuffer.copyOf(segment), 0, segment.length);

        assertThat(user.error()).isEqualTo(DdpError.UNTAGGED_VERSION);
        assertThat(wire.outputEnded()).isFalse();
        assertThat(wire.aborted()).isFalse();
        sender.beginUntagged(
                0x47, 0, 2, (at, target, targetOffset, length) -> target.putInt(targetOffset, 0x12060000), 4);
        assertThat(upper.output()).hasSize(1);
        assertThat(wire.outputEnded()).isFalse();
    }
}
