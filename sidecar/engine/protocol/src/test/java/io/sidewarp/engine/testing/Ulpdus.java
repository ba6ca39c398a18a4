// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.engine.testing;

import java.nio.ByteBuffer;

/**
 * ULPDUs of a peer, valid or invalid. They are encoded by the figures of RFC 5041 and RFC 5040 without the code under
 * test.
 */
public final class Ulpdus {

    /** DDP Control of a last tagged segment, version 1. */
    public static final int TAGGED_LAST = 0xC1;
    /** DDP Control of another tagged segment. */
    public static final int TAGGED_MORE = 0x81;
    /** DDP Control of a last untagged segment. */
    public static final int UNTAGGED_LAST = 0x41;
    /** DDP Control of another untagged segment. */
    public static final int UNTAGGED_MORE = 0x01;

    private static final byte[] NOTHING = new byte[0];

    private Ulpdus() {}

    /** Any tagged segment. */
    public static byte[] tagged(int control, int ulpControl, int stag, long to, byte[] payload) {
        return ByteBuffer.allocate(14 + payload.length)
                .put((byte) control)
                .put((byte) ulpControl)
                .putInt(stag)
                .putLong(to)
                .put(payload)
                .array();
    }

    /** Any untagged segment. */
    public static byte[] untagged(int control, int ulpControl, int ulpWord, int qn, int msn, long mo, byte[] payload) {
        return ByteBuffer.allocate(18 + payload.length)
                .put((byte) control)
                .put((byte) ulpControl)
                .putInt(ulpWord)
                .putInt(qn)
                .putInt(msn)
                .putInt((int) mo)
                .put(payload)
                .array();
    }

    /** An RDMA Write of one segment. */
    public static byte[] write(int stag, long to, byte[] payload) {
        return tagged(TAGGED_LAST, 0x40, stag, to, payload);
    }

    /** A segment of an RDMA Write that others follow. */
    public static byte[] writeMore(int stag, long to, byte[] payload) {
        return tagged(TAGGED_MORE, 0x40, stag, to, payload);
    }

    /** An RDMA Read Response of one segment. */
    public static byte[] readResponse(int stag, long to, byte[] payload) {
        return tagged(TAGGED_LAST, 0x42, stag, to, payload);
    }

    /** A segment of an RDMA Read Response that others follow. */
    public static byte[] readResponseMore(int stag, long to, byte[] payload) {
        return tagged(TAGGED_MORE, 0x42, stag, to, payload);
    }

    /** A Send of one segment. */
    public static byte[] send(int msn, byte[] payload) {
        return untagged(UNTAGGED_LAST, 0x43, 0, 0, msn, 0, payload);
    }

    /** A segment of a Send that others follow. */
    public static byte[] sendMore(int msn, long mo, byte[] payload) {
        return untagged(UNTAGGED_MORE, 0x43, 0, 0, msn, mo, payload);
    }

    /** The last of several segments of a Send. */
    public static byte[] sendLast(int msn, long mo, byte[] payload) {
        return untagged(UNTAGGED_LAST, 0x43, 0, 0, msn, mo, payload);
    }

    /** A Send with Invalidate without payload. */
    public static byte[] sendInvalidate(int msn, int stag) {
        return untagged(UNTAGGED_LAST, 0x44, stag, 0, msn, 0, NOTHING);
    }

    /** RDMA Read Request header, 28 octets. */
    public static byte[] readRequestHeader(int sinkStag, long sinkTo, long size, int srcStag, long srcTo) {
        return ByteBuffer.allocate(28)
                .putInt(sinkStag)
                .putLong(sinkTo)
                .putInt((int) size)
                .putInt(srcStag)
                .putLong(srcTo)
                .array();
    }

    /** An RDMA Read Request. */
    public static byte[] readRequest(int msn, int sinkStag, long sinkTo, long size, int srcStag, long srcTo) {
        return untagged(UNTAGGED_LAST, 0x41, 0, 1, msn, 0, readRequestHeader(sinkStag, sinkTo, size, srcStag, srcTo));
    }

    /** Immediate Data. */
    public static byte[] immediate(int msn, long data) {
        return untagged(
                UNTAGGED_LAST,
                0x48,
                0,
                0,
                msn,
                0,
                ByteBuffer.allocate(8).putLong(data).array());
    }

    /** Atomic Request header, 52 octets. */
    public static byte[] atomicRequestHeader(
            int operation,
            int identifier,
            int stag,
            long to,
            long addSwap,
            long addSwapMask,
            long compare,
            long compareMask) {
        return ByteBuffer.allocate(52)
                .putInt(operation)
                .putInt(identifier)
                .putInt(stag)
                .putLong(to)
                .putLong(addSwap)
                .putLong(addSwapMask)
                .putLong(compare)
                .putLong(compareMask)
                .array();
    }

    /** An Atomic Request. */
    public static byte[] atomicRequest(int msn, byte[] header) {
        return untagged(UNTAGGED_LAST, 0x4A, 0, 1, msn, 0, header);
    }

    /** A FetchAdd of 64 bits. */
    public static byte[] fetchAdd(int msn, int identifier, int stag, long to, long add) {
        return atomicRequest(msn, atomicRequestHeader(0, identifier, stag, to, add, 0, 0, -1L));
    }

    /** An Atomic Response. */
    public static byte[] atomicResponse(int msn, int identifier, long original) {
        byte[] header =
                ByteBuffer.allocate(12).putInt(identifier).putLong(original).array();
        return untagged(UNTAGGED_LAST, 0x4B, 0, 3, msn, 0, header);
    }

    /** A Terminate with any content. */
    public static byte[] terminate(byte[] content) {
        return untagged(UNTAGGED_LAST, 0x47, 0, 2, 1, 0, content);
    }
}
