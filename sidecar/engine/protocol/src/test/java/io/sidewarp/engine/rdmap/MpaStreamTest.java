// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.rdmap;

import static io.sidewarp.engine.testing.MpaPolicies.bits;
import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.memory.MemoryRegion;
import io.sidewarp.engine.testing.Link;
import io.sidewarp.engine.testing.Link.Side;
import io.sidewarp.engine.testing.MpaLink;
import io.sidewarp.engine.testing.StreamPair;
import io.sidewarp.engine.verbs.CqeStatus;
import io.sidewarp.engine.verbs.RtrKind;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests streams over MPA, with all results of start-up. */
class MpaStreamTest {

    private static Link.Type crc() {
        return MpaLink.type(MpaOptions.defaults(), MpaOptions.defaults());
    }

    private static Link.Type markers() {
        MpaOptions markers = MpaOptions.defaults().with(bits(true, true));
        return MpaLink.type(markers, markers);
    }

    private static Link.Type noCrcAndMarkersInOneDirection() {
        MpaOptions plain = MpaOptions.defaults().with(bits(false, false));
        return MpaLink.type(plain.with(bits(true, false)), plain);
    }

    private static Link.Type peerToPeer(RtrKind rtr) {
        MpaOptions options = MpaOptions.defaults()
                .with(policy ->
                        policy.withRequestRevision(2).withPeerToPeer(true).withRtr(rtr));
        return MpaLink.type(options, options);
    }

    @Nested
    class ExtensionsWithCrc extends ExtensionSuite {
        ExtensionsWithCrc() {
            super(crc());
        }
    }

    @Nested
    class TransfersWithCrc extends TransferSuite {
        TransfersWithCrc() {
            super(crc());
        }
    }

    @Nested
    class EndingsWithCrc extends EndingSuite {
        EndingsWithCrc() {
            super(crc());
        }
    }

    @Nested
    class ExtensionsWithMarkers extends ExtensionSuite {
        ExtensionsWithMarkers() {
            super(markers());
        }
    }

    @Nested
    class TransfersWithMarkers extends TransferSuite {
        TransfersWithMarkers() {
            super(markers());
        }
    }

    @Nested
    class EndingsWithMarkers extends EndingSuite {
        EndingsWithMarkers() {
            super(markers());
        }
    }

    @Nested
    class ExtensionsWithoutCrcAndWithMarkersInOneDirection extends ExtensionSuite {
        ExtensionsWithoutCrcAndWithMarkersInOneDirection() {
            super(noCrcAndMarkersInOneDirection());
        }
    }

    @Nested
    class TransfersWithoutCrcAndWithMarkersInOneDirection extends TransferSuite {
        TransfersWithoutCrcAndWithMarkersInOneDirection() {
            super(noCrcAndMarkersInOneDirection());
        }
    }

    @Nested
    class EndingsWithoutCrcAndWithMarkersInOneDirection extends EndingSuite {
        EndingsWithoutCrcAndWithMarkersInOneDirection() {
            super(noCrcAndMarkersInOneDirection());
        }
    }

    @Nested
    class TransfersOfPeersBegunByWrite extends TransferSuite {
        TransfersOfPeersBegunByWrite() {
            super(peerToPeer(RtrKind.WRITE));
        }
    }

    @Nested
    class ExtensionsOfPeersBegunByRead extends ExtensionSuite {
        ExtensionsOfPeersBegunByRead() {
            super(peerToPeer(RtrKind.READ));
        }
    }

    @Nested
    class TransfersOfPeersBegunByRead extends TransferSuite {
        TransfersOfPeersBegunByRead() {
            super(peerToPeer(RtrKind.READ));
        }
    }

    @Nested
    class TransfersOfPeersBegunBySend extends TransferSuite {
        TransfersOfPeersBegunBySend() {
            super(peerToPeer(RtrKind.SEND));
        }
    }

    @Nested
    class EndingsOfPeersBegunBySend extends EndingSuite {
        EndingsOfPeersBegunBySend() {
            super(peerToPeer(RtrKind.SEND));
        }
    }

    @Nested
    class TransfersWithRdmacPeers extends TransferSuite {
        TransfersWithRdmacPeers() {
            super(MpaLink.rdmacType());
        }
    }

    @Nested
    class EndingsWithRdmacPeers extends EndingSuite {
        EndingsWithRdmacPeers() {
            super(MpaLink.rdmacType());
        }
    }

    @ParameterizedTest
    @EnumSource
    @Requirement("EMPA-9.2-03")
    void theResponderOfPeersMaySendFirst(RtrKind rtr) {
        try (StreamPair pair = new StreamPair(peerToPeer(rtr))) {
            pair.left().receive(1).with(pair.left().region(3)).post();

            pair.right().send(2).with(pair.right().region(3)).post();
            pair.run();

            assertThat(pair.left().completions().receiveIds()).containsExactly(1L);
            assertThat(pair.left().completions().sends()).isEmpty();
            assertThat(pair.right().completions().sendIds()).containsExactly(2L);
            assertThat(pair.right().completions().receives()).isEmpty();
        }
    }

    @Test
    @Requirement({"MPA-C.1-02", "MPA-C.2.3-01", "MPA-3-07"})
    void bothSidesSayVersion0ToRdmacPeers() {
        try (StreamPair pair = new StreamPair(MpaLink.rdmacType())) {
            assertThat(pair.link().end(Side.LEFT).protocolVersion()).isZero();
            assertThat(pair.link().end(Side.RIGHT).protocolVersion()).isZero();
            MpaLink link = (MpaLink) pair.link();
            link.watch(Side.LEFT);
            MemoryRegion target = pair.right().region(4);
            pair.left().write(1).with(pair.left().region(4)).remote(target).post();
            pair.left().read(2).with(pair.left().region(4)).remote(target).post();
            pair.run();

            assertThat(pair.left().completions().sendStatuses()).containsExactly(CqeStatus.SUCCESS, CqeStatus.SUCCESS);
            // ULPDU_Length, then T, L and DV, then RV and the opcode: a Write.
            assertThat(link.watched()).startsWith(0x00, 0x12, 0xC0, 0x00);
        }
    }
}
