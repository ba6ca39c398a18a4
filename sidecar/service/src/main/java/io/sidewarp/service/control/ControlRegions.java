// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.service.control;

import io.grpc.Status;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.sidewarp.engine.linux.LinuxErrno;
import io.sidewarp.engine.linux.PassedDescriptor;
import io.sidewarp.engine.memory.Pd;
import io.sidewarp.engine.memory.ProcessMemory;
import io.sidewarp.ring.ControlRecord.RegionFields;
import io.sidewarp.service.error.ApiError;
import io.sidewarp.service.memory.RegionPlan;
import io.sidewarp.service.session.SidecarSession;
import io.sidewarp.v1.Access;
import io.sidewarp.v1.Region;
import io.sidewarp.v1.RegisterRegionRequest;
import io.sidewarp.v1.SharedBacking;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Registers memory for a control socket. Confined to the session's thread. */
final class ControlRegions {

    private static final Access[] ACCESS = {
        Access.ACCESS_LOCAL_WRITE,
        Access.ACCESS_REMOTE_READ,
        Access.ACCESS_REMOTE_WRITE,
        Access.ACCESS_REMOTE_INVALIDATE,
        Access.ACCESS_REMOTE_ATOMIC
    };

    private static final String SOFTWARE = "software";
    private static final long DESCRIPTOR_SECONDS = 10;
    /** Time in ms between two looks for a descriptor. */
    private static final long LOOK_MILLIS = 1;

    private final ControlHandler handler;
    private final SidecarSession session;

    ControlRegions(ControlHandler handler, SidecarSession session) {
        this.handler = handler;
        this.session = session;
    }

    /** Returns whether this sidecar takes memory of its clients' processes. */
    boolean takesProcessMemory() {
        return handler.channel() instanceof EpollDomainSocketChannel
                && session.context().device().attributes().provider().equals(SOFTWARE);
    }

    /** Answers MEMORY, and waits for the descriptor. */
    void awaitDescriptor(long value) {
        if (!takesProcessMemory()) {
            throw ApiError.of(
                    Status.Code.UNIMPLEMENTED,
                    "this sidecar takes no memory of processes (capabilities of OPEN's answer); register files of the"
                            + " shared volume");
        }
        if (session.memory().process() != null) {
            throw ApiError.state("the session has the memory of a process already; open another session");
        }
        handler.send(ControlAnswers.done(value));
        handler.awaitDescriptor(true);
        awaitDescriptor(value, System.nanoTime() + TimeUnit.SECONDS.toNanos(DESCRIPTOR_SECONDS));
    }

    /**
     * Looks for the descriptor until it comes. Receives the byte without Netty, which would lose a second descriptor of a
     * message. Netty also mistakes a byte without a descriptor for an error.
     */
    private void awaitDescriptor(long value, long deadline) {
        if (handler.isEnded() || !(handler.channel() instanceof EpollDomainSocketChannel channel)) {
            return;
        }
        PassedDescriptor passed = PassedDescriptor.receive(channel.fd().intValue());
        if (passed.octets() == -LinuxErrno.EAGAIN) {
            if (System.nanoTime() - deadline < 0) {
                channel.eventLoop()
                        .schedule(() -> awaitDescriptor(value, deadline), LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } else {
                handler.refuse(
                        Status.Code.DEADLINE_EXCEEDED,
                        "no byte with a descriptor came for " + DESCRIPTOR_SECONDS
                                + " s after MEMORY; send it at once");
            }
            return;
        }
        handler.awaitDescriptor(false);
        // At the end of the stream the socket closes by itself.
        if (passed.octets() > 0) {
            handler.answer(
                    Request.MEMORY,
                    value,
                    session.context().name(),
                    CompletableFuture.completedFuture(passed)
                            .thenApply(this::take)
                            .thenApply(ignored -> ControlAnswers.done(value)));
        }
    }

    private ProcessMemory take(PassedDescriptor passed) {
        if (passed.more()) {
            passed.close();
            throw ApiError.invalid("the byte behind MEMORY came with more than one descriptor, or with one that the"
                    + " kernel does not pass on; pass one of /proc/self/mem, and see the limit of open files");
        }
        if (passed.descriptor() < 0) {
            throw ApiError.invalid(
                    "the byte behind MEMORY came without a descriptor; pass one of /proc/self/mem with SCM_RIGHTS");
        }
        ProcessMemory memory = ProcessMemory.takeOver(passed.descriptor());
        session.memory().use(memory);
        return memory;
    }

    /** Registers memory. */
    CompletableFuture<Region> register(RecordReader record) {
        String path = record.getString("path", RegionFields.PATH_OFFSET, RegionFields.PATH_LENGTH);
        long start = record.getLong(RegionFields.START_OFFSET);
        long length = record.getLong(RegionFields.LENGTH_OFFSET);
        int backing = record.getInt(RegionFields.BACKING_OFFSET);
        RegisterRegionRequest.Builder request = request(record);
        Pd domain = session.memory().domain(request.getProtectionDomain());
        long queuePair = session.connections().queuePair(request.getConnection(), domain);
        RegionPlan plan = switch (backing) {
            case RegionFields.BACKING_PROCESS ->
                RegionPlan.of(
                        request.build(), domain, queuePair, new RegionPlan.OfProcess(process(path), start, length));
            case RegionFields.BACKING_FILE ->
                RegionPlan.of(
                        request.setShared(SharedBacking.newBuilder()
                                        .setPath(path)
                                        .setOffset(start)
                                        .setLength(length))
                                .build(),
                        domain,
                        queuePair,
                        session.context());
            default -> throw ApiError.invalid("backing", Integer.toUnsignedString(backing), "1 or 2");
        };
        return session.memory()
                .register(plan, () -> !handler.isEnded())
                .thenApply(region -> region.toProto(session.context().name()));
    }

    private ProcessMemory process(String path) {
        if (!path.isEmpty()) {
            throw ApiError.invalid("path is \"" + path + "\", but backing 1 has none; leave path empty");
        }
        ProcessMemory memory = session.memory().process();
        if (memory == null) {
            throw ApiError.state("backing is 1, but the session has no memory of a process; send MEMORY first");
        }
        return memory;
    }

    private static RegisterRegionRequest.Builder request(RecordReader record) {
        RegisterRegionRequest.Builder request = RegisterRegionRequest.newBuilder()
                .setProtectionDomain(record.getLong(RegionFields.DOMAIN_OFFSET))
                .setBaseTaggedOffset(record.getLong(RegionFields.BASE_OFFSET))
                .setConnection(record.getLong(RegionFields.CONNECTION_OFFSET));
        int access = record.getInt(RegionFields.ACCESS_OFFSET);
        if (access >>> ACCESS.length != 0) {
            throw ApiError.invalid(
                    "access", Integer.toUnsignedString(access), "a sum of 1, 2, 4, 8 and 16, each at most once");
        }
        for (int bit = 0; bit < ACCESS.length; bit++) {
            if ((access & 1 << bit) != 0) {
                request.addAccess(ACCESS[bit]);
            }
        }
        return request;
    }
}
