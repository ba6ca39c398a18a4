// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.provider.kernel;

import io.sidewarp.engine.memory.ProtectionDomain;

/** A protection domain, and what the device knows it as. */
final class KernelDomain {

    private final ProtectionDomain facade;
    private final long pd;
    private final Lifetime lifetime;

    KernelDomain(ProtectionDomain facade, long pd) {
        this.facade = facade;
        this.pd = pd;
        this.lifetime = new Lifetime(this::destroy);
    }

    ProtectionDomain facade() {
        return facade;
    }

    long handle() {
        return pd;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    private void destroy() {
        int ignored = VerbsCalls.deallocPd(pd);
    }
}
