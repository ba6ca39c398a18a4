// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.transfer;

import io.sidewarp.engine.verbs.WrOpcode;
import io.sidewarp.ring.WorkEntryFlyweight;
import io.sidewarp.v1.WorkRingKind;
import org.jspecify.annotations.Nullable;

/** Checks the copy of an entry and converts it to a work request. Allocates nothing unless the entry is refused. */
record EntryDecoder(WorkEntryFlyweight entry) {

    /** Operations by their number in the contract; null: none has the number. */
    private static final @Nullable WrOpcode[] OPCODES = new WrOpcode[WrOpcode.values().length + 1];

    static {
        for (WrOpcode opcode : WrOpcode.values()) {
            OPCODES[CompletionProtos.opcode(opcode).getNumber()] = opcode;
        }
    }

    /**
     * Fills the work request. Returns null, or the refusal of an invalid entry. After a refusal the request has at
     * least its id and connection.
     */
    @Nullable
    Refusal decode(WorkItem item, WorkRingKind kind) {
        int flags = entry.flags();
        boolean shared = (flags & WorkEntryFlyweight.FLAG_SHARED) != 0;
        int number = entry.opcode();
        WrOpcode opcode = number < OPCODES.length ? OPCODES[number] : null;
        item.begin(opcode, shared ? 0 : entry.connection());
        item.id = entry.id();
        if (opcode == null) {
            return Refusal.invalid("opcode " + number + " is unknown; allowed: 1 to " + (OPCODES.length - 1));
        }
        boolean receive = opcode == WrOpcode.RECEIVE;
        if (receive != (kind == WorkRingKind.WORK_RING_KIND_RECEIVE)) {
            return Refusal.invalid(
                    receive
                            ? "a send ring takes no receives; write them into a receive ring"
                            : "a receive ring takes receives only; write " + opcode + " into a send ring");
        }
        Refusal refusal = checkShape(number, flags);
        if (refusal != null) {
            return refusal;
        }
        if (shared) {
            item.sharedReceives = entry.connection();
            if (item.sharedReceives == 0) {
                return Refusal.invalid("flag SHARED is set and connection is 0; name a shared receive queue");
            }
        }
        item.fence = (flags & WorkEntryFlyweight.FLAG_FENCE) != 0;
        item.localFence = (flags & WorkEntryFlyweight.FLAG_LOCAL_FENCE) != 0;
        item.unsignaled = (flags & WorkEntryFlyweight.FLAG_UNSIGNALED) != 0;
        item.solicited = (flags & WorkEntryFlyweight.FLAG_SOLICITED) != 0;
        item.withFlush = (flags & WorkEntryFlyweight.FLAG_WITH_FLUSH) != 0;
        for (int i = 0; i < entry.elements(); i++) {
            item.addSge(entry.region(i), entry.offset(i), Integer.toUnsignedLong(entry.length(i)));
        }
        fill(item, opcode, flags);
        return null;
    }

    private void fill(WorkItem item, WrOpcode opcode, int flags) {
        switch (opcode) {
            case RDMA_WRITE, RDMA_READ -> remote(item);
            case RDMA_WRITE_WITH_IMMEDIATE -> {
                remote(item);
                item.immediate = entry.operand();
            }
            case FETCH_ADD -> {
                remote(item);
                item.operand = entry.operand();
                item.operandMask = entry.operandMask();
            }
            case COMPARE_SWAP -> {
                remote(item);
                item.operand = entry.operand();
                item.operandMask = entry.operandMask();
                item.compare = entry.compare();
                item.compareMask = entry.compareMask();
            }
            case SEND -> {
                item.invalidate = (flags & WorkEntryFlyweight.FLAG_INVALIDATE) != 0;
                item.invalidateStag = entry.remoteStag();
            }
            case IMMEDIATE -> item.immediate = entry.remoteOffset();
            case LOCAL_INVALIDATE -> item.subject = entry.region(0);
            case ENABLE -> {
                item.subject = entry.region(0);
                item.key = entry.length(0);
            }
            case RECEIVE, FLUSH -> {}
        }
    }

    private void remote(WorkItem item) {
        item.remote = true;
        item.remoteStag = entry.remoteStag();
        item.remoteTaggedOffset = entry.remoteOffset();
    }

    private @Nullable Refusal checkShape(int opcode, int flags) {
        if ((flags & ~WorkEntryFlyweight.FLAGS) != 0) {
            return Refusal.invalid("flags 0x" + Integer.toHexString(flags) + " have bits that are reserved; allowed: 0x"
                    + Integer.toHexString(WorkEntryFlyweight.FLAGS));
        }
        boolean receive = opcode == WorkEntryFlyweight.OPCODE_RECEIVE;
        if ((flags & WorkEntryFlyweight.FLAG_SHARED) != 0 && !receive) {
            return Refusal.invalid("flag SHARED is for receives only");
        }
        if ((flags & WorkEntryFlyweight.FLAG_INVALIDATE) != 0 && opcode != WorkEntryFlyweight.OPCODE_SEND) {
            return Refusal.invalid("flag INVALIDATE is for Send only");
        }
        int elements = entry.elements();
        if (elements > WorkEntryFlyweight.MAX_ELEMENTS) {
            return Refusal.invalid("the entry has " + elements + " elements; at most " + WorkEntryFlyweight.MAX_ELEMENTS
                    + " are possible, split it");
        }
        boolean inline = (flags & WorkEntryFlyweight.FLAG_INLINE) != 0;
        if (inline) {
            Refusal refusal = checkInline(opcode, elements);
            if (refusal != null) {
                return refusal;
            }
        }
        boolean local = opcode == WorkEntryFlyweight.OPCODE_LOCAL_INVALIDATE
                || opcode == WorkEntryFlyweight.OPCODE_ENABLE
                || opcode == WorkEntryFlyweight.OPCODE_FLUSH
                || opcode == WorkEntryFlyweight.OPCODE_IMMEDIATE;
        if (local && elements > 0) {
            return Refusal.invalid("opcode " + opcode + " has no local elements; the entry has " + elements);
        }
        int expected = inline
                ? WorkEntryFlyweight.inlineBlocks(opcode, entry.length(0))
                : WorkEntryFlyweight.blocks(opcode, elements);
        return entry.blocks() == expected
                ? null
                : Refusal.invalid("the entry has " + entry.blocks() + " blocks; opcode " + opcode + " with "
                        + (inline ? entry.length(0) + " bytes inline" : elements + " elements") + " needs " + expected);
    }

    private @Nullable Refusal checkInline(int opcode, int elements) {
        if (opcode != WorkEntryFlyweight.OPCODE_WRITE
                && opcode != WorkEntryFlyweight.OPCODE_WRITE_WITH_IMMEDIATE
                && opcode != WorkEntryFlyweight.OPCODE_SEND) {
            return Refusal.invalid("flag INLINE is for Write, Write with Immediate and Send only");
        }
        if (elements != 0) {
            return Refusal.invalid("an entry with flag INLINE has no elements; this one has " + elements);
        }
        int length = entry.length(0);
        return length >= 0 && length <= WorkEntryFlyweight.MAX_INLINE
                ? null
                : Refusal.invalid("the entry has " + Integer.toUnsignedString(length) + " bytes inline; at most "
                        + WorkEntryFlyweight.MAX_INLINE + " are possible, use a region");
    }
}
