// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.perftest;

import io.sidewarp.cli.ExitCode;
import io.sidewarp.cli.Failure;
import io.sidewarp.cli.wire.Mailbox;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Messages that the two sides of perftest exchange by Sends on a separate connection. The client always sends first.
 * The server answers with a message of the same kind and length.
 */
final class Exchange {

    /** Version of the protocol of perftest 4.5, in rdma-core 44 (Debian 12). */
    private static final String VERSION = "6.06";

    /** First version with these messages. */
    private static final double OLDEST_VERSION = 5.70;

    private static final int VERSION_LENGTH = 16;
    private static final int PAGE = 4096;
    private static final int CACHE_LINE = 64;

    /** Number of InfiniBand's path MTU that is nearest to Ethernet's, as text. */
    private static final byte[] MTU = {'3', 0};

    private final Mailbox mailbox;
    private final boolean client;

    Exchange(Mailbox mailbox, boolean client) {
        this.mailbox = mailbox;
        this.client = client;
    }

    /**
     * Exchanges the first messages: version, page, cache line, MTU.
     *
     * @return bytes of a page, the larger value of the two sides
     */
    int begin() {
        ByteBuffer version = ByteBuffer.allocate(VERSION_LENGTH);
        version.put(VERSION.getBytes(StandardCharsets.US_ASCII)).rewind();
        checkVersion(swap(version));
        int page = swap(ofInt(PAGE)).getInt();
        swap(ofInt(CACHE_LINE));
        swap(ByteBuffer.wrap(MTU));
        if (page < 1 || page > 1 << 20) {
            throw new Failure(ExitCode.PROTOCOL, "the peer's page has " + page + " bytes; is it perftest?");
        }
        return Math.max(page, PAGE);
    }

    /** Waits for the other side, and learns where its memory is. */
    Destination meet(Destination mine) {
        return Destination.decode(swap(mine.encode()));
    }

    /** Sends the results of this side, and returns those of the other side. */
    Report report(Report mine) {
        return new Report(
                swap(ofLong(mine.size())).getLong(),
                swap(ofLong(mine.iterations())).getLong(),
                swap(ofDouble(mine.peakMebibytes())).getDouble(),
                swap(ofDouble(mine.averageMebibytes())).getDouble(),
                swap(ofDouble(mine.megaMessages())).getDouble());
    }

    /**
     * Results of one side. The values are arbitrary for a side that does not measure.
     *
     * @param size bytes of a message
     * @param iterations messages of all connections
     * @param peakMebibytes MiB/s
     * @param averageMebibytes MiB/s
     * @param megaMessages millions of messages a second
     */
    record Report(long size, long iterations, double peakMebibytes, double averageMebibytes, double megaMessages) {

        static final Report NONE = new Report(0, 0, 0, 0, 0);
    }

    private ByteBuffer swap(ByteBuffer mine) {
        if (client) {
            mailbox.send(mine);
        }
        ByteBuffer theirs = mailbox.receive();
        if (theirs.remaining() != mine.remaining()) {
            throw new Failure(
                    ExitCode.PROTOCOL,
                    "the peer sent " + theirs.remaining() + " bytes instead of " + mine.remaining()
                            + ": does it run the same test of perftest, with -R?");
        }
        if (!client) {
            mailbox.send(mine);
        }
        return theirs;
    }

    private static void checkVersion(ByteBuffer theirs) {
        String text = StandardCharsets.US_ASCII.decode(theirs).toString().split("\0", 2)[0];
        try {
            if (Double.parseDouble(text) >= OLDEST_VERSION) {
                return;
            }
        } catch (NumberFormatException e) {
            // The failure is thrown below.
        }
        throw new Failure(
                ExitCode.PROTOCOL,
                "the peer speaks version \"" + text.replaceAll("[^ -~]", "?") + "\" of the protocol, and not "
                        + OLDEST_VERSION + " or newer; is it perftest?");
    }

    private static ByteBuffer ofInt(int value) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(0, value);
    }

    private static ByteBuffer ofLong(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(0, value);
    }

    private static ByteBuffer ofDouble(double value) {
        return ByteBuffer.allocate(Double.BYTES).putDouble(0, value);
    }
}
