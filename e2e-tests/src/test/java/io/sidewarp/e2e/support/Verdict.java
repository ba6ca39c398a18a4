// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.sidewarp.e2e.wire.RecordedConnection;
import io.sidewarp.e2e.wire.Ulpdu;
import java.util.List;

/**
 * Common result of two independent decoders, tshark and the tests' own decoder, for recorded connections.
 *
 * @param ulpdus ULPDUs of all connections and both directions
 */
public record Verdict(List<byte[]> ulpdus) {

    /**
     * Judges what was recorded, once so many connections have ended: nothing malformed or cut off, and a right CRC in
     * each FPDU or in none.
     */
    public static Verdict of(Capture capture, int connections, boolean crc) {
        capture.stopBehind(connections);
        Dissection dissected = capture.dissect().assertNothingMalformed();
        List<RecordedConnection> recorded = capture.connections();
        assertThat(recorded).hasSize(connections).allMatch(connection -> connection.crc() == crc);
        List<byte[]> ulpdus =
                recorded.stream().flatMap(one -> one.ulpdus().stream()).toList();
        assertThat(ulpdus).isNotEmpty();
        assertThat(dissected.fpdus()).as("FPDUs that tshark found").isEqualTo(ulpdus.size());
        assertThat(dissected.goodCrcs()).as("right CRCs that tshark found").isEqualTo(crc ? ulpdus.size() : 0);
        return new Verdict(ulpdus);
    }

    /**
     * Returns the number of messages with an RDMAP Control Field. Does not count a Write without data, which indicates
     * readiness in the peer-to-peer model.
     *
     * @param control such as {@link Ulpdu#SEND}
     */
    public long messages(int control) {
        return ulpdus.stream()
                .filter(ulpdu -> (ulpdu[1] & 0xFF) == control && Ulpdu.isLast(ulpdu))
                .filter(ulpdu -> Ulpdu.payload(ulpdu).length > 0)
                .count();
    }
}
