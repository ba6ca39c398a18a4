// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

import io.sidewarp.v1.AllocateProtectionDomainRequest;
import io.sidewarp.v1.DeallocateProtectionDomainRequest;
import io.sidewarp.v1.MemoryServiceGrpc;

/** A protection domain of a session. */
record GrpcProtectionDomain(GrpcSession session, long id) implements ProtectionDomain {

    /** Allocates a domain, and waits for it. */
    static GrpcProtectionDomain allocate(GrpcSession session) {
        return Creation.create(
                session,
                MemoryServiceGrpc.getAllocateProtectionDomainMethod(),
                AllocateProtectionDomainRequest.newBuilder()
                        .setSession(session.id())
                        .build(),
                "allocate a protection domain",
                response -> new GrpcProtectionDomain(session, response.getProtectionDomain()),
                GrpcProtectionDomain::abandon);
    }

    @Override
    public void close() {
        if (session.isEnded()) {
            return;
        }
        CallFuture.release(session.start(
                MemoryServiceGrpc.getDeallocateProtectionDomainMethod(), deallocation(), session.timeLimited()));
    }

    private void abandon() {
        Creation.undo(session, MemoryServiceGrpc.getDeallocateProtectionDomainMethod(), deallocation());
    }

    private DeallocateProtectionDomainRequest deallocation() {
        return DeallocateProtectionDomainRequest.newBuilder()
                .setSession(session.id())
                .setProtectionDomain(id)
                .build();
    }
}
