// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import static io.sidewarp.engine.testing.MpaPolicies.bits;

import io.sidewarp.engine.fuzz.FpduEncoder.Damage;
import io.sidewarp.engine.fuzz.FuzzedConnection.Answer;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.testing.Octets;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Fuzzes the whole state machine of a connection with a stream of bytes, in either role: start-up, FPDUs, segments and
 * messages. Work of the application, timeouts, half-closed and lost connections come in between.
 */
final class ConnectionFuzzer {

    private static final int MOST_STEPS = 300;
    private static final GuardedRegions REGIONS = new GuardedRegions();

    private final FuzzInput in;
    private final FuzzedConnection connection;
    private final PeerTraffic peer = new PeerTraffic(REGIONS);
    private final ByteArrayOutputStream heldBack = new ByteArrayOutputStream();
    private final int piece;
    private FpduEncoder encoder;

    private ConnectionFuzzer(MpaRole role, FuzzInput in) {
        this.in = in;
        int flags = in.octet();
        Answer answer = Answer.values()[(flags >> 2 & 3) % 3];
        boolean madeUpStartup = (flags & 0x10) != 0;
        MpaOptions options = MpaOptions.defaults()
                .with(bits((flags & 2) != 0, (flags & 1) != 0))
                .with(policy ->
                        policy.withRequestRevision((flags & 0x20) != 0 ? 2 : 1).withPeerToPeer((flags & 0x40) != 0));
        int pieceCode = in.octet();
        piece = pieceCode < 0x80 ? 0 : pieceCode - 0x7F;
        connection = new FuzzedConnection(REGIONS, role, options, answer, peer::onRequest, octets -> {});
        if (!madeUpStartup) {
            int peerFlags = in.octet();
            connection.receive(startupFrame(role, peerFlags), piece);
        }
    }

    /** Fuzzes the responder, which accepts a peer's connection. */
    static void responder(byte[] data) {
        run(MpaRole.RESPONDER, data);
    }

    /** Fuzzes the initiator, which connects to a peer. */
    static void initiator(byte[] data) {
        run(MpaRole.INITIATOR, data);
    }

    private static void run(MpaRole role, byte[] data) {
        REGIONS.reset();
        ConnectionFuzzer fuzzer = new ConnectionFuzzer(role, new FuzzInput(data));
        for (int steps = 0; steps < MOST_STEPS && !fuzzer.in.isEmpty(); steps++) {
            fuzzer.step();
        }
        fuzzer.connection.finish();
    }

    /** A valid frame of the peer, with any flags and revision 1 or 2. */
    private byte[] startupFrame(MpaRole role, int flags) {
        int revision = (flags & 0x08) != 0 ? 2 : 1;
        boolean enhanced = revision == 2 && (flags & 0x04) != 0;
        byte[] privateData = enhanced ? in.octets(4 + in.below(16)) : in.octets(flags & 0x03);
        byte[] key = (role == MpaRole.RESPONDER ? "MPA ID Req Frame" : "MPA ID Rep Frame")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] fields = {(byte) (flags & 0xE0 | (enhanced ? 0x10 : 0)), (byte) revision, 0, (byte) privateData.length};
        return Octets.join(key, fields, privateData);
    }

    private void step() {
        switch (in.below(12)) {
            case 0 -> connection.receive(in.octets(in.length()), piece);
            case 1, 2, 3, 4 -> segment(Damage.NONE);
            case 5 -> segment(Damage.values()[in.below(Damage.values().length)]);
            case 6, 7 -> connection.act(in);
            case 8 -> deliver();
            case 9 -> connection.setPeerReads(in.yes());
            case 10 -> connection.answer(in.yes());
            default -> event();
        }
    }

    /** Makes one FPDU, delivered at once or together with later FPDUs. */
    private void segment(Damage damage) {
        boolean hold = in.below(4) == 0;
        byte[] ulpdu = peer.next(in);
        if (encoder == null && connection.agreed() != null) {
            encoder = new FpduEncoder(
                    connection.agreed().crc(), connection.agreed().receiveMarkers());
        }
        if (encoder == null) {
            return;
        }
        heldBack.writeBytes(encoder.encode(ulpdu, damage));
        if (!hold) {
            deliver();
        }
    }

    private void deliver() {
        connection.receive(heldBack.toByteArray(), piece);
        heldBack.reset();
    }

    private void event() {
        switch (in.below(4)) {
            case 0, 1 -> connection.receiveEnd();
            case 2 -> connection.receiveLost();
            default -> connection.startupTimeout();
        }
    }
}
