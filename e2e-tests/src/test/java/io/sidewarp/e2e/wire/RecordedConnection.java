// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.e2e.wire;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Bytes of both directions of a TCP connection without Markers. Each direction begins with its MPA start-up frame.
 *
 * @param initiator bytes of the side that connected
 * @param responder bytes of the side that accepted
 */
public record RecordedConnection(byte[] initiator, byte[] responder) {

    /** Returns whether the connection uses CRCs: the request of one side suffices (RFC 5044 section 7.1.1). */
    public boolean crc() {
        return frame(initiator).has(MpaFrame.CRC) || frame(responder).has(MpaFrame.CRC);
    }

    /**
     * Returns the ULPDUs of the initiator, followed by the ULPDUs of the responder.
     *
     * @throws UncheckedIOException if a CRC is wrong, or if a direction ends inside an FPDU
     */
    public List<byte[]> ulpdus() {
        List<byte[]> ulpdus = new ArrayList<>();
        collect(initiator, ulpdus);
        collect(responder, ulpdus);
        return ulpdus;
    }

    private void collect(byte[] octets, List<byte[]> into) {
        try {
            InputStream in = new ByteArrayInputStream(octets);
            MpaFrame.read(in);
            FpduDecoder decoder = new FpduDecoder(in, crc(), false).ignoringPadding();
            for (Optional<byte[]> next = decoder.next(); next.isPresent(); next = decoder.next()) {
                into.add(next.get());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private static MpaFrame frame(byte[] octets) {
        try {
            return MpaFrame.read(new ByteArrayInputStream(octets));
        } catch (IOException e) {
            throw new UncheckedIOException("recorded bytes do not begin with an MPA start-up frame", e);
        }
    }
}
