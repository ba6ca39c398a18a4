// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import static io.sidewarp.provider.kernel.Native.INT;
import static io.sidewarp.provider.kernel.Native.LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Asynchronous events of a device: completions and errors. */
final class DeviceEvents {

    private final KernelDevice device;
    private final long context;
    private final long channel;

    DeviceEvents(KernelDevice device, long context) {
        this.device = device;
        this.context = context;
        this.channel = VerbsCalls.createCompChannel(context);
        KernelErrors.check("cannot create a channel for completions", channel);
    }

    /** Returns the channel on which completion queues notify. */
    long channel() {
        return channel;
    }

    VerbsLoop.Source completions() {
        return new VerbsLoop.Source(Native.getInt(channel + VerbsLayout.COMP_CHANNEL_FD), this::onCompletions);
    }

    private void onCompletions() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(LONG, 2);
            while (VerbsCalls.getCqEvent(channel, event) == 0) {
                VerbsCalls.ackCqEvents(event.getAtIndex(LONG, 0), 1);
                device.onCompletions(event.getAtIndex(LONG, 1));
            }
        }
    }

    VerbsLoop.Source errors() {
        return new VerbsLoop.Source(Native.getInt(context + VerbsLayout.CONTEXT_ASYNC_FD), this::onErrors);
    }

    private void onErrors() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(VerbsLayout.ASYNC_EVENT_LENGTH, Long.BYTES);
            while (VerbsCalls.getAsyncEvent(context, event) == 0) {
                long element = event.get(LONG, VerbsLayout.ASYNC_ELEMENT);
                int type = event.get(INT, VerbsLayout.ASYNC_TYPE);
                VerbsCalls.ackAsyncEvent(event);
                onEvent(element, type);
            }
        }
    }

    private void onEvent(long element, int type) {
        switch (type) {
            case VerbsLayout.EVENT_CQ_ERR -> device.onCompletionQueueError(element);
            case VerbsLayout.EVENT_QP_FATAL -> device.onQueuePairError(element, "the stream failed");
            case VerbsLayout.EVENT_QP_REQ_ERR ->
                device.onQueuePairError(element, "the peer, or this side, made an invalid request");
            case VerbsLayout.EVENT_QP_ACCESS_ERR ->
                device.onQueuePairError(element, "the peer accessed memory without permission");
            case VerbsLayout.EVENT_SRQ_LIMIT_REACHED -> device.onSharedReceiveLimit(element);
            case VerbsLayout.EVENT_DEVICE_FATAL -> device.onDeviceError();
            default -> {}
        }
    }

    void close() {
        int ignored = VerbsCalls.destroyCompChannel(channel);
    }
}
