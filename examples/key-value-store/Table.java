// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

import io.sidewarp.client.SharedRegion;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.zip.CRC32;

/** The hash table of {@link Store}: its layout in memory, which all languages share, and how to find a key. */
final class Table {

    static final int SLOTS = 64;
    static final int SLOT = 16 << 10;

    // A slot begins with the version, the lengths of key and value, and a checksum of these three, the key and the
    // value. The version of a free slot is 0.
    private static final int CHECKSUM = 16;
    private static final int BODY = 20;

    /** Content of a slot. */
    record Entry(int place, long version, String key, String value) {}

    /** Loads a slot. The server loads from its own memory, and a client from the memory of the server. */
    interface Loader {
        Entry load(int place);
    }

    private Table() {}

    /** Returns the content of a slot, or nothing if the slot was read while the server changed it. */
    static Optional<Entry> decode(int place, ByteBuffer memory) {
        // The memory may change at any time, so check and use one copy.
        byte[] copy = new byte[SLOT];
        memory.get(copy);
        ByteBuffer slot = ByteBuffer.wrap(copy);
        long version = slot.getLong();
        int keyLength = slot.getInt();
        int valueLength = slot.getInt();
        if (version == 0) {
            return Optional.of(new Entry(place, 0, "", ""));
        }
        boolean fits = keyLength >= 0 && valueLength >= 0 && (long) keyLength + valueLength <= SLOT - BODY;
        if (!fits || slot.getInt(CHECKSUM) != checksum(copy, keyLength + valueLength)) {
            return Optional.empty();
        }
        String key = new String(copy, BODY, keyLength, StandardCharsets.UTF_8);
        String value = new String(copy, BODY + keyLength, valueLength, StandardCharsets.UTF_8);
        return Optional.of(new Entry(place, version, key, value));
    }

    /** Returns the entry of a key, or the free slot for it. */
    static Entry lookUp(Loader loader, String key) {
        byte[] octets = key.getBytes(StandardCharsets.UTF_8);
        CRC32 hash = new CRC32();
        hash.update(octets);
        for (int probe = 0; probe < SLOTS; probe++) {
            Entry entry = loader.load((int) ((hash.getValue() + probe) % SLOTS) * SLOT);
            if (entry.version() == 0 || entry.key().equals(key)) {
                return entry;
            }
        }
        throw new IllegalArgumentException("the table is full");
    }

    /** Stores the value {@code valueOf(version)}. */
    static void put(SharedRegion table, String key, LongFunction<String> valueOf, int pauseMillis)
            throws InterruptedException {
        Entry old = lookUp(place -> decode(place, table.buffer(place, SLOT)).orElseThrow(), key);
        byte[] keyOctets = key.getBytes(StandardCharsets.UTF_8);
        byte[] value = valueOf.apply(old.version() + 1).getBytes(StandardCharsets.UTF_8);
        byte[] slot = new byte[BODY + keyOctets.length + value.length];
        ByteBuffer buffer = ByteBuffer.wrap(slot)
                .putLong(old.version() + 1)
                .putInt(keyOctets.length)
                .putInt(value.length);
        buffer.position(BODY).put(keyOctets).put(value);
        buffer.putInt(CHECKSUM, checksum(slot, slot.length - BODY));
        table.buffer(old.place(), SLOT).put(BODY, slot, BODY, slot.length - BODY);
        Thread.sleep(pauseMillis);
        table.buffer(old.place(), SLOT).put(0, slot, 0, BODY);
    }

    private static int checksum(byte[] slot, int bodyLength) {
        CRC32 crc = new CRC32();
        crc.update(slot, 0, CHECKSUM);
        crc.update(slot, BODY, bodyLength);
        return (int) crc.getValue();
    }
}
