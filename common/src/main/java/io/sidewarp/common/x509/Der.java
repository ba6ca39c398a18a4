// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.common.x509;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Writes the few forms of DER (X.690) that certificates need. Each method returns one element with tag and length. */
final class Der {

    private static final int INTEGER = 0x02;
    private static final int BIT_STRING = 0x03;
    private static final int OCTET_STRING = 0x04;
    private static final int OBJECT_IDENTIFIER = 0x06;
    private static final int UTF8_STRING = 0x0C;
    private static final int UTC_TIME = 0x17;
    private static final int GENERALIZED_TIME = 0x18;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int CONTEXT = 0x80;
    private static final int CONSTRUCTED = 0x20;
    /** First moment that UTCTime cannot express (RFC 5280 section 4.1.2.5). */
    private static final Instant YEAR_2050 = Instant.parse("2050-01-01T00:00:00Z");

    private static final DateTimeFormatter SHORT =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter LONG =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    private Der() {}

    static byte[] sequence(byte[]... parts) {
        return element(SEQUENCE, concat(parts));
    }

    static byte[] sequence(List<byte[]> parts) {
        return sequence(parts.toArray(byte[][]::new));
    }

    static byte[] set(byte[] part) {
        return element(SET, part);
    }

    static byte[] integer(BigInteger value) {
        return element(INTEGER, value.toByteArray());
    }

    static byte[] integer(int value) {
        return integer(BigInteger.valueOf(value));
    }

    static byte[] isTrue() {
        return new byte[] {0x01, 0x01, (byte) 0xFF};
    }

    /** Returns a bit string whose last octet has unused bits. */
    static byte[] bitString(int unused, byte[] bits) {
        return element(BIT_STRING, concat(new byte[] {(byte) unused}, bits));
    }

    static byte[] octetString(byte[] octets) {
        return element(OCTET_STRING, octets);
    }

    static byte[] utf8(String text) {
        return element(UTF8_STRING, text.getBytes(StandardCharsets.UTF_8));
    }

    static byte[] time(Instant instant) {
        return instant.isBefore(YEAR_2050)
                ? element(UTC_TIME, SHORT.format(instant).getBytes(StandardCharsets.US_ASCII))
                : element(GENERALIZED_TIME, LONG.format(instant).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns an object identifier, given as in 1.2.840.10045.4.3.2. */
    static byte[] oid(String dotted) {
        String[] arcs = dotted.split("\\.", -1);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(40 * Integer.parseInt(arcs[0]) + Integer.parseInt(arcs[1]));
        for (int i = 2; i < arcs.length; i++) {
            int arc = Integer.parseInt(arcs[i]);
            for (int shift = 28; shift > 0; shift -= 7) {
                if (arc >>> shift != 0) {
                    out.write(0x80 | arc >>> shift);
                }
            }
            out.write(arc & 0x7F);
        }
        return element(OBJECT_IDENTIFIER, out.toByteArray());
    }

    /** Returns content under an implicit primitive tag of the context. */
    static byte[] primitive(int tag, byte[] content) {
        return element(CONTEXT | tag, content);
    }

    /** Returns elements under a constructed tag of the context. */
    static byte[] constructed(int tag, byte[] content) {
        return element(CONTEXT | CONSTRUCTED | tag, content);
    }

    static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static byte[] element(int tag, byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(content.length + 6);
        out.write(tag);
        if (content.length < 0x80) {
            out.write(content.length);
        } else {
            byte[] length = BigInteger.valueOf(content.length).toByteArray();
            int sign = length[0] == 0 ? 1 : 0;
            out.write(0x80 | length.length - sign);
            out.write(length, sign, length.length - sign);
        }
        out.writeBytes(content);
        return out.toByteArray();
    }
}
