// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.llp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.sidewarp.conformance.Requirement;
import io.sidewarp.engine.verbs.RtrKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EnhancedDataTest {

    @ParameterizedTest
    @CsvSource({
        // A B IRD C D ORD
        "8010c008, true, false, true, true, 16, 8",
        "00100008, false, false, false, false, 16, 8",
        "80010002, true, false, false, false, 1, 2",
        "c0010002, true, true, false, false, 1, 2",
        "80018002, true, false, true, false, 1, 2",
        "80014002, true, false, false, true, 1, 2",
        "ffffffff, true, true, true, true, 16383, 16383",
    })
    @Requirement("EMPA-9-01")
    void placesEachFieldWhereTheRfcHasIt(String word, boolean a, boolean b, boolean c, boolean d, int ird, int ord) {
        EnhancedData data = new EnhancedData(a, b, c, d, ird, ord);

        assertThat(data.encode()).isEqualTo((int) Long.parseLong(word, 16));
        assertThat(EnhancedData.decode((int) Long.parseLong(word, 16))).isEqualTo(data);
    }

    @Test
    @Requirement("EMPA-9.2-02")
    void ignoresRtrKindsOfAClientServerPeer() {
        assertThat(EnhancedData.decode(0x4001_C002)).isEqualTo(EnhancedData.clientServer(1, 2));
    }

    @Test
    void offersTheKindsThatItWasMadeWith() {
        EnhancedData data = EnhancedData.peerToPeer(List.of(RtrKind.SEND, RtrKind.READ), 1, 2);

        assertThat(RtrKind.values()).filteredOn(data::offers).containsExactly(RtrKind.SEND, RtrKind.READ);
    }

    @Test
    void refusesDepthsOfMoreThan14Bits() {
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedData.clientServer(0x4000, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedData.clientServer(0, -1));
    }
}
