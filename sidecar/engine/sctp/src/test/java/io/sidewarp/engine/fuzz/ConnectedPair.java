// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.fuzz;

import static io.sidewarp.engine.testing.MpaPolicies.bits;

import io.sidewarp.engine.fuzz.FuzzedConnection.Answer;
import io.sidewarp.engine.llp.mpa.MpaOptions;
import io.sidewarp.engine.llp.mpa.MpaRole;
import io.sidewarp.engine.testing.Link.Side;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/**
 * Two endpoints and the stream between them. A test delays, cuts and damages the stream. Both sides use CRCs, so no
 * damaged data may be accepted as a message.
 */
final class ConnectedPair {

    private static final GuardedRegions LEFT_REGIONS = new GuardedRegions();
    private static final GuardedRegions RIGHT_REGIONS = new GuardedRegions();

    /** Steps after which a pair is taken for one that never rests. */
    private static final int MOST_STEPS = 10_000;

    private final Node left = new Node(LEFT_REGIONS, RIGHT_REGIONS, MpaRole.INITIATOR, false);
    private final Node right = new Node(RIGHT_REGIONS, LEFT_REGIONS, MpaRole.RESPONDER, true);

    private Node node(Side side) {
        return side == Side.LEFT ? left : right;
    }

    /** The application of a side does something. */
    void act(Side side, byte[] what) {
        node(side).connection.act(new FuzzInput(what));
    }

    /** Lets octets arrive at a side, at most so many and in portions. */
    void deliver(Side side, int octets, int piece) {
        node(side).receive(node(side.other()), octets, piece);
    }

    /** Changes an octet that is on its way to a side. */
    void damage(Side side, int where, int how) {
        byte[] stream = node(side.other()).stream;
        if (stream.length > 0) {
            stream[where % stream.length] ^= (byte) how;
        }
    }

    /** A side begins or ceases to read. */
    void setReading(Side side, boolean reads) {
        node(side.other()).connection.setPeerReads(reads);
    }

    /** The connection breaks; what is on its way is lost. */
    void reset() {
        left.connection.receiveLost();
        right.connection.receiveLost();
    }

    void startupTimeout(Side side) {
        node(side).connection.startupTimeout();
    }

    /** Carries everything until both sides rest, breaks the connection if it lives on, and closes the books. */
    void finish() {
        for (Side side : Side.values()) {
            setReading(side, true);
        }
        boolean moving = true;
        for (int steps = 0; moving; steps++) {
            Violation.unless(steps < MOST_STEPS, "the pair does not come to rest");
            moving = left.receive(right, Integer.MAX_VALUE, 0);
            moving |= right.receive(left, Integer.MAX_VALUE, 0);
        }
        left.connection.finish();
        right.connection.finish();
    }

    /** Checks that each message that arrived equals the message that was sent in its turn. */
    void verifyMessages() {
        verifyMessages(left, right);
        verifyMessages(right, left);
    }

    private static void verifyMessages(Node from, Node to) {
        List<Long> sent = from.connection.application().sent();
        List<Long> received = to.connection.ledger().received();
        Violation.unless(
                received.size() <= sent.size() && received.equals(sent.subList(0, received.size())),
                "sent messages of " + sent + " octets, and received " + received);
    }

    /** An endpoint, and its sent bytes that have not arrived yet. */
    private static final class Node {

        private final FuzzedConnection connection;
        private byte[] stream = {};
        private boolean endReceived;

        Node(GuardedRegions regions, GuardedRegions ofPeer, MpaRole role, boolean markers) {
            regions.reset();
            MpaOptions options = MpaOptions.defaults().with(bits(markers, true));
            connection = new FuzzedConnection(regions, role, options, Answer.ACCEPT, request -> {}, this::onOutput);
            connection.application().setPeer(ofPeer);
        }

        private void onOutput(byte[] octets) {
            ByteArrayOutputStream longer = new ByteArrayOutputStream();
            longer.writeBytes(stream);
            longer.writeBytes(octets);
            stream = longer.toByteArray();
        }

        /** Takes from the other's stream; false when there was nothing to do. */
        boolean receive(Node peer, int octets, int piece) {
            if (connection.isOver()) {
                return false;
            }
            if (peer.connection.hasAborted()) {
                connection.receiveLost();
                return true;
            }
            if (peer.stream.length == 0) {
                if (endReceived || !peer.connection.hasSentEnd()) {
                    return false;
                }
                endReceived = true;
                connection.receiveEnd();
                return true;
            }
            int length = Math.min(octets, peer.stream.length);
            byte[] arrived = Arrays.copyOf(peer.stream, length);
            peer.stream = Arrays.copyOfRange(peer.stream, length, peer.stream.length);
            connection.receive(arrived, piece);
            return true;
        }
    }
}
