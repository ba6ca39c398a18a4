// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.cli.wire;

import io.sidewarp.cli.text.Printable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * Private data of a connection between two ends of this command. States the purpose of the connection before anything
 * else happens.
 *
 * <pre>
 *    0                   1                   2                   3
 *    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *   +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
 *   |                        Magic "SWCL"                           |
 *   +---------------+---------------+-------------------------------+
 *   |  Version (1)  |    Service    |          Reserved (0)         |
 *   +---------------+---------------+-------------------------------+
 *   |  Parameters of the service, or the text of a refusal ...      |
 *   +---------------------------------------------------------------+
 * </pre>
 *
 * All integers are big-endian. In a refusal the service is 0 and the text is UTF-8.
 */
public final class Hello {

    public static final int VERSION = 1;

    /** Bytes before the parameters. */
    public static final int HEADER_LENGTH = 8;

    private static final int MAGIC_OFFSET = 0;
    private static final int MAGIC = 'S' << 24 | 'W' << 16 | 'C' << 8 | 'L';
    private static final int VERSION_OFFSET = 4;
    private static final int SERVICE_OFFSET = 5;
    private static final int REFUSAL = 0;
    private static final int MAX_REFUSAL_TEXT = 200;

    private final Service service;
    private final byte[] parameters;

    public Hello(Service service, byte... parameters) {
        this.service = service;
        this.parameters = parameters.clone();
    }

    public Service service() {
        return service;
    }

    /** Returns the parameters that the service adds. */
    public ByteBuffer parameters() {
        return ByteBuffer.wrap(parameters).asReadOnlyBuffer();
    }

    /** Returns the hello as private data of a connect or accept. */
    public byte[] encode() {
        return encode(service.number(), parameters);
    }

    /** Returns the private data of a reject, with the reason. */
    public static byte[] refusal(String why) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        return encode(REFUSAL, text.length <= MAX_REFUSAL_TEXT ? text : Arrays.copyOf(text, MAX_REFUSAL_TEXT));
    }

    /** Decodes the hello in private data. Empty when the peer is another program, has another version, or refuses. */
    public static Optional<Hello> decode(byte[] privateData) {
        if (!isOurs(privateData) || privateData[VERSION_OFFSET] != VERSION) {
            return Optional.empty();
        }
        return Service.ofNumber(privateData[SERVICE_OFFSET])
                .map(service -> new Hello(service, Arrays.copyOfRange(privateData, HEADER_LENGTH, privateData.length)));
    }

    /** Decodes the reason of a refusal. Empty when the private data is not a refusal of this command. */
    public static Optional<String> decodeRefusal(byte[] privateData) {
        if (!isOurs(privateData) || privateData[SERVICE_OFFSET] != REFUSAL) {
            return Optional.empty();
        }
        String text =
                new String(privateData, HEADER_LENGTH, privateData.length - HEADER_LENGTH, StandardCharsets.UTF_8);
        return Optional.of(Printable.of(text));
    }

    private static byte[] encode(int service, byte[] rest) {
        return ByteBuffer.allocate(HEADER_LENGTH + rest.length)
                .putInt(MAGIC)
                .put((byte) VERSION)
                .put((byte) service)
                .putShort((short) 0)
                .put(rest)
                .array();
    }

    private static boolean isOurs(byte[] privateData) {
        return privateData.length >= HEADER_LENGTH
                && ByteBuffer.wrap(privateData).getInt(MAGIC_OFFSET) == MAGIC;
    }
}
