// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.net;

/** Counts the records of one TLS stream, whose number is limited in both directions. Belongs to one event loop. */
final class TlsRecordCounts {

    /**
     * Records under one key of this side, after which it takes a new key. AES-GCM permits 2^24.5 full records (RFC 8446
     * section 5.5). At 40 Gbit/s this number is reached after 27 s.
     */
    static final long REKEY_RECORDS = 1L << 23;

    /**
     * Records without data in a row at most, after the handshake. Each KeyUpdate costs a derivation of keys, and its
     * answer waits in memory.
     */
    static final int MAX_WITHOUT_DATA = 1024;

    /** Records under one key at most. Matters only when the peer has closed its side and no new key is possible. */
    private static final long MAX_RECORDS = 23_726_566L;

    private final long rekeyRecords;
    private long sent;
    private int withoutData;

    /** @param rekeyRecords number of records under one key of this side after which a new key is due */
    TlsRecordCounts(long rekeyRecords) {
        this.rekeyRecords = rekeyRecords;
    }

    void onSent() {
        sent++;
    }

    boolean isNewKeyDue() {
        return sent >= rekeyRecords;
    }

    /** Returns whether the key of this side may protect no further record. */
    boolean isKeyUsedUp() {
        return sent >= MAX_RECORDS;
    }

    void onNewKey() {
        sent = 0;
        // The peer answers each KeyUpdate, even if it never sends data.
        withoutData = 0;
    }

    /** Counts a received record. Returns whether too many in a row had no data. */
    boolean isFlood(boolean hasData) {
        withoutData = hasData ? 0 : withoutData + 1;
        return withoutData > MAX_WITHOUT_DATA;
    }
}
