// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.client;

/**
 * A protection domain: regions and connections work together only within one domain. A session has a default domain.
 * Use further domains to separate peers that must not reach each other's regions.
 */
public interface ProtectionDomain extends AutoCloseable {

    /** Returns the sidecar's number of the domain. */
    long id();

    /**
     * Deallocates the domain.
     *
     * @throws SidewarpException FAILED_PRECONDITION while regions, connections or shared receive queues use the domain
     */
    @Override
    void close();
}
